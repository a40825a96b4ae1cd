#include "fake_tree.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

ssize_t __real_pwrite(int fd, const void *bytes, size_t n, off_t at);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t at);

static struct fake_tree *judge;

/* Gives a text that lives for a while. */
static char *keep(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static char *keep(const char *fmt, ...)
{
	static char texts[32][512];
	static size_t next;
	char *text = texts[next++ % ROWS(texts)];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(texts[0]), fmt, ap);
	va_end(ap);
	return text;
}

void fake_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	if (!f)
		fail_msg("%s: %s", path, strerror(errno));
	fputs(text, f);
	fclose(f);
}

static void make_dirs(const char *path)
{
	char part[512];
	for (size_t i = 1; path[i - 1]; i++)
		if (path[i] == '/' || path[i] == '\0') {
			memcpy(part, path, i);
			part[i] = '\0';
			mkdir(part, 0755);
		}
}

/* ---- names ----------------------------------------------------------------------------------- */

static const char *const v1_names[][2] = {
	{"cpu.max", "cpu.cfs_quota_us"},
	{"cpu.weight", "cpu.shares"},
	{"memory.max", "memory.limit_in_bytes"},
	{"memory.current", "memory.usage_in_bytes"},
};

static const char *name_of(const struct fake_tree *t, const char *file)
{
	for (size_t i = 0; t->version == CGROUP_V1 && i < ROWS(v1_names); i++)
		if (strcmp(v1_names[i][0], file) == 0)
			return v1_names[i][1];
	return file;
}

static const char *hierarchy(const struct fake_tree *t, const char *file)
{
	if (t->version == CGROUP_V2)
		return "";
	if (strncmp(file, "memory.", 7) == 0)
		return "/memory";
	return strncmp(file, "cpuacct.", 8) == 0 ? "/cpuacct" : "/cpu";
}

const char *fake_tier(const struct fake_tree *t, const char *file)
{
	const char *prefix = strrchr(t->above, '/');
	prefix = prefix ? prefix + 1 : t->above;
	if (t->systemd)
		return keep("%s%s/%skubepods.slice/%skubepods-besteffort.slice", t->root,
			hierarchy(t, file), t->above, prefix);
	return keep("%s%s/%skubepods/besteffort", t->root, hierarchy(t, file), t->above);
}

const char *fake_pod_name(const struct fake_tree *t, const char *uid)
{
	if (!t->systemd)
		return keep("pod%s", uid);
	char *name = keep("kubepods-besteffort-pod%s.slice", uid);
	for (char *c = strstr(name, "-pod") + 1; *c; c++)
		*c = *c == '-' ? '_' : *c;
	return name;
}

const char *fake_pod(const struct fake_tree *t, const char *uid, const char *file)
{
	return keep("%s/%s", fake_tier(t, file), fake_pod_name(t, uid));
}

/* Gives the path of a cgroup: "" the tier, "uid" a pod, "uid/name" a container. */
static const char *cgroup(const struct fake_tree *t, const char *which, const char *file)
{
	const char *slash = strchr(which, '/');
	if (*which == '\0')
		return fake_tier(t, file);
	if (!slash)
		return fake_pod(t, which, file);
	return keep(
		"%s/%s", fake_pod(t, keep("%.*s", (int)(slash - which), which), file), slash + 1);
}

/* ---- making ---------------------------------------------------------------------------------- */

static const char *const v2_files[][2] = {
	{"cpu.max", "max 100000\n"},
	{"cpu.weight", "1\n"},
	{"cpu.idle", "0\n"},
	{"memory.max", "max\n"},
	{"memory.high", "max\n"},
	{"memory.current", "0\n"},
	{"memory.stat", "anon 0\ninactive_file 0\n"},
	{"cpu.stat", "usage_usec 0\nnr_throttled 0\nthrottled_usec 0\n"},
	{"cgroup.procs", ""},
	{"cgroup.kill", ""},
	{"cgroup.events", "populated 1\nfrozen 0\n"},
	{"cgroup.controllers", "cpuset cpu io memory pids\n"},
};
static const char *const v1_files[][2] = {
	{"cpu.cfs_quota_us", "-1\n"},
	{"cpu.cfs_period_us", "100000\n"},
	{"cpu.shares", "2\n"},
	{"cpu.idle", "0\n"},
	{"cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n"},
	{"cpuacct.usage", "0\n"},
	{"memory.limit_in_bytes", "9223372036854771712\n"},
	{"memory.usage_in_bytes", "0\n"},
	{"memory.stat", "cache 0\ntotal_inactive_file 0\n"},
	{"cgroup.procs", ""},
	{"cpuacct.stat", ""},
	{"memory.failcnt", "0\n"},
};

/* Makes all files of a cgroup as a kernel does. */
static void make_cgroup(const struct fake_tree *t, const char *which)
{
	char own[256];
	snprintf(own, sizeof(own), "%s", which);
	const char *const(*files)[2] = t->version == CGROUP_V2 ? v2_files : v1_files;
	for (size_t i = 0; i < ROWS(v2_files); i++) {
		make_dirs(cgroup(t, own, files[i][0]));
		fake_file(keep("%s/%s", cgroup(t, own, files[i][0]), files[i][0]), files[i][1]);
	}
}

void fake_tree_make(struct fake_tree *t)
{
	const char *use = t->version == CGROUP_V2 ? "cpu.stat" : "cpuacct.usage";
	strcpy(t->root, "/tmp/sluice-agent-XXXXXX");
	assert_non_null(mkdtemp(t->root));
	if (!t->above)
		t->above = "";
	if (t->version == CGROUP_V2)
		fake_file(keep("%s/cgroup.controllers", t->root), "cpu memory\n");
	make_cgroup(t, "");
	/* What all pods use stands one above. */
	fake_file(keep("%s/../%s", fake_tier(t, use), use),
		t->version == CGROUP_V2 ? "usage_usec 0\n" : "0\n");
	judge = t;
}

void fake_tree_remove(struct fake_tree *t)
{
	judge = NULL;
	assert_int_equal(system(keep("rm -rf '%s'", t->root)), 0);
}

void fake_pod_make(const struct fake_tree *t, const char *uid)
{
	make_cgroup(t, uid);
}

void fake_container_make(const struct fake_tree *t, const char *uid, const char *name)
{
	make_cgroup(t, keep("%s/%s", uid, name));
}

void fake_pod_remove(const struct fake_tree *t, const char *uid)
{
	static const char *const files[] = {"cpu.max", "cpuacct.usage", "memory.max"};
	for (size_t i = 0; i < ROWS(files); i++)
		assert_int_equal(system(keep("rm -rf '%s'", fake_pod(t, uid, files[i]))), 0);
}

/* ---- values ---------------------------------------------------------------------------------- */

void fake_put(const struct fake_tree *t, const char *which, const char *file, const char *value)
{
	file = name_of(t, file);
	fake_file(keep("%s/%s", cgroup(t, which, file), file), keep("%s\n", value));
}

const char *fake_get(const struct fake_tree *t, const char *which, const char *file)
{
	char text[256] = "";
	file = name_of(t, file);
	FILE *f = fopen(keep("%s/%s", cgroup(t, which, file), file), "r");
	if (!f)
		return "(absent)";
	size_t n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return keep("%s", text);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* Reads a number; -1: there is none, or "max". */
static int64_t number_in(const char *dir, const char *file)
{
	long long value = -1;
	FILE *f = fopen(keep("%s/%s", dir, file), "r");
	if (!f)
		return -1;
	if (fscanf(f, "%lld", &value) != 1)
		value = -1;
	fclose(f);
	return value;
}

/* Tells whether a quota would be above the parent's, or below one of a child's. */
static bool quota_is_refused(const char *dir, int64_t quota)
{
	int64_t parent = number_in(keep("%s/..", dir), "cpu.cfs_quota_us"), most = -1;
	DIR *d = opendir(dir);
	assert_non_null(d);
	for (const struct dirent *e; (e = readdir(d));)
		if (e->d_name[0] != '.') {
			int64_t child =
				number_in(keep("%s/%s", dir, e->d_name), "cpu.cfs_quota_us");
			most = child > most ? child : most;
		}
	closedir(d);
	return quota >= 0 && ((parent >= 0 && quota > parent) || quota < most);
}

static int refusal_of(const char *path, const char *text)
{
	const char *file = strrchr(path, '/'), *dir = keep("%.*s", (int)(file - path), path);
	int64_t value = strncmp(text, "max", 3) == 0 ? -1 : strtoll(text, NULL, 10);
	if (judge->refuses && strstr(path, judge->refuses))
		return judge->refusal;
	if (strcmp(file, "/cpu.cfs_quota_us") == 0)
		return (value >= 0 && value < 1000) || quota_is_refused(dir, value) ? EINVAL : 0;
	if (strcmp(file, "/memory.limit_in_bytes") == 0)
		return value >= 0 && value < number_in(dir, "memory.usage_in_bytes") ? EBUSY : 0;
	if (strcmp(file, "/memory.max") == 0 && value >= 0 &&
		value < number_in(dir, "memory.current"))
		judge->kills++;
	return 0;
}

static bool is_allowed(const char *path)
{
	for (size_t i = 0; i < ROWS(judge->allowed); i++)
		if (judge->allowed[i] && strstr(path, judge->allowed[i]))
			return true;
	return false;
}

ssize_t __wrap_pwrite(int fd, const void *bytes, size_t n, off_t at)
{
	char path[512], text[128];
	ssize_t len = readlink(keep("/proc/self/fd/%d", fd), path, sizeof(path) - 1);
	assert_true(len > 0 && n < sizeof(text));
	path[len] = '\0';
	memcpy(text, bytes, n);
	text[n] = '\0';
	assert_non_null(judge);
	if (!is_allowed(path))
		fail_msg("%s was written, which no order names: %s", path, text);
	judge->writes++;
	int code = refusal_of(path, text);
	if (code != 0) {
		errno = code;
		return -1;
	}
	assert_int_equal(ftruncate(fd, 0), 0);
	return __real_pwrite(fd, bytes, n, at);
}
