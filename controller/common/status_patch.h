/*
 * A status that counts for one object alone. What is said of a deleted object (accepted, say) must
 * not be taken for the status of the next one of its name. So a write tests the uid. Where it would
 * undo what another leader has just written, it tests the version as well.
 *
 * It is a JSON patch, for the API server reads no metadata.uid of a custom resource in a merge
 * patch of /status. It puts the whole status: a field that is not rendered is gone.
 */
#ifndef SLUICE_CONTROLLER_COMMON_STATUS_PATCH_H
#define SLUICE_CONTROLLER_COMMON_STATUS_PATCH_H

#include <stdbool.h>

#include "base/json_writer.h"
#include "base/slice.h"
#include "base/uid.h"

#define STATUS_PATCH_EXTRA_BYTES 512 /* bytes of the patch beside the status */

/* Appends the JSON patch, for /status, of the object with that uid and that resourceVersion (0:
 * any). The API server answers 422 where uid or version is another by now. */
void status_patch(struct buf *out, const struct uid *uid, int64_t version, struct slice status);

/* Puts the object of one condition. since: RFC 3339, NULL: left out. A reason that is NULL or ""
 * becomes Unknown. */
void status_put_condition(struct json_writer *w, const char *type, bool is, const char *reason,
	const char *message, const char *since, int64_t generation);

#endif
