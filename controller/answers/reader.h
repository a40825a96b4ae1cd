/*
 * The reader: a process that answers questions about all Jobs as they were at one moment. So a list
 * of 100,000 Jobs takes no time of the loop that starts Jobs, and all its pages are of one moment.
 *
 * The controller forks, from its loop and never inside reader_ask(). The child
 * (base/child.h) has everything that the controller knows as of that instant, for as long as it
 * lives. It answers questions one after the other, each by serve().
 *
 * Namespaces take turns: a question waits for the one under way, and for two of each other
 * namespace at most, however many those ask. Questions about all namespaces take the turn of one.
 * Of each namespace READER_EACH_MAX wait at most. A watch asks once a second at most, and there are
 * few (watchers.h): its questions take turns as well, but are not counted to that number.
 *
 * When nobody asks there is no child. A question gets a new child when the last one is old enough:
 * ten times what it took to make it and to get its first answer, from a tenth of a second to 2 s.
 * So whoever changes a Job and lists it sees the change, and reading takes some tenth of a core.
 *
 * Two children live at once, so that whoever reads pages can go on: the older one takes questions
 * for 20 s yet. Where a third is needed the older one ends, unless it has a question or had one
 * within the last 2 s: then the newest answers, though it is older than it should be. A child that
 * nobody has asked for 30 s ends.
 *
 * A question that gets no answer in 30 s, or whose child dies, is answered by a sentence. A child
 * that works on one question for 30 s is killed. At most 256 questions wait in all.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_READER_H
#define SLUICE_CONTROLLER_ANSWERS_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"
#include "controller/common/log.h"

struct ev_loop;
struct reader;

enum {
	READER_QUESTION_MAX = 64 << 10, /* bytes; more aborts */
	READER_ANSWER_MAX = 64 << 20,	/* bytes; more is ERR_LIMIT */
	READER_EACH_MAX = 8,		/* questions of a namespace that wait or are under way */
};

struct reader_options {
	struct ev_loop *loop;
	struct log *log;
	/* Appends the answer, in the child. What it changes in memory is changed in the child
	 * alone. It must not touch the loop or a file of the controller: its files are closed. */
	void (*serve)(struct slice question, uint64_t moment, struct buf *out, void *ctx);
	void *ctx;
	int64_t timeout_ms; /* 0: 30 s */
};

struct reader *reader_new(const struct reader_options *o);
/* Frees the reader: questions get no answer any more, and no child is left. Not from inside an
 * answer; NULL is fine. */
void reader_free(struct reader *r);

struct reader_answer {
	int code;	      /* 0; ERR_LIMIT: too large; ERR_BUSY: ask again */
	bool too_many;	      /* for ERR_BUSY: as many questions wait as may */
	const char *sentence; /* reason why there is no answer, or NULL; for the call */
	struct slice body;    /* for the call */
	uint64_t moment;      /* moment of the child; 0: none */
};

typedef void reader_answer_fn(const struct reader_answer *a, void *ctx);

struct reader_question {
	struct slice text;
	uint64_t moment;  /* of the child to ask; 0: the newest, which may have to be made */
	const char *ns;	  /* namespace that it is about; "": all, or what is in none */
	bool is_of_watch; /* the question does not count to READER_EACH_MAX */
};

/* Asks. fn is called once, from the loop, never from in here. False: that moment is over, and fn is
 * not called. question is borrowed for the call.
 *
 * A moment is the time of the fork on the machine's clock, in microseconds, and more than the one
 * before. So one that another process gave is unknown here, and over. */
bool reader_ask(
	struct reader *r, const struct reader_question *question, reader_answer_fn *fn, void *ctx);
/* Forgets the questions of this ctx: their fn will not be called any more. */
void reader_forget(struct reader *r, const void *ctx);

#endif
