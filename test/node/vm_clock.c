/*
 * What the tests in a machine of its own (vm.sh, latency.sh) run beside the agent. Linked statically: its first
 * files are busybox and this.
 *
 *     vm_clock spin                         uses all cpu that it gets
 *     vm_clock wake SECONDS                 wakes each 10 ms and works 1 ms; says how late it woke: p50, p99, ms
 *     vm_clock undone SECONDS [FILE VALUE ...]   says each time that a file had another first line, and for how long
 *     vm_clock writes PROGRAM               says each file of cgroups that a process of this program writes
 */
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <time.h>
#include <unistd.h>

enum { WAKE_NS = 10000000, WORK_NS = 1000000, FILES_MAX = 32 };

static int64_t now_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static _Noreturn void spin(void)
{
	for (volatile unsigned long i = 0;; i++)
		;
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static void work(void)
{
	int64_t began = now_ns(CLOCK_THREAD_CPUTIME_ID);
	while (now_ns(CLOCK_THREAD_CPUTIME_ID) - began < WORK_NS)
		;
}

static int wake(int seconds)
{
	int n = seconds * 100;
	int64_t *late = calloc((size_t)n, sizeof(*late)), due = now_ns(CLOCK_MONOTONIC) + WAKE_NS;
	for (int i = 0; i < n; i++) {
		struct timespec t = {due / 1000000000, due % 1000000000};
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		late[i] = now_ns(CLOCK_MONOTONIC) - due;
		work();
		due += WAKE_NS;
		int64_t now = now_ns(CLOCK_MONOTONIC);
		if (due < now)
			due = now + WORK_NS;
	}
	qsort(late, (size_t)n, sizeof(*late), by_size);
	printf("p50 %.2f p99 %.2f ms\n", (double)late[n / 2] / 1e6,
		(double)late[n * 99 / 100] / 1e6);
	free(late);
	return 0;
}

struct watched {
	const char *path, *value;
	int fd;
	int64_t off_ns; /* since when it says something else; 0: it does not */
};

/* Whether the first line of a file is its value. */
static bool is_on(const struct watched *w)
{
	char line[64];
	size_t len = strlen(w->value);
	ssize_t n = pread(w->fd, line, sizeof(line), 0);
	return n > (ssize_t)len && memcmp(line, w->value, len) == 0 && line[len] == '\n';
}

static void look(struct watched *w)
{
	bool on = is_on(w);
	int64_t now = now_ns(CLOCK_MONOTONIC);
	if (on && w->off_ns > 0) {
		printf("%s %.3f\n", w->path, (double)(now - w->off_ns) / 1e6);
		fflush(stdout);
	}
	w->off_ns = on ? 0 : w->off_ns > 0 ? w->off_ns : now;
}

static int undone(int seconds, char **args)
{
	struct watched files[FILES_MAX];
	size_t n = 0;
	for (; n < FILES_MAX && args[2 * n] && args[2 * n + 1]; n++) {
		files[n] = (struct watched){.path = args[2 * n], .value = args[2 * n + 1]};
		files[n].fd = open(files[n].path, O_RDONLY);
		if (files[n].fd < 0) {
			perror(files[n].path);
			return 1;
		}
	}
	for (int64_t end = now_ns(CLOCK_MONOTONIC) + seconds * INT64_C(1000000000);
		now_ns(CLOCK_MONOTONIC) < end; sched_yield())
		for (size_t i = 0; i < n; i++)
			look(&files[i]);
	for (size_t i = 0; i < n; i++)
		if (files[i].off_ns > 0)
			printf("%s stays\n", files[i].path);
	return 0;
}

static void say_write(const struct fanotify_event_metadata *e, const char *program)
{
	char link[64], exe[256] = "", path[512] = "";
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)e->pid);
	if (readlink(link, exe, sizeof(exe) - 1) > 0 && !strstr(exe, program))
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", e->fd);
	if (readlink(link, path, sizeof(path) - 1) > 0 && exe[0]) {
		puts(path);
		fflush(stdout);
	}
}

static int writes(const char *program)
{
	int fd = fanotify_init(FAN_CLASS_NOTIF | FAN_UNLIMITED_QUEUE, O_RDONLY);
	if (fd < 0 || fanotify_mark(fd, FAN_MARK_ADD | FAN_MARK_FILESYSTEM, FAN_MODIFY, AT_FDCWD,
			      "/sys/fs/cgroup") != 0) {
		perror("fanotify");
		return 1;
	}
	char bytes[16384] __attribute__((aligned(8)));
	for (ssize_t len; (len = read(fd, bytes, sizeof(bytes))) > 0;)
		for (const struct fanotify_event_metadata *e = (const void *)bytes;
			FAN_EVENT_OK(e, len); e = FAN_EVENT_NEXT(e, len)) {
			say_write(e, program);
			close(e->fd);
		}
	return 1;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "spin") == 0)
		spin();
	if (argc == 3 && strcmp(argv[1], "wake") == 0)
		return wake(atoi(argv[2]));
	if (argc >= 5 && strcmp(argv[1], "undone") == 0)
		return undone(atoi(argv[2]), argv + 3);
	if (argc == 3 && strcmp(argv[1], "writes") == 0)
		return writes(argv[2]);
	fprintf(stderr,
		"vm_clock spin | wake SECONDS | undone SECONDS FILE VALUE ... | writes PROGRAM\n");
	return 2;
}
