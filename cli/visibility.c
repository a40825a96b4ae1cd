#include "cli/visibility.h"

#include <string.h>

/* Longer than the API server itself waits, which has the better words. */
enum { PLAYED_WAIT_MS = 70000 };

#define APISERVICE VISIBILITY_VERSION "." VISIBILITY_GROUP

static int say_absent(struct err *e)
{
	return err_set(e, ERR_BUSY,
		"this cluster does not serve the API " VISIBILITY_GROUP
		", which answers this. An admin adds the component deploy/components/visibility to the overlay (docs/ask.md); kubectl get apiservice " APISERVICE
		" says whether it is there");
}

static int say_silent(const struct question_facts *f, struct err *e)
{
	return err_set(e, ERR_BUSY,
		"the API " VISIBILITY_GROUP
		" does not answer (status %d%s%.200s). kubectl get apiservice " APISERVICE
		" says why; it comes with the component deploy/components/visibility",
		f->http_status, *f->message ? ": " : "", f->message);
}

static const char *resource_of(const struct visibility_request *r)
{
	return r->resource ? r->resource : "queuedjobs";
}

/* Says that the controller is older: the group itself is there, since it answers. */
static int say_older(const struct visibility_request *r, struct err *e)
{
	return err_set(e, ERR_BUSY,
		"the API " VISIBILITY_GROUP
		" has no %s: its controller is older than this sluice. Update it",
		resource_of(r));
}

static int say_denied(
	const struct visibility_request *r, const struct question_facts *f, struct err *e)
{
	const char *verb = r->one ? "get" : "list";
	char user[QUESTION_USER_SIZE];
	if (!question_refused_user(f, user) && !strstr(f->message, "is forbidden: "))
		return err_set(e, ERR_DENIED, "the API " VISIBILITY_GROUP " refuses it: %s",
			*f->message ? f->message : "status 403");
	/* Only sluice-admin of our roles has the right; it may write all kinds. */
	if (r->has_no_namespace)
		return err_set(e, ERR_DENIED,
			"you may not %s %s." VISIBILITY_GROUP
			", which tells of all namespaces. An admin gives you that right, and no other: kubectl create clusterrole sluice-%s --verb=%s --resource=%s." VISIBILITY_GROUP
			" && kubectl create clusterrolebinding sluice-%s-%s --clusterrole=sluice-%s --user=%s",
			verb, resource_of(r), resource_of(r), verb, resource_of(r), resource_of(r),
			user, resource_of(r), user);
	if (!r->ns)
		return err_set(e, ERR_DENIED,
			"you may not %s %s." VISIBILITY_GROUP
			" of all namespaces. Name one with -n, or ask an admin for the right: kubectl create clusterrolebinding sluice-%s --clusterrole=sluice-viewer --user=%s",
			verb, resource_of(r), user, user);
	return err_set(e, ERR_DENIED,
		"you may not %s %s." VISIBILITY_GROUP
		" in namespace %.63s. An admin gives you the right: kubectl create rolebinding sluice-%s -n %.63s --clusterrole=sluice-batch-user --user=%s",
		verb, resource_of(r), r->ns, user, r->ns, user);
}

/* Says what was not found. A 404 that is no Status is of the group itself. */
static int say_not_found(
	const struct visibility_request *r, const struct question_facts *f, struct err *e)
{
	bool is_path = strstr(f->message, "could not find the requested resource") != NULL;
	if (strcmp(f->reason, "NotFound") != 0)
		return say_absent(e);
	return r->one && !(r->is_played && is_path) ? ERR_GONE : say_older(r, e);
}

/* Sets e to the controller's own sentence, if it is one: what stands between sends none, or not in
 * a Status. */
static int say_own_words(const struct question_facts *f, int code, struct err *e)
{
	if (!*f->reason || !*f->message)
		return say_silent(f, e);
	return err_set(e, code, "%s", f->message);
}

static int send(struct ev_loop *loop, struct kube_client *client,
	const struct visibility_request *r, struct json *json, const cJSON **ret_root,
	struct question_facts *ret_facts, struct err *e)
{
	const struct kube_request request = {.method = KUBE_GET,
		.path = r->path,
		.timeout_ms = r->is_played ? PLAYED_WAIT_MS : 0,
		.answer_ceiling = QUESTION_ANSWER_MAX};
	for (int round = 0;; round++) {
		int rc = question_send(loop, client, &request, json, ret_root, ret_facts, e);
		if (ret_facts->http_status != 429 || round == r->rounds)
			return rc;
		question_pause(r->pause_ms);
	}
}

int visibility_ask(struct ev_loop *loop, struct kube_client *client,
	const struct visibility_request *r, struct json *json, const cJSON **ret_root,
	struct err *e)
{
	struct question_facts f;
	int rc = send(loop, client, r, json, ret_root, &f, e);
	if (rc == 0 || (f.http_status >= 200 && f.http_status <= 299))
		return rc;
	switch (f.http_status) {
	case 0: /* the API server itself does not answer: the client's words */
	case 401:
		return ERR_BUSY;
	case 403:
		return question_group_is_served(loop, client, VISIBILITY_GROUP, json)
			       ? say_denied(r, &f, e)
			       : say_absent(e);
	case 404:
		return say_not_found(r, &f, e);
	case 410:
		return ERR_CONFLICT;
	case 400:
	case 413:
	case 422:
		return *f.message ? err_set(e, ERR_INVALID, "%s", f.message) : ERR_INVALID;
	case 409:
		return say_own_words(&f, ERR_INVALID, e);
	case 503:
		return say_own_words(&f, ERR_BUSY, e);
	case 429: /* from us, or from the API server: both pass */
		return *f.message ? err_set(e, ERR_BUSY, "%s", f.message) : ERR_BUSY;
	default:
		return say_silent(&f, e);
	}
}
