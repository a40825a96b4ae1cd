/*
 * Words about time: Calendars, RunPolicies, local times; read by words.c.
 *
 *   calendar NAME ZONE [open WINDOW=DAYS:HH:MM-HH:MM ..] [open WINDOW=DAY:HH:MM-DAY:HH:MM ..]
 *                      [cron WINDOW=SCHEDULE/DURATION ..] [once WINDOW=LOCAL..LOCAL ..]
 *                      [except NAME=DATE[..DATE]:Open|Closed|WEEKDAY ..]
 *                      "Mon-Thu:19:00-07:00" is every such day, "Fri:19:00-Mon:07:00" a week's
 *                      span; LOCAL is 2026-09-12T08:00
 *   policy NAME calendar=NAME [queues=GLOB,..] [locals=NS/GLOB,..] [fit=Ignore|Prefer|Require]
 *               [unknown=Hold] [margin=PERCENT] [action=Suspend] [overrun=D] [notice=D] [min-run=D]
 *               [max-suspensions=N] [exempt-prio=N] [exempt="TERM"] [lead=D] [price-rise=Suspend]
 *               [deleting] [set WINDOW FLAVOR RESOURCE=NOMINAL[/BORROWING[/LENDING]] ..]
 *   drop calendar|policy NAME, reject calendar|policy NAME "SENTENCE"
 *   at 2026-11-23T19:00Europe/Berlin  sets the time; from here on times are written like this
 *
 * A duration D is 90 (seconds), 90s, 30m, 8h. Zones come from the system's database.
 *
 *   expect: notices NS/NAME at TIME by POLICY
 *   expect: calendar NAME REASON open|closed [WINDOW] until TIME
 *   expect: policy NAME REASON ["message"]
 *   expect: policy NAME binds N queues, N local, N runs, N exempt, N stopped
 *   expect: stop NS/NAME TIME      when a window will stop it
 *   expect: start NS/NAME TIME     before which it will not start
 *   expect: suspensions NS/NAME N
 */
#ifndef SLUICE_TEST_QUEUE_WORDS_TIME_H
#define SLUICE_TEST_QUEUE_WORDS_TIME_H

#include "words.h"

int64_t words_ms(const char *duration);

bool words_tell_calendar(struct words *w, char **word, size_t n);
bool words_tell_policy(struct words *w, char **word, size_t n);
bool words_tell_at(struct words *w, const char *time);
/* The moment that a line "at" with this means; -1: it means none. */
int64_t words_instant(const char *time);

/* In seconds, or as local time once a line "at" had one. Returns one of four texts in turn. */
const char *words_time(const struct words *w, int64_t ms);

/* The answer to an expectation that begins with one of the words above; false: it does not. */
bool words_answer_time(
	struct words *w, char **word, size_t n, bool sentence, char *ret, size_t size);

#endif
