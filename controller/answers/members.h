/*
 * Members of a JSON object, behind another member: each begins with a comma.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_MEMBERS_H
#define SLUICE_CONTROLLER_ANSWERS_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

void put_member(struct buf *out, const char *key, const char *value); /* NULL: "" */
void put_member_bool(struct buf *out, const char *key, bool value);
void put_member_time(struct buf *out, const char *key, int64_t ms);	/* in whole seconds */
void put_member_money(struct buf *out, const char *key, int64_t micro); /* money_format() */

#endif
