#include "agent/meter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/file.h"

enum { TEXT_SIZE = 8192 };

/* Reads the digits at text; -1: there are none, or too many. */
static int64_t read_digits(const char *text)
{
	char *end;
	if (*text < '0' || *text > '9')
		return -1;
	errno = 0;
	long long value = strtoll(text, &end, 10);
	return errno == 0 && (*end == ' ' || *end == '\n') ? value : -1;
}

/* Finds the number in the line that begins with key, as "usage_usec 17" and "MemFree:   17 kB";
 * -1: there is none. */
static int64_t find_number(const char *text, const char *key)
{
	size_t len = strlen(key);
	for (const char *line = text; line && *line;) {
		if (strncmp(line, key, len) == 0 && (line[len] == ' ' || line[len] == ':'))
			return read_digits(line + len + strspn(line + len, ": "));
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return -1;
}

static int64_t per_thousand(int64_t ns)
{
	return ns < 0 ? -1 : ns / 1000;
}

/* ---- a cgroup -------------------------------------------------------------------------------- */

void gauge_init(struct gauge *g)
{
	*g = (struct gauge){.usage = -1, .throttle = -1, .memory = -1, .memory_stat = -1};
}

static void open_missing(int *fd, const char *dir, const char *file)
{
	if (*fd < 0)
		*fd = file_open(dir, file, O_RDONLY);
}

void gauge_open(struct gauge *g, const struct cgroup_tree *tree, char *const dir[HIERARCHIES])
{
	memcpy(g->version, tree->version, sizeof(g->version));
	bool usage_v2 = tree->version[HIERARCHY_USAGE] == CGROUP_V2,
	     memory_v2 = tree->version[HIERARCHY_MEMORY] == CGROUP_V2;
	open_missing(&g->usage, dir[HIERARCHY_USAGE], usage_v2 ? "cpu.stat" : "cpuacct.usage");
	open_missing(&g->throttle, dir[HIERARCHY_CPU], "cpu.stat");
	open_missing(&g->memory, dir[HIERARCHY_MEMORY],
		memory_v2 ? "memory.current" : "memory.usage_in_bytes");
	open_missing(&g->memory_stat, dir[HIERARCHY_MEMORY], "memory.stat");
}

void gauge_close(struct gauge *g)
{
	file_close(&g->usage);
	file_close(&g->throttle);
	file_close(&g->memory);
	file_close(&g->memory_stat);
}

static void read_cpu(const struct gauge *g, struct reading *r)
{
	char text[TEXT_SIZE];
	if (file_read(g->usage, text, sizeof(text)))
		r->cpu_us = g->version[HIERARCHY_USAGE] == CGROUP_V2
				    ? find_number(text, "usage_usec")
				    : per_thousand(read_digits(text));
	if (!file_read(g->throttle, text, sizeof(text)))
		return;
	r->throttles = find_number(text, "nr_throttled");
	r->throttled_us = g->version[HIERARCHY_CPU] == CGROUP_V2
				  ? find_number(text, "throttled_usec")
				  : per_thousand(find_number(text, "throttled_time"));
}

static void read_memory(const struct gauge *g, struct reading *r)
{
	char text[TEXT_SIZE];
	const char *key =
		g->version[HIERARCHY_MEMORY] == CGROUP_V2 ? "inactive_file" : "total_inactive_file";
	if (file_read(g->memory, text, sizeof(text)))
		r->memory_bytes = read_digits(text);
	int64_t inactive =
		file_read(g->memory_stat, text, sizeof(text)) ? find_number(text, key) : -1;
	if (r->memory_bytes >= 0 && inactive >= 0)
		r->working_bytes = r->memory_bytes > inactive ? r->memory_bytes - inactive : 0;
}

void gauge_read(const struct gauge *g, int64_t now_us, struct reading *ret)
{
	*ret = (struct reading){now_us, -1, -1, -1, -1, -1};
	read_cpu(g, ret);
	read_memory(g, ret);
}

int64_t reading_went_on(int64_t from, int64_t to)
{
	return from >= 0 && to >= from ? to - from : -1;
}

/* Gives thousandths of a core for a counter that went on. */
static int64_t milli(int64_t from_us, int64_t to_us, int64_t from_at_us, int64_t to_at_us)
{
	int64_t used = reading_went_on(from_us, to_us), time = to_at_us - from_at_us;
	if (from_at_us == 0 || to_at_us == 0 || used < 0 || time <= 0 || used > INT64_MAX / 1000)
		return -1;
	return (used * 1000 + time / 2) / time;
}

int64_t reading_cpu_milli(const struct reading *from, const struct reading *to)
{
	return milli(from->cpu_us, to->cpu_us, from->at_us, to->at_us);
}

/* ---- the node -------------------------------------------------------------------------------- */

void node_gauge_open(struct node_gauge *g, const char *proc)
{
	g->stat = file_open(proc, "stat", O_RDONLY);
	g->meminfo = file_open(proc, "meminfo", O_RDONLY);
	g->pressure = file_open(proc, "pressure/memory", O_RDONLY);
}

void node_gauge_close(struct node_gauge *g)
{
	file_close(&g->stat);
	file_close(&g->meminfo);
	file_close(&g->pressure);
}

/* Adds up "cpu  user nice system idle iowait irq softirq ...", in ticks of the kernel. */
static int64_t read_stat(const char *text)
{
	static const bool counts[] = {true, true, true, false, false, true, true};
	int64_t ticks = 0, per_second = sysconf(_SC_CLK_TCK);
	if (strncmp(text, "cpu ", 4) != 0 || per_second <= 0)
		return -1;
	text += 3;
	for (size_t i = 0; i < sizeof(counts); i++) {
		text += strspn(text, " ");
		int64_t value = read_digits(text);
		if (value < 0 || value > INT64_MAX / 10000000 - ticks)
			return -1;
		ticks += counts[i] ? value : 0;
		text += strspn(text, "0123456789");
	}
	return ticks * 1000000 / per_second;
}

static int64_t kibibytes(const char *text, const char *key)
{
	int64_t value = find_number(text, key);
	return value < 0 || value > INT64_MAX / 1024 ? -1 : value * 1024;
}

static void read_meminfo(const char *text, struct node_reading *r)
{
	int64_t free_bytes = kibibytes(text, "MemFree"),
		inactive = kibibytes(text, "Inactive(file)");
	r->total_bytes = kibibytes(text, "MemTotal");
	r->available_bytes = kibibytes(text, "MemAvailable");
	if (r->total_bytes < 0 || free_bytes < 0 || inactive < 0)
		return;
	int64_t working = r->total_bytes - free_bytes - inactive;
	r->working_bytes = working > 0 ? working : 0;
}

void node_gauge_read(const struct node_gauge *g, int64_t now_us, struct node_reading *ret)
{
	char text[TEXT_SIZE];
	*ret = (struct node_reading){now_us, -1, -1, -1, -1, -1};
	if (file_read(g->stat, text, sizeof(text)))
		ret->cpu_us = read_stat(text);
	if (file_read(g->meminfo, text, sizeof(text)))
		read_meminfo(text, ret);
	if (file_read(g->pressure, text, sizeof(text))) {
		const char *total = strstr(text, "total=");
		ret->pressure_us =
			strncmp(text, "some ", 5) == 0 && total ? read_digits(total + 6) : -1;
	}
}

int64_t node_reading_cpu_milli(const struct node_reading *from, const struct node_reading *to)
{
	return milli(from->cpu_us, to->cpu_us, from->at_us, to->at_us);
}
