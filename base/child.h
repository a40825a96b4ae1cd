/*
 * A child: a copy of this process, made by fork(), that works on what was in memory at that instant
 * while we go on. What any such child owes to us before it begins:
 *
 *   - it has one file beside stdin, stdout and stderr: its end of a pipe or socket, CHILD_FD. So it keeps
 *     no connection of ours open: when we die, the API server, Postgres and our clients see it at once
 *   - it ends when we do
 *   - the handlers of our loop do not run in it, and it leaves no copy of our memory behind (no core)
 *   - it yields the processor to us, and is the first to go when memory runs out
 *
 * It ends by _exit(): what is in atexit() and in buffers of stdio is ours.
 */
#ifndef SLUICE_BASE_CHILD_H
#define SLUICE_BASE_CHILD_H

#include <sys/types.h>

enum { CHILD_FD = 3 };

/* As fork(). In the child all signals wait, until child_begin(). */
pid_t child_fork(void);
/* The first call in the child. fd is its end, under whatever number; name is what ps shows, up to 15
 * characters. */
void child_begin(pid_t parent, int fd, const char *name);

#endif
