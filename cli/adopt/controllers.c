#include "cli/adopt/controllers.h"

#include <ev.h>
#include <stdio.h>
#include <string.h>

#include "cli/question.h"

enum { PATH_SIZE = 700, TAG_SIZE = 200 };
enum age { AGE_UNSAID, AGE_OLDER, AGE_KNOWS };

#define CURE                                                                                       \
	"; one of 0.1.0 would stop the Jobs that are labelled. Wait until the last pod of 0.1.0 is gone (docs/upgrade.md)"
#define FORCE ", or see to it yourself that none of 0.1.0 is there, and say --force"

/* Reads the tag: "registry:5000/a/sluice-controller:0.2.0@sha256:..." gives "0.2.0"; "" where there
 * is none. */
static void read_tag(const char *image, char ret_tag[TAG_SIZE])
{
	const char *slash = strrchr(image, '/');
	const char *name = slash ? slash + 1 : image;
	const char *colon = name + strcspn(name, ":@");
	size_t len = *colon == ':' ? strcspn(colon + 1, "@") : 0;
	snprintf(ret_tag, TAG_SIZE, "%.*s", (int)len, len > 0 ? colon + 1 : "");
}

static enum age age_of(const char *image)
{
	char tag[TAG_SIZE];
	unsigned major, minor;
	read_tag(image, tag);
	if (sscanf(tag, tag[0] == 'v' ? "v%3u.%3u" : "%3u.%3u", &major, &minor) != 2)
		return AGE_UNSAID;
	return major == 0 && minor < 2 ? AGE_OLDER : AGE_KNOWS;
}

static bool has_ended(const cJSON *pod)
{
	const char *phase = json_text(json_object(pod, "status"), "phase");
	return phase && (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0);
}

/* Returns the image of the controller's container; others in the pod have versions of their own. */
static const char *image_of(const cJSON *pod)
{
	json_each(c, json_array(json_object(pod, "spec"), "containers")) {
		const char *name = json_text(c, "name"), *image = json_text(c, "image");
		if (name && image && strcmp(name, "controller") == 0)
			return image;
	}
	return "";
}

static int check_pod(const cJSON *pod, const char *ns, struct err *e)
{
	const char *name = json_text(json_object(pod, "metadata"), "name"), *image = image_of(pod);
	name = name ? name : "";
	switch (age_of(image)) {
	case AGE_KNOWS:
		return 0;
	case AGE_OLDER:
		return err_set(e, ERR_GONE,
			"nothing was changed: pod %.100s/%.100s runs image %.200s, which is older than 0.2.0 and adopts nothing" CURE,
			ns, name, image);
	case AGE_UNSAID:
		break;
	}
	return err_set(e, ERR_GONE,
		"nothing was changed: the image of pod %.100s/%.100s, %.200s, does not say by its tag that it is 0.2.0 or later" CURE
			FORCE,
		ns, name, image[0] ? image : "(no container \"controller\")");
}

int adopt_controllers_check(
	struct ev_loop *loop, struct kube_client *client, const char *namespace_name, struct err *e)
{
	char path[PATH_SIZE];
	const cJSON *root;
	size_t seen = 0;
	struct json *json = json_new(QUESTION_TREE_MAX);
	snprintf(path, sizeof(path),
		"/api/v1/namespaces/%.63s/pods?labelSelector=app.kubernetes.io%%2Fname%%3Dsluice-controller",
		namespace_name);
	int rc = question_ask(loop, client, path, json, &root, e);
	if (rc < 0)
		err_wrap(e,
			"whether a controller older than 0.2.0 is there cannot be seen (--force goes on without)");
	json_each(pod, rc == 0 ? json_array(root, "items") : NULL) {
		if (rc < 0 || has_ended(pod))
			continue;
		seen++;
		rc = check_pod(pod, namespace_name, e);
	}
	if (rc == 0 && seen == 0)
		rc = err_set(e, ERR_GONE,
			"nothing was changed: no pod of a controller is in namespace %.63s, so its version cannot be seen" CURE
			". Say where it is: --controller-namespace NAME" FORCE,
			namespace_name);
	json_free(json);
	return rc;
}
