/* Copies of what admins describe: specs.h. A row of specs.def becomes a line of x_copy(). */
#include "queue/job/placement.h"
#include "queue/job/resources.h"
#include "queue/job/specs.h"

#define STRUCT(tag)                                                                                \
	struct tag tag##_copy(struct arena *a, const struct tag *from);                            \
	const struct tag *tag##_copies(struct arena *a, const struct tag *from, size_t n);         \
	const struct tag *tag##_copies(struct arena *a, const struct tag *from, size_t n)          \
	{                                                                                          \
		struct tag *to = arena_take(a, n, sizeof(*to));                                    \
		for (size_t i = 0; i < n; i++)                                                     \
			to[i] = tag##_copy(a, &from[i]);                                           \
		return to;                                                                         \
	}                                                                                          \
	struct tag tag##_copy(struct arena *a, const struct tag *from)                             \
	{                                                                                          \
		struct tag to = *from;                                                             \
		(void)a;
#define END(tag)                                                                                   \
	return to;                                                                                 \
	}
#define VALUE(m)
#define UID(m)
#define ENUM(m, last)
#define ENUMS(m, last)
#define TEXT(m) to.m = arena_string(a, from->m);
#define MAYBE(m) to.m = from->m ? arena_string(a, from->m) : NULL;
#define TEXTS(m, n) to.m = from->n > 0 ? names_copy(a, from->m, from->n) : NULL;
#define PART(m, tag) to.m = tag##_copy(a, &from->m);
#define LIST(m, n, tag) to.m = from->n > 0 ? tag##_copies(a, from->m, from->n) : NULL;
#define ZONE(m) to.m = NULL;
#include "sluice/fields/plain.h"
#include "sluice/specs.def"
