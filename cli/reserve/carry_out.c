#include "cli/reserve/carry_out.h"

#include <string.h>
#include "cli/commands.h"
#include "cli/live_object.h"

#define PATH SLUICE_ROOT "/advancereservations"

enum { BODY_MAX_BYTES = 1 << 20 };

static int say_create(int rc, const cJSON *object, const struct question_facts *f, struct err *e)
{
	const char *name = text_of(json_object(object, "metadata"), "name");
	if (f->http_status == 409)
		return err_set(e, ERR_CONFLICT,
			"there is an AdvanceReservation %.200s already, so nothing was reserved: kubectl get advancereservation %.200s -o yaml shows it; --name gives this one another name",
			name, name);
	if (f->http_status == 404)
		return err_set(e, ERR_BUSY,
			"the API server knows no AdvanceReservations: install the CRDs of this version (docs/install.md)");
	if (rc == ERR_DENIED)
		return err_set(e, ERR_DENIED,
			"you may not create AdvanceReservations, which take quota from others; ClusterRole sluice-admin may. With --dry-run=client -o yaml this command prints the object for an admin (%.200s)",
			f->message);
	if (rc == ERR_INVALID && *f->message)
		return err_set(e, ERR_INVALID, "%.480s", f->message);
	if (rc == ERR_BUSY)
		err_wrap(e,
			"whether AdvanceReservation %.100s was created is not known; give the command again",
			name);
	return rc;
}

int reserve_create(
	struct ev_loop *loop, struct kube_client *client, const cJSON *object, struct err *e)
{
	struct json *json = json_new(QUESTION_TREE_MAX);
	struct question_facts facts;
	const cJSON *root;
	struct buf body;
	buf_init(&body, BODY_MAX_BYTES);
	json_print(&body, object);
	const struct kube_request r = {.method = KUBE_POST,
		.path = PATH "?fieldManager=sluice-reserve",
		.body = buf_slice(&body)};
	int rc = question_send(loop, client, &r, json, &root, &facts, e);
	if (rc < 0)
		rc = say_create(rc, object, &facts, e);
	buf_done(&body);
	json_free(json);
	return rc;
}

const cJSON *reserve_condition(const cJSON *object)
{
	return json_condition(object, "Accepted");
}

enum reserve_verdict reserve_verdict_of(const cJSON *object)
{
	const cJSON *c = reserve_condition(object);
	int64_t generation = number_of(json_object(object, "metadata"), "generation");
	if (!c || number_of(c, "observedGeneration") < generation ||
		strcmp(text_of(c, "reason"), "NotJudgedYet") == 0)
		return RESERVE_UNJUDGED;
	return strcmp(text_of(c, "status"), "True") == 0 ? RESERVE_ACCEPTED : RESERVE_REFUSED;
}

int reserve_wait(struct ev_loop *loop, struct kube_client *client, const char *name,
	const struct reserve_patience *patience, struct json *json, const cJSON **ret_object,
	enum reserve_verdict *ret, struct err *e)
{
	const struct live_kind *kind = live_kind_by_name(slice_of("advancereservation"));
	int rc = 0;
	*ret = RESERVE_UNJUDGED;
	for (int i = 0; *ret == RESERVE_UNJUDGED && i < patience->rounds; i++) {
		question_pause(patience->pause_ms);
		json_reset(json);
		rc = live_object_get(loop, client, kind, "", name, json, ret_object, e);
		if (rc < 0 && rc != ERR_BUSY)
			return rc;
		if (rc == 0)
			*ret = reserve_verdict_of(*ret_object);
	}
	return rc;
}
