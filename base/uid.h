/*
 * The uid of a Kubernetes object, as 16 bytes: the API server makes RFC 4122 UUIDs, and a million
 * of them as text would cost 21 MB more. Also the key of everything in the ledger.
 */
#ifndef SLUICE_BASE_UID_H
#define SLUICE_BASE_UID_H

#include <stdbool.h>
#include <stdint.h>

struct json_writer;

struct uid {
	uint8_t byte[16];
};

#define UID_TEXT_SIZE 37 /* 36 characters and the NUL */

bool uid_parse(const char *text, struct uid *ret_uid); /* 8-4-4-4-12 hex digits, nothing else */
void uid_format(const struct uid *uid, char ret_text[UID_TEXT_SIZE]);
void uid_put(struct json_writer *w, const char *key, const struct uid *uid); /* as a member */
int uid_cmp(const struct uid *a, const struct uid *b); /* <0, 0, >0: the last tie-breaker */
uint64_t uid_hash(const struct uid *uid);

#endif
