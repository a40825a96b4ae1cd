/* Whether two specs of admins are the same: specs.h. A row of specs.def becomes a condition of
 * x_same(). */
#include <string.h>

#include "base/uid.h"
#include "queue/job/placement.h"
#include "queue/job/resources.h"
#include "queue/job/specs.h"

#define STRUCT(tag)                                                                                \
	bool tag##_same(const struct tag *a, const struct tag *b);                                 \
	bool tag##_all_same(const struct tag *a, size_t na, const struct tag *b, size_t nb);       \
	bool tag##_all_same(const struct tag *a, size_t na, const struct tag *b, size_t nb)        \
	{                                                                                          \
		bool same = na == nb;                                                              \
		for (size_t i = 0; same && i < na; i++)                                            \
			same = tag##_same(&a[i], &b[i]);                                           \
		return same;                                                                       \
	}                                                                                          \
	bool tag##_same(const struct tag *a, const struct tag *b)                                  \
	{                                                                                          \
		return true
#define END(tag)                                                                                   \
	;                                                                                          \
	}
#define VALUE(x) &&a->x == b->x
#define UID(x) &&uid_cmp(&a->x, &b->x) == 0
#define ENUM(x, last) &&a->x == b->x
#define ENUMS(x, last) &&memcmp(a->x, b->x, sizeof(a->x)) == 0
#define TEXT(x) &&strcmp(a->x, b->x) == 0
#define MAYBE(x) &&maybe_same(a->x, b->x)
#define TEXTS(x, n) &&names_same(a->x, a->n, b->x, b->n)
#define PART(x, tag) &&tag##_same(&a->x, &b->x)
#define LIST(x, n, tag) &&tag##_all_same(a->x, a->n, b->x, b->n)
#define ZONE(x) /* as its name is */

static bool maybe_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

#include "sluice/fields/plain.h"
#include "sluice/specs.def"
