/*
 * The page: what a browser gets at `/`, and where its scripts get what they show.
 *
 *   /                                the document, and below /page/ its style and its scripts
 *   /page/session                    who the reader is, and which namespaces to choose from
 *                                    (session.h)
 *   /apis/visibility.sluice.dev/...  the aggregated API (controller/answers), at this port too
 *
 * The document and its scripts are compiled in and open to all that reach the port: they tell
 * nothing. They ask with the rights of the person who looks: by the bearer token that was pasted,
 * or as the user that a proxy names (net/caller.h). Each path of the aggregated API wants the right
 * that the API server would want for it (page_right()), and Kubernetes is asked for that
 * (net/auth.h). The token stays in the tab: it is in no cookie, so no other page can use it.
 *
 * Nothing is fetched from elsewhere, and the browser is told to allow nothing else (PAGE_POLICY).
 * The scripts are plain modules without a library. They need lists that are drawn in part, a few
 * bars and lines, and a stream of changes; a library would be larger than they are.
 *
 * Left to others: who may ask (net/http.h), what is answered (answers/answers.h).
 */
#ifndef SLUICE_CONTROLLER_PAGE_PAGE_H
#define SLUICE_CONTROLLER_PAGE_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "controller/net/review.h"

#define PAGE_POLICY                                                                                           \
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " \
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/* A file of the page, compiled in. */
struct page_file {
	const char *path; /* "index.html" */
	const char *text;
};
extern const struct page_file PAGE_FILES[];
extern const size_t PAGE_FILES_COUNT;

/* Returns the text of a path, and its content type; NULL: it is no file of the page. "/" is the
 * document. */
const char *page_text(const char *path, const char **ret_type);

/* True if it is a path of the aggregated API. Then *ret is the right that the API server would
 * want: to get, list or watch a resource, in a namespace or in all. */
bool page_right(const char *path, bool watches, struct right *ret);

#endif
