#include "controller/wire/decode_trouble.h"

#include <stdio.h>
#include <string.h>

#include "controller/wire/decode.h"
#include "controller/wire/decode_parts.h"
#include "sluice/keys.h"

#define TROUBLE_GUESS 1024

/* ---- text and times -------------------------------------------------------------------------- */

static const char *clean(struct decoder *d, const char *text)
{
	return text_quote(d, text, TROUBLE_MESSAGE_MAX);
}

/* ---- a pod ----------------------------------------------------------------------------------- */

static bool read_condition(struct decoder *d, const cJSON *condition, struct trouble_pod *p)
{
	const char *message = json_text(condition, "message");
	enum trouble_word w = trouble_named(json_text(condition, "reason"));
	if (!json_is(condition, "status", "False") || w == TROUBLE_NONE)
		return false;
	p->word = w;
	p->message = clean(d, message ? message : "");
	return true;
}

static bool read_containers(
	struct decoder *d, const cJSON *status, const char *key, struct trouble_pod *p)
{
	json_each(c, json_array(status, key)) {
		const cJSON *waiting = json_object(json_object(c, "state"), "waiting");
		const char *message = json_text(waiting, "message");
		enum trouble_word w = trouble_named(json_text(waiting, "reason"));
		if (w == TROUBLE_NONE)
			continue;
		p->word = w;
		p->message = clean(d, message ? message : "");
		return true;
	}
	return false;
}

/* Whether some container was started. If an init container was, it is not said what the others wait
 * for, nor since when. */
static bool has_begun(const cJSON *status, const char *key)
{
	json_each(c, json_array(status, key)) {
		const cJSON *state = json_object(c, "state");
		if (json_object(state, "running") || json_object(state, "terminated"))
			return true;
	}
	return false;
}

static const char *what_its_node_lacks(const cJSON *o)
{
	if (!json_array(json_object(o, "status"), "containerStatuses"))
		return "its kubelet has said nothing of it";
	if (json_condition_is(o, "PodReadyToStartContainers", "False"))
		return "its volumes or its network are not there yet";
	return "its containers are not created, or their image is still pulled";
}

/* Tells that nothing is said of a pod, as for a while of every pod. */
static void read_silence(struct decoder *d, const cJSON *o, struct trouble_pod *p)
{
	const cJSON *spec = json_object(o, "spec"), *status = json_object(o, "status");
	const char *node = json_text(spec, "nodeName"), *name = json_text(spec, "schedulerName");
	char text[TROUBLE_MESSAGE_MAX];
	if (!node && !json_condition(o, "PodScheduled")) {
		p->word = TROUBLE_NOT_SEEN_BY_SCHEDULER;
		snprintf(text, sizeof(text),
			"no scheduler has looked at them; schedulerName: %.253s",
			name ? name : "none");
	} else if (node && !has_begun(status, "initContainerStatuses") &&
		   !has_begun(status, "containerStatuses")) {
		p->word = TROUBLE_CONTAINER_CREATING;
		snprintf(text, sizeof(text), "pod %.100s on node %.253s: %s", decode_name(o), node,
			what_its_node_lacks(o));
	} else {
		return;
	}
	p->message = clean(d, text);
}

/* Reads what keeps a pod. The kubelet does not say since when a container waits: at most since the
 * pod has its node. */
static void read_trouble(struct decoder *d, const cJSON *o, struct trouble_pod *p)
{
	const cJSON *status = json_object(o, "status");
	const cJSON *scheduled = json_condition(o, "PodScheduled");
	int64_t since_ms = json_instant(scheduled, "lastTransitionTime");
	p->message = "";
	p->since_ms = since_ms > 0 ? since_ms : p->pending_ms;
	if (!read_containers(d, status, "initContainerStatuses", p) &&
		!read_containers(d, status, "containerStatuses", p) &&
		!read_condition(d, scheduled, p))
		read_silence(d, o, p);
}

static int fill_pod(struct decoder *d, const cJSON *o, struct err *e)
{
	struct trouble_pod *p = parcel_array(&d->parcel, 1, sizeof(*p));
	if (!decode_uid(o, &p->uid))
		return err_set(e, ERR_INVALID, "Pod %.253s: metadata.uid is none", decode_name(o));
	if (!meta_owner_job(o, &p->job))
		return err_set(e, ERR_INVALID, "Pod %.253s: no Job controls it", decode_name(o));
	p->deleting = meta_deleting(o);
	p->pending_ms = json_instant(meta_of(o), "creationTimestamp");
	read_trouble(d, o, p);
	return 0;
}

DECODER(decode_trouble_pod, trouble_pod, "Pod", TROUBLE_GUESS, fill_pod)

/* ---- a refusal ------------------------------------------------------------------------------- */

static const char *without(const char *prefix, const char *text)
{
	size_t len = strlen(prefix);
	return strncmp(text, prefix, len) == 0 ? text + len : text;
}

static bool is_refusal(const cJSON *o, const cJSON *about)
{
	return json_is(about, "kind", "Job") && json_is(o, "reason", "FailedCreate");
}

/* Reads the times of an Event, in either form: first and last timestamps, or a series. */
static void read_times(const cJSON *o, struct trouble_refusal *r)
{
	int64_t series_ms = json_instant(json_object(o, "series"), "lastObservedTime");
	int64_t event_ms = json_instant(o, "eventTime");
	int64_t made_ms = json_instant(meta_of(o), "creationTimestamp");
	int64_t first_ms = json_instant(o, "firstTimestamp"),
		last_ms = json_instant(o, "lastTimestamp");
	if (event_ms == 0)
		event_ms = made_ms;
	r->last_ms = last_ms;
	if (r->last_ms == 0)
		r->last_ms = series_ms > 0 ? series_ms : event_ms;
	r->first_ms = first_ms > 0 ? first_ms : event_ms;
	if (r->first_ms == 0 || r->first_ms > r->last_ms)
		r->first_ms = r->last_ms;
}

static int fill_refusal(struct decoder *d, const cJSON *o, struct err *e)
{
	struct trouble_refusal *r = parcel_array(&d->parcel, 1, sizeof(*r));
	const cJSON *about = json_object(o, "involvedObject");
	const char *uid = json_text(about, "uid"), *message = json_text(o, "message");
	if (!is_refusal(o, about))
		return err_set(e, ERR_INVALID, "Event %.253s: it is not a FailedCreate of a Job",
			decode_name(o));
	if (!uid || !uid_parse(uid, &r->job))
		return err_set(
			e, ERR_INVALID, "Event %.253s: involvedObject.uid is none", decode_name(o));
	message = without("(combined from similar events): ", message ? message : "");
	r->message = clean(d, without("Error creating: ", message));
	read_times(o, r);
	return 0;
}

DECODER(decode_trouble_refusal, trouble_refusal, "Event", TROUBLE_GUESS, fill_refusal)

/* ---- a rejection ----------------------------------------------------------------------------- */

#define REJECTED "Pod was rejected: " /* the kubelet's words, since Kubernetes 1.27 */

/* Copies text, cut between characters, with blanks for what a terminal would obey. */
static void copy(struct decoder *d, char *ret, size_t size, const char *text)
{
	snprintf(ret, size, "%s", text ? text_quote(d, text, size - 1) : "");
}

static int fill_rejected(struct decoder *d, const cJSON *o, struct err *e)
{
	struct rejected_pod *p = parcel_array(&d->parcel, 1, sizeof(*p));
	const cJSON *status = json_object(o, "status");
	const char *message = json_text(status, "message");
	if (!json_is(status, "phase", "Failed") || !message ||
		without(REJECTED, message) == message)
		return err_set(
			e, ERR_INVALID, "Pod %.253s: no kubelet rejected it", decode_name(o));
	if (!decode_uid(o, &p->uid))
		return err_set(e, ERR_INVALID, "Pod %.253s: metadata.uid is none", decode_name(o));
	if (!meta_owner_job(o, &p->job))
		return err_set(e, ERR_INVALID, "Pod %.253s: no Job controls it", decode_name(o));
	p->made_ms = json_instant(meta_of(o), "creationTimestamp");
	copy(d, p->ns, sizeof(p->ns), json_text(meta_of(o), "namespace"));
	copy(d, p->job_name, sizeof(p->job_name), json_text(meta_controller(o), "name"));
	copy(d, p->node, sizeof(p->node), json_text(json_object(o, "spec"), "nodeName"));
	copy(d, p->clusterqueue, sizeof(p->clusterqueue),
		json_text(json_object(meta_of(o), "labels"), CLUSTERQUEUE_LABEL));
	copy(d, p->reason, sizeof(p->reason), json_text(status, "reason"));
	copy(d, p->message, sizeof(p->message), without(REJECTED, message));
	return 0;
}

DECODER(decode_rejected_pod, rejected_pod, "Pod", TROUBLE_GUESS, fill_rejected)
