/*
 * Lets user-mode Linux before 6.13 run on cpus whose registers are larger than it knows (AMX): it
 * has room for 2,696 bytes of them, and kernels take all of them or nothing. Preloaded into it
 * (LD_PRELOAD), this stands before ptrace() and adds the rest, which no program in there uses.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

enum { XSTATE = 0x202 }; /* NT_X86_XSTATE */

typedef long ptrace_fn(int request, pid_t pid, void *addr, void *data);

__attribute__((visibility("default"))) long ptrace(enum __ptrace_request request, ...);

static size_t lesser(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Reads all registers, and gives as many of them as are wanted. */
static long get(ptrace_fn *real, pid_t pid, void *addr, struct iovec *wanted)
{
	static char all[64 << 10];
	struct iovec iov = {all, sizeof(all)};
	long rc = real(PTRACE_GETREGSET, pid, addr, &iov);
	if (rc != 0)
		return rc;
	wanted->iov_len = lesser(wanted->iov_len, iov.iov_len);
	memcpy(wanted->iov_base, all, wanted->iov_len);
	return 0;
}

/* Writes the registers that are given over those that are there. */
static long set(ptrace_fn *real, pid_t pid, void *addr, const struct iovec *given)
{
	static char all[64 << 10];
	struct iovec iov = {all, sizeof(all)};
	long rc = real(PTRACE_GETREGSET, pid, addr, &iov);
	if (rc != 0)
		return rc;
	memcpy(all, given->iov_base, lesser(given->iov_len, iov.iov_len));
	return real(PTRACE_SETREGSET, pid, addr, &iov);
}

long ptrace(enum __ptrace_request request, ...)
{
	static ptrace_fn *real;
	va_list ap;
	va_start(ap, request);
	pid_t pid = va_arg(ap, pid_t);
	void *addr = va_arg(ap, void *), *data = va_arg(ap, void *);
	va_end(ap);
	if (!real)
		real = (ptrace_fn *)dlsym(RTLD_NEXT, "ptrace");
	if (request == PTRACE_GETREGSET && (long)addr == XSTATE)
		return get(real, pid, addr, data);
	if (request == PTRACE_SETREGSET && (long)addr == XSTATE)
		return set(real, pid, addr, data);
	return real((int)request, pid, addr, data);
}
