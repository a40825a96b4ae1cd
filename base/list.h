/*
 * A doubly linked ring, embedded in its members. The head is a link that is in no member. A member
 * that stands in no ring has next == NULL, so that leaving twice is harmless.
 */
#ifndef SLUICE_BASE_LIST_H
#define SLUICE_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct link {
	struct link *prev, *next;
};

#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))
#define container_of_const(ptr, type, member)                                                      \
	((const type *)(const void *)((const char *)(ptr)-offsetof(type, member)))

static inline void list_init(struct link *head)
{
	head->prev = head->next = head;
}

static inline bool list_empty(const struct link *head)
{
	return head->next == head;
}

static inline bool list_in(const struct link *l)
{
	return l->next != NULL;
}

static inline size_t list_count(const struct link *head)
{
	size_t n = 0;
	for (const struct link *l = head->next; l != head; l = l->next)
		n++;
	return n;
}

static inline void list_add(struct link *head, struct link *l) /* at the end */
{
	l->prev = head->prev;
	l->next = head;
	head->prev->next = l;
	head->prev = l;
}

static inline void list_leave(struct link *l)
{
	if (!l->next)
		return;
	l->prev->next = l->next;
	l->next->prev = l->prev;
	l->prev = l->next = NULL;
}

/* Goes over the links of a ring, in order. No link may leave inside. */
#define list_each(head, l) for (struct link * (l) = (head)->next; (l) != (head); (l) = (l)->next)

/* Gives the struct whose link, at that offset in it, is l; NULL for the head. */
static inline void *list_entry(const struct link *head, struct link *l, size_t offset)
{
	return l == head ? NULL : (char *)l - offset;
}

/*
 * Goes over the structs of a ring, in order: `type *name`, whose link is its field `member`. The
 * type may be const. No struct may leave inside.
 */
#define list_each_entry(head, type, name, member)                                                  \
	for (type *name = list_entry((head), (head)->next, offsetof(type, member)); name;          \
		(name) = list_entry((head), (name)->member.next, offsetof(type, member)))

/* Goes over them likewise. The struct at hand may leave inside, and be freed; no other. */
#define list_each_entry_safe(head, type, name, member)                                             \
	for (type *name = list_entry((head), (head)->next, offsetof(type, member)), *name##_next;  \
		name && ((name##_next = list_entry((head), (name)->member.next,                    \
				  offsetof(type, member))),                                        \
				true);                                                             \
		(name) = name##_next)

#endif
