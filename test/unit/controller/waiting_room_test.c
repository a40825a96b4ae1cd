/*
 * Who is let in next, where strangers come without end: counted, without a clock and without sockets.
 */
#include "controller/net/waiting_room.h"

#include "test/unit/kube/test.h"

enum {
	PLACES = 512,
	STRANGERS = 200, /* addresses */
	COME = 40,	 /* of their clients, between two that are let in */
	TICK = 10,	 /* are let in at once */
	AGENTS = 1000,
	AGENT_FD = 1 << 20, /* and on: of agents */
};

struct stage {
	struct waiting_room *room;
	bool waits[AGENTS];
	unsigned let_in[AGENTS], strangers; /* how often */
	uint64_t came;			    /* of strangers */
};

static void stage_open(struct stage *s)
{
	*s = (struct stage){.room = waiting_room_new(PLACES)};
}

static void stage_close(struct stage *s)
{
	struct waiting_client c;
	while (waiting_room_take(s->room, &c))
		continue;
	waiting_room_free(s->room);
}

static void come(struct stage *s, int fd, uint64_t address)
{
	struct waiting_client c = {.fd = fd, .address = address};
	if (fd >= AGENT_FD)
		s->waits[fd - AGENT_FD] = true;
	int gone = waiting_room_add(s->room, &c);
	if (gone >= AGENT_FD)
		s->waits[gone - AGENT_FD] = false;
}

static void strangers_come(struct stage *s)
{
	for (int i = 0; i < COME; i++)
		come(s, i, 1 + s->came++ % STRANGERS);
}

static void agent_comes(struct stage *s, int i)
{
	come(s, AGENT_FD + i, 1000 + (uint64_t)i);
}

static int let_one_in(struct stage *s)
{
	struct waiting_client c;
	assert_true(waiting_room_take(s->room, &c));
	if (c.fd < AGENT_FD) {
		s->strangers++;
	} else {
		s->let_in[c.fd - AGENT_FD]++;
		s->waits[c.fd - AGENT_FD] = false;
	}
	return c.fd;
}

static void who_comes_first_is_let_in_first(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	for (int i = 0; i < PLACES; i++)
		come(&s, i, 7);
	for (int i = 0; i < PLACES; i++)
		assert_int_equal(let_one_in(&s), i);
	stage_close(&s);
}

static void addresses_have_their_turns(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	for (int i = 0; i < 6; i++)
		come(&s, i, i < 4 ? 1 : 2);
	static const int order[] = {0, 4, 1, 5, 2, 3};
	for (size_t i = 0; i < ROWS(order); i++)
		assert_int_equal(let_one_in(&s), order[i]);
	stage_close(&s);
}

/* It was let in before, as each of the strangers was: all others have one turn before it at most. */
static void an_agent_waits_for_one_turn_of_each_other_address(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	for (int round = 0; round < 20; round++) {
		unsigned before = s.strangers;
		strangers_come(&s);
		agent_comes(&s, 0);
		while (s.let_in[0] == (unsigned)round) {
			assert_true(s.waits[0]); /* it is never sent away */
			let_one_in(&s);
			strangers_come(&s);
		}
		assert_in_range(s.strangers - before, 0, STRANGERS);
	}
	stage_close(&s);
}

static void an_agent_that_comes_late_is_next(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	for (int i = 0; i < 3 * STRANGERS; i++) {
		strangers_come(&s);
		let_one_in(&s);
	}
	for (int i = 0; i < 20; i++) {
		strangers_come(&s);
		agent_comes(&s, i);
		strangers_come(&s);
		assert_int_equal(let_one_in(&s), AGENT_FD + i);
	}
	stage_close(&s);
}

/* It is behind them until all that are remembered have had their turn. */
static void ever_new_addresses_keep_no_agent_out(void **state)
{
	struct stage s;
	uint64_t address = 1 << 20;
	(void)state;
	stage_open(&s);
	agent_comes(&s, 0);
	let_one_in(&s);
	for (unsigned all = 0; s.let_in[0] < 2; all++) {
		assert_true(all <= 2048 + PLACES);
		if (!s.waits[0])
			agent_comes(&s, 0);
		for (int i = 0; i < TICK; i++)
			come(&s, i, address++);
		let_one_in(&s);
	}
	stage_close(&s);
}

/* They are more than the room has places for: those that find none come again. */
static void all_agents_of_a_new_leader_are_let_in(void **state)
{
	struct stage s;
	unsigned in = 0, all = 0;
	(void)state;
	stage_open(&s);
	for (; in < AGENTS; all++) {
		strangers_come(&s);
		for (int i = 0; i < AGENTS && all % TICK == 0; i++)
			if (s.let_in[i] == 0 && !s.waits[i])
				agent_comes(&s, i);
		in += let_one_in(&s) >= AGENT_FD;
		assert_true(all <= AGENTS + STRANGERS);
	}
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_comes_first_is_let_in_first),
		cmocka_unit_test(addresses_have_their_turns),
		cmocka_unit_test(an_agent_waits_for_one_turn_of_each_other_address),
		cmocka_unit_test(an_agent_that_comes_late_is_next),
		cmocka_unit_test(ever_new_addresses_keep_no_agent_out),
		cmocka_unit_test(all_agents_of_a_new_leader_are_let_in),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
