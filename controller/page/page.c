#include "controller/page/page.h"

#include <string.h>

#include "controller/answers/job_query.h"
#include "controller/answers/report.h"
#include "controller/answers/whatif.h"

static bool ends_with(const char *text, const char *end)
{
	size_t a = strlen(text), b = strlen(end);
	return a >= b && strcmp(text + a - b, end) == 0;
}

static const char *type_of(const char *path)
{
	if (ends_with(path, ".html"))
		return "text/html; charset=utf-8";
	if (ends_with(path, ".css"))
		return "text/css; charset=utf-8";
	return "text/javascript; charset=utf-8";
}

const char *page_text(const char *path, const char **ret_type)
{
	static const char folder[] = "/page/";
	bool is_document = strcmp(path, "/") == 0;
	if (!is_document && strncmp(path, folder, strlen(folder)) != 0)
		return NULL;
	const char *name = is_document ? "index.html" : path + strlen(folder);
	for (size_t i = 0; i < PAGE_FILES_COUNT; i++)
		if (strcmp(PAGE_FILES[i].path, name) == 0) {
			*ret_type = type_of(name);
			return PAGE_FILES[i].text;
		}
	return NULL;
}

bool page_right(const char *path, bool watches, struct right *ret)
{
	struct report_path report;
	struct job_query query;
	*ret = (struct right){.group = VISIBILITY_GROUP, .verb = "list"};
	if (report_path(path, &report)) {
		*ret = report_right(&report);
		return true;
	}
	if (job_query_start_path(path, query.ns, query.name)) {
		*ret = (struct right){
			.group = VISIBILITY_GROUP, .verb = "get", .resource = "queuedjobs/start"};
		strcpy(ret->ns, query.ns);
		return true;
	}
	if (strcmp(path, WHATIFS_PATH) == 0) {
		ret->resource = "whatifs";
		return true;
	}
	if (!job_query_path(path, &query))
		return false;
	ret->resource = query.clusterqueue[0] ? "clusterqueues/queuedjobs" : "queuedjobs";
	ret->verb = query.one || query.clusterqueue[0] ? "get" : watches ? "watch" : "list";
	strcpy(ret->ns, query.path_ns);
	return true;
}
