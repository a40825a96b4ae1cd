/*
 * The protocol of start, stop, takeover, lost transactions and restore, for Spin. docs/protocol/README.md
 * says what is checked, what is left out, and how to read a trail.
 *
 * Two Jobs of one pod each, quota for one. Two controllers, a ledger that may forget, a Job controller that
 * is behind, watches that are behind, PATCHes that land late or never. Each step names the function
 * of the controller that it stands for; a step is what nothing else can come between.
 *
 * The budgets below bound what goes wrong. A fault that is not one of them is not checked.
 */
#ifndef SLEEPS
#define SLEEPS 0 /* takeovers from a leader that lives, and does not know it */
#endif
#ifndef DEATHS
#define DEATHS 0 /* kill -9 of a leader */
#endif
#ifndef FAILOVERS
#define FAILOVERS 0 /* Postgres goes on as a standby that lacks the last transactions */
#endif
#ifndef RESTORES
#define RESTORES 0 /* an old backup is put back, with no controller running (docs/restore.md) */
#endif
#ifndef STOPS
#define STOPS 0 /* decisions to stop a run, or to call a start off */
#endif
#ifndef DROPS
#define DROPS 0 /* PATCHes that never land */
#endif

#define CONTROLLERS 2
#define JOBS 2
#define QUOTA 1
#define BOTH(l, j) ((l) * JOBS + (j))

/* ---- The API server ---------------------------------------------------------------------------------- */

/* The story of a Job (controller/gate/story.h), and with it spec.suspend: a Job runs while its story says
 * STARTED. Two stories are the same bytes if state, attempt and epoch are the same. */
#define NONE	0
#define STARTED 1
#define STOPPED 2
#define FENCED	3
#define STORY(state, attempt, epoch) ((state) + 4 * (attempt) + 32 * (epoch))
#define STATE(story) ((story) & 3)
#define ATTEMPT(story) (((story) >> 2) & 7)
#define EPOCH(story) ((story) >> 5)

byte story[JOBS];
bit done[JOBS];	  /* condition Complete */
bit status_runs[JOBS]; /* the status: 1: startTime, and its pod; 0: condition Suspended, or nothing yet */

/* The Job controller: how many changes of spec.suspend it has not read yet, and the pod. */
byte unread[JOBS];
bit pod[JOBS];

#define RUNS(j) (STATE(story[j]) == STARTED && !done[j])
#define TAKEN_FOR_RUNNING(j) (RUNS(j) != (unread[j] & 1) && !done[j])

/* PATCHes under way: the story that one tests, and the story that it writes. */
byte start_tests[CONTROLLERS * JOBS], start_writes[CONTROLLERS * JOBS];
byte tell_tests[CONTROLLERS * JOBS], tell_writes[CONTROLLERS * JOBS];
bit tells_intruder[CONTROLLERS * JOBS]; /* it stops what ran without a reservation */

/* ---- The ledger -------------------------------------------------------------------------------------- */

#define FREE	  0
#define PENDING	  1
#define POSTED	  2
#define RELEASING 3

byte epoch, holder; /* of the lease */
byte timeline; /* of the server: each failover begins a new one */
bit moved; /* the server's timeline is another one than when a leader had last settled */
byte held[JOBS], held_attempt[JOBS], used_attempt[JOBS];

/* What a standby has of it, or a backup. */
byte old_epoch, old_holder;
byte old_held[JOBS], old_held_attempt[JOBS], old_used_attempt[JOBS];

#define USE ((held[0] != FREE) + (held[1] != FREE))

/* ---- The controllers --------------------------------------------------------------------------------- */

#define WAITING	 0
#define STARTING 1
#define FENCING	 2
#define RUNNING	 3
#define STOPPING 4
#define DRAINING 5

bit leads[CONTROLLERS]; /* or believes so */
byte my_epoch[CONTROLLERS];
byte my_timeline[CONTROLLERS]; /* of the server on which it took the lease */
bit settles[CONTROLLERS]; /* nothing starts (adoption.c) */
byte phase[CONTROLLERS * JOBS], attempt[CONTROLLERS * JOBS];
bit reserved[CONTROLLERS * JOBS];  /* a Job that is stopped as an intruder has no reservation */
bit committed[CONTROLLERS * JOBS]; /* COMMIT is in the ledger */
bit told_stop[CONTROLLERS * JOBS]; /* and STOP */
bit doubt[CONTROLLERS * JOBS];	   /* a start PATCH was sent */
bit acked[CONTROLLERS * JOBS];	   /* the Job controller has told that it saw the start */
bit stop[CONTROLLERS * JOBS];	   /* it is to be stopped, or its start called off */
bit intruder[CONTROLLERS * JOBS];
bit behind[CONTROLLERS * JOBS]; /* adopted, and what is seen is of another attempt: a GET comes first */
/* Its watch: the Job as it was some time ago. */
byte seen_story[CONTROLLERS * JOBS];
bit seen_done[CONTROLLERS * JOBS], seen_status_runs[CONTROLLERS * JOBS];

#define SEEN_RUNNING(x) (STATE(seen_story[x]) == STARTED && !seen_done[x])
#define SEEN_SUSPENDED(x) (!seen_done[x] && !SEEN_RUNNING(x))
#define LANDED(x)                                                                                  \
	(ATTEMPT(seen_story[x]) == attempt[x] &&                                                   \
		(STATE(seen_story[x]) == STARTED || STATE(seen_story[x]) == STOPPED))

byte sleeps = SLEEPS, deaths = DEATHS, failovers = FAILOVERS, restores = RESTORES, stops = STOPS,
     drops = DROPS;
bit forgot; /* the ledger lost something, and no leader has settled that yet */

/* ---- What may never be ------------------------------------------------------------------------------- */

/* P1: no more pods than the quota, and none without a reservation but for what the ledger has lost. */
inline check_pods(j)
{
	assert(pod[0] + pod[1] <= QUOTA);
	assert(held[j] != FREE || forgot);
}

/* P1: a reservation goes when nothing runs and nothing can; but for a later attempt, that the ledger has
 * lost. */
inline check_release(j)
{
	assert((!pod[j] && !RUNS(j)) || (forgot && ATTEMPT(story[j]) > held_attempt[j]));
}

/* P2: a run is never stopped for what a controller or a ledger has forgotten. */
inline check_stop(x)
{
	assert(!tells_intruder[x]);
}

/* ---- The Job controller ------------------------------------------------------------------------------ */

inline job_controller(j)
{
	if
	:: unread[j] > 0 -> unread[j]--
	:: TAKEN_FOR_RUNNING(j) && !pod[j] -> pod[j] = 1; check_pods(j)
	:: !TAKEN_FOR_RUNNING(j) && pod[j] -> pod[j] = 0
	/* Its status is refused while it has not read the newest version. */
	:: unread[j] == 0 && RUNS(j) && pod[j] && !status_runs[j] -> status_runs[j] = 1
	:: unread[j] == 0 && !RUNS(j) && !pod[j] && status_runs[j] -> status_runs[j] = 0
	:: unread[j] == 0 && RUNS(j) && pod[j] && status_runs[j] -> done[j] = 1; pod[j] = 0; status_runs[j] = 0
	fi
}

#define JOB_CONTROLLER_HAS_WORK(j)                                                                 \
	(unread[j] > 0 || TAKEN_FOR_RUNNING(j) != pod[j] || RUNS(j) != status_runs[j] ||                \
		(RUNS(j) && pod[j] && status_runs[j]))

/* ---- The network ------------------------------------------------------------------------------------- */

inline write_story(j, text)
{
	if
	:: (STATE(text) == STARTED) != (STATE(story[j]) == STARTED) && !done[j] -> unread[j]++
	:: else
	fi;
	assert(unread[j] < 4);
	story[j] = text
}

/* dispatcher.c: each PATCH tests the story, and that of a stop also that it was not over. */
inline land_start(l, j)
{
	if
#ifdef UNGUARDED
	:: !done[j] -> write_story(j, start_writes[BOTH(l, j)])
#else
	:: !done[j] && story[j] == start_tests[BOTH(l, j)] -> write_story(j, start_writes[BOTH(l, j)])
#endif
	:: else
	fi;
	lose_start(l, j)
}

#define NO_START_UNDER_WAY                                                                         \
	(start_writes[0] == 0 && start_writes[1] == 0 && start_writes[2] == 0 && start_writes[3] == 0)

inline lose_start(l, j)
{
	start_tests[BOTH(l, j)] = 0;
	start_writes[BOTH(l, j)] = 0
}

inline land_tell(l, j)
{
	if
	:: !done[j] && story[j] == tell_tests[BOTH(l, j)] ->
		check_stop(BOTH(l, j));
		write_story(j, tell_writes[BOTH(l, j)])
	:: else
	fi;
	lose_tell(l, j)
}

inline lose_tell(l, j)
{
	tell_tests[BOTH(l, j)] = 0;
	tell_writes[BOTH(l, j)] = 0;
	tells_intruder[BOTH(l, j)] = 0
}

inline send_tell(x, text)
{
	tell_tests[x] = seen_story[x];
	tell_writes[x] = text;
	tells_intruder[x] = intruder[x]
}

/* ---- A controller and the ledger --------------------------------------------------------------------- */

/* fence.sql, attach.sql: every statement of an epoch that is over, or of a lease that was taken on another
 * server, writes nothing. */
#if defined(UNFENCED)
#define MAY_WRITE(l) true
#elif defined(ANY_SERVER)
#define MAY_WRITE(l) (my_epoch[l] == epoch && holder == (l))
#else
#define MAY_WRITE(l) (my_epoch[l] == epoch && holder == (l) && my_timeline[l] == timeline)
#endif

inline copy_job(x, j)
{
	seen_story[x] = story[j];
	seen_done[x] = done[j];
	seen_status_runs[x] = status_runs[j]
}

inline forget_job(x)
{
	phase[x] = WAITING; attempt[x] = 0; reserved[x] = 0; committed[x] = 0; told_stop[x] = 0;
	doubt[x] = 0; acked[x] = 0; stop[x] = 0; intruder[x] = 0; behind[x] = 0
}

/* The process ends, and begins anew as a standby (gate_depose(), exit code 3): it lists all Jobs. */
inline end_process(l)
{
	copy_job(BOTH(l, 0), 0);
	copy_job(BOTH(l, 1), 1);
	leads[l] = 0; my_epoch[l] = 0; settles[l] = 0; my_timeline[l] = 0;
	forget_job(BOTH(l, 0)); forget_job(BOTH(l, 1))
}

inline reserve_in_ledger(j, number)
{
	held[j] = PENDING;
	held_attempt[j] = number;
	used_attempt[j] = number
}

inline free_in_ledger(j)
{
	held[j] = FREE;
	held_attempt[j] = 0
}

/* ADOPT, then COMMIT: as used, whatever the quota. */
inline adopt_in_ledger(j, number)
{
	reserve_in_ledger(j, number);
	held[j] = POSTED
}

/* ---- A takeover -------------------------------------------------------------------------------------- */

#define HIGHER(a, b) ((a) > (b) -> (a) : (b))
#define EPOCHS_SEEN(l) HIGHER(EPOCH(seen_story[BOTH(l, 0)]), EPOCH(seen_story[BOTH(l, 1)]))

/* attempt_adopt(): by what the ledger has, and what the watch has shown so far. */
inline adopt_reservation(l, j, x)
{
	if
	:: held[j] != FREE && SEEN_RUNNING(x) && ATTEMPT(seen_story[x]) > held_attempt[j] ->
		free_in_ledger(j) /* adoption_close_overtaken(): its run is adopted below */
	:: else
	fi;
	if
	:: held[j] != FREE ->
		reserved[x] = 1;
		attempt[x] = held_attempt[j];
		committed[x] = held[j] != PENDING;
		told_stop[x] = held[j] == RELEASING;
		doubt[x] = 1;
#ifndef OLD_VIEW_BELIEVED
		behind[x] = ATTEMPT(seen_story[x]) != held_attempt[j];
#endif
		if
		:: held[j] == PENDING -> phase[x] = STARTING; stop[x] = 1
		:: held[j] == RELEASING || (held[j] == POSTED && SEEN_SUSPENDED(x) && !behind[x]) -> phase[x] = DRAINING
		:: else -> phase[x] = RUNNING
		fi;
		reconcile(l, x)
	:: held[j] == FREE && SEEN_RUNNING(x) && ATTEMPT(seen_story[x]) > used_attempt[j] ->
		adopt(l, j)
	:: else
	fi
}

/* adoption.c, adopt(): the Job's own signed story is believed. */
inline adopt(l, j)
{
	adopt_in_ledger(j, ATTEMPT(seen_story[BOTH(l, j)]));
	reserved[BOTH(l, j)] = 1;
	attempt[BOTH(l, j)] = held_attempt[j];
	committed[BOTH(l, j)] = 1;
	doubt[BOTH(l, j)] = 1;
	phase[BOTH(l, j)] = RUNNING;
	intruder[BOTH(l, j)] = 0;
#ifndef STARTS_AT_ONCE
	settles[l] = 1
#endif
}

/* lease_take.sql, gate_answer_lease(), gate_answer_load(), adoption_begin(). */
inline take_over(l)
{
	epoch = HIGHER(epoch, EPOCHS_SEEN(l)) + 1;
	assert(epoch < 8);
	holder = l;
	my_epoch[l] = epoch;
	my_timeline[l] = timeline;
	leads[l] = 1;
#ifndef STARTS_AT_ONCE
	settles[l] = moved;
#endif
	adopt_reservation(l, 0, BOTH(l, 0));
	adopt_reservation(l, 1, BOTH(l, 1));
	if
	:: !settles[l] -> forgot = 0
	:: else
	fi
}

/* adoption_tick(), after --settle-after-failover. What that time is long enough for: the API server has
 * dropped what an earlier leader had sent, that leader has asked for its lease, and the watch has
 * shown what landed, and each GET of INTENT_READ is answered. */
#define SETTLED(l)                                                                                 \
	(NO_START_UNDER_WAY && !leads[1 - (l)] &&                                                  \
		!OUTDATED(l, 0) && !OUTDATED(l, 1) && !TO_ADOPT(l, 0) && !TO_ADOPT(l, 1) &&       \
		!behind[BOTH(l, 0)] && !behind[BOTH(l, 1)])
#define TO_ADOPT(l, j) (!reserved[BOTH(l, j)] && SEEN_RUNNING(BOTH(l, j)) &&                                \
		(EPOCH(seen_story[BOTH(l, j)]) > my_epoch[l] || MAY_ADOPT(l, j, BOTH(l, j))))

/* ---- The gate: one step of one Job (phase.c) ----------------------------------------------------------- */

#define IDLE(l) (phase[BOTH(l, 0)] == WAITING && phase[BOTH(l, 1)] == WAITING)

/* decided_start(), attempt_reserved(): the queue has room, and the ledger says so, too. */
inline reserve(l, j, x)
{
	attempt[x] = HIGHER(HIGHER(attempt[x], ATTEMPT(seen_story[x])), used_attempt[j]) + 1;
	assert(attempt[x] < 8);
	if
	:: !MAY_WRITE(l) -> end_process(l)
	:: else ->
		reserve_in_ledger(j, attempt[x]);
		reserved[x] = 1;
		phase[x] = STARTING
	fi
}

#define MAY_RESERVE(l, j, x)                                                                       \
	((j == 0 || used_attempt[0] > 0 || seen_done[BOTH(l, 0)]) && phase[x] == WAITING &&        \
		IDLE(l) && !settles[l] && !seen_done[x] && !SEEN_RUNNING(x) &&                     \
		!seen_status_runs[x] && (!MAY_WRITE(l) || USE < QUOTA))

/* attempt_release(), attempt_call_off(). */
inline release(l, j, x)
{
	if
	:: !MAY_WRITE(l) -> end_process(l)
	:: else ->
		check_release(j);
		free_in_ledger(j);
		forget_job(x)
	fi
}

/* attempt_run()'s COMMIT, attempt_drain()'s STOP. */
inline tell_ledger(l, j, x, state)
{
	if
	:: !MAY_WRITE(l) -> end_process(l)
	:: else ->
		held[j] = state;
		committed[x] = 1;
		told_stop[x] = state == RELEASING
	fi
}

/* adoption_overtakes(): a later attempt than the adopted one has pods, so the next takeover begins with it. */
#ifdef OVERTAKEN_UNSEEN
#define OVERTAKES(l, x) false
#else
#define OVERTAKES(l, x)                                                                            \
	(settles[l] && reserved[x] && ATTEMPT(seen_story[x]) > attempt[x] &&                       \
		(SEEN_RUNNING(x) || (STATE(seen_story[x]) == STOPPED && seen_status_runs[x])))
#endif

/* stop_intruder(): not without the lease's word (gate_doubts_lease()). */
inline stop_intruder(l, x)
{
	if
	:: EPOCH(seen_story[x]) > my_epoch[l] -> end_process(l) /* adoption_is_of_later_leader() */
	:: EPOCH(seen_story[x]) <= my_epoch[l] && !MAY_WRITE(l) -> end_process(l)
	:: else -> intruder[x] = 1; phase[x] = STOPPING
	fi
}

/* drained(), or the pods themselves counted when drain_doubt is over. */
#define DRAINED(j, x)                                                                              \
	((!seen_status_runs[x] && (seen_done[x] || (!SEEN_RUNNING(x) && acked[x]))) ||                  \
		(!SEEN_RUNNING(x) && !acked[x] && unread[j] == 0 && !pod[j]))

/* job_request(), gate_doubts_lease(): before it writes to a Job whose story is of a later epoch than its
 * own, it asks for the lease once more. */
#ifdef LEASE_NOT_ASKED
#define MAY_SEND(l, x) true
#else
#define MAY_SEND(l, x) (EPOCH(seen_story[x]) <= my_epoch[l])
#endif

#define FENCED_BY_US(x)	  (STATE(seen_story[x]) == FENCED && ATTEMPT(seen_story[x]) == attempt[x])
#define ENDED(x)	  (seen_done[x] || (LANDED(x) && STATE(seen_story[x]) == STOPPED))

/* Before it sends a stop: a status that acknowledges the start. */
#ifdef STOP_UNACKED
#define MAY_STOP(x) true
#else
#define MAY_STOP(x) (acked[x])
#endif

/* adoption_takes() */
#define MAY_ADOPT(l, j, x)                                                                         \
	(settles[l] && EPOCH(seen_story[x]) <= my_epoch[l] &&                                      \
		(!MAY_WRITE(l) || (held[j] == FREE && ATTEMPT(seen_story[x]) > used_attempt[j])))

inline adopt_late(l, j)
{
	if
	:: MAY_WRITE(l) -> adopt(l, j)
	:: else -> end_process(l)
	fi
}

/* job_reconcile(), as far as it writes nothing: it follows what was seen or decided at once. */
inline reconcile(l, x)
{
	if
	:: OVERTAKES(l, x) -> end_process(l)
	:: else
	fi;
	if
	:: (phase[x] == STARTING || phase[x] == FENCING) && !behind[x] ->
		if
		:: LANDED(x) -> phase[x] = RUNNING; doubt[x] = 0
		:: !LANDED(x) && seen_done[x] -> phase[x] = DRAINING
		:: !LANDED(x) && SEEN_RUNNING(x) -> stop_intruder(l, x)
		:: !LANDED(x) && SEEN_SUSPENDED(x) && stop[x] && doubt[x] -> phase[x] = FENCING
		:: else
		fi
	:: else
	fi;
	if
	:: phase[x] == RUNNING && !behind[x] ->
		acked[x] = acked[x] || (SEEN_RUNNING(x) && seen_status_runs[x]);
		if
		:: ENDED(x) -> phase[x] = DRAINING
		:: !ENDED(x) && SEEN_RUNNING(x) && stop[x] && MAY_STOP(x) -> phase[x] = STOPPING
		:: else
		fi
	:: else
	fi;
	if
	:: phase[x] == STOPPING && !SEEN_RUNNING(x) && reserved[x] -> phase[x] = DRAINING
	:: phase[x] == STOPPING && !SEEN_RUNNING(x) && !reserved[x] -> forget_job(x)
	:: else
	fi;
	if
	:: phase[x] == DRAINING && !behind[x] && SEEN_RUNNING(x) -> stop_intruder(l, x)
	:: else
	fi
}

/* What it writes: to the ledger, or to the Job. */
inline gate(l, j, x)
{
	if
	:: leads[l] && phase[x] == WAITING && SEEN_RUNNING(x) ->
		if
		:: MAY_ADOPT(l, j, x) -> adopt_late(l, j)
		:: else -> stop_intruder(l, x)
		fi
	:: phase[x] == STOPPING && !reserved[x] && SEEN_RUNNING(x) && MAY_ADOPT(l, j, x) -> adopt_late(l, j)
	:: leads[l] && MAY_RESERVE(l, j, x) -> reserve(l, j, x)
	:: phase[x] == STARTING && SEEN_SUSPENDED(x) && !behind[x] && !stop[x] && start_writes[x] == 0 &&
			MAY_SEND(l, x) ->
		start_tests[x] = seen_story[x];
		start_writes[x] = STORY(STARTED, attempt[x], my_epoch[l]);
		doubt[x] = 1
	:: phase[x] == STARTING && SEEN_SUSPENDED(x) && stop[x] && !doubt[x] -> release(l, j, x)
	:: phase[x] == FENCING && FENCED_BY_US(x) -> release(l, j, x)
	:: phase[x] == FENCING && !FENCED_BY_US(x) && tell_writes[x] == 0 && MAY_SEND(l, x) ->
		send_tell(x, STORY(FENCED, attempt[x], my_epoch[l]))
	:: phase[x] == RUNNING && !committed[x] -> tell_ledger(l, j, x, POSTED)
	:: phase[x] == STOPPING && tell_writes[x] == 0 && MAY_SEND(l, x) &&
			(reserved[x] || !MAY_ADOPT(l, j, x)) ->
		send_tell(x, STORY(STOPPED, ATTEMPT(seen_story[x]), my_epoch[l]))
	:: phase[x] == DRAINING && !behind[x] && DRAINED(j, x) -> release(l, j, x)
	:: phase[x] == DRAINING && !behind[x] && committed[x] && !told_stop[x] && seen_status_runs[x] ->
		tell_ledger(l, j, x, RELEASING)
	/* decide() */
	:: stops > 0 && !stop[x] && (phase[x] == STARTING || phase[x] == RUNNING) ->
		stops--;
		stop[x] = 1;
		reconcile(l, x)
	fi
}

active proctype gate_a()
{
	do
	:: atomic { gate(0, 0, BOTH(0, 0)) }
	:: atomic { gate(0, 1, BOTH(0, 1)) }
	od
}

active proctype gate_b()
{
	do
	:: atomic { gate(1, 0, BOTH(1, 0)) }
	:: atomic { gate(1, 1, BOTH(1, 1)) }
	od
}

/* ---- What goes on around them ------------------------------------------------------------------------ */

#define OUTDATED(l, j)                                                                             \
	(seen_story[BOTH(l, j)] != story[j] || seen_done[BOTH(l, j)] != done[j] ||                 \
		seen_status_runs[BOTH(l, j)] != status_runs[j])

/* The watch: gate_see_job(). */
inline see(l, j)
{
	copy_job(BOTH(l, j), j);
	reconcile(l, BOTH(l, j))
}

/* INTENT_READ */
inline read_job(l, j)
{
	behind[BOTH(l, j)] = 0;
	see(l, j)
}

inline watch(l)
{
	if
	:: behind[BOTH(l, 0)] -> read_job(l, 0)
	:: behind[BOTH(l, 1)] -> read_job(l, 1)
	:: OUTDATED(l, 0) -> see(l, 0)
	:: OUTDATED(l, 1) -> see(l, 1)
	fi
}

/* lease_renew.sql, attach.sql. */
inline renew(l)
{
	if
	:: leads[l] && !MAY_WRITE(l) -> end_process(l)
	:: leads[l] && MAY_WRITE(l) && settles[l] && !moved -> moved = 1
	fi
}

#define USE_THAT_RUNS(l) ((phase[BOTH(l, 0)] == RUNNING) + (phase[BOTH(l, 1)] == RUNNING))

inline settle(l)
{
	leads[l] && settles[l] && MAY_WRITE(l) && SETTLED(l) ->
	assert(USE_THAT_RUNS(l) <= QUOTA); /* so make_room() stops nobody */
	settles[l] = 0;
	forgot = 0;
	moved = 0 /* with the next lease_renew.sql */
}

#define LEASE_IS_FREE ((!leads[0] || !MAY_WRITE(0)) && (!leads[1] || !MAY_WRITE(1)))

active proctype cluster()
{
	do
	:: atomic { job_controller(0) }
	:: atomic { job_controller(1) }
	:: atomic { watch(0) }
	:: atomic { watch(1) }
	:: atomic { renew(0) }
	:: atomic { renew(1) }
	:: atomic { settle(0) }
	:: atomic { settle(1) }
	:: atomic { !leads[0] && LEASE_IS_FREE -> take_over(0) }
	:: atomic { !leads[1] && LEASE_IS_FREE && epoch > 0 -> take_over(1) }
	od
}

active proctype network()
{
	do
	:: atomic { start_writes[BOTH(0, 0)] != 0 -> land_start(0, 0) }
	:: atomic { start_writes[BOTH(0, 1)] != 0 -> land_start(0, 1) }
	:: atomic { start_writes[BOTH(1, 0)] != 0 -> land_start(1, 0) }
	:: atomic { start_writes[BOTH(1, 1)] != 0 -> land_start(1, 1) }
	:: atomic { tell_writes[BOTH(0, 0)] != 0 -> land_tell(0, 0) }
	:: atomic { tell_writes[BOTH(0, 1)] != 0 -> land_tell(0, 1) }
	:: atomic { tell_writes[BOTH(1, 0)] != 0 -> land_tell(1, 0) }
	:: atomic { tell_writes[BOTH(1, 1)] != 0 -> land_tell(1, 1) }
	od
}

/* ---- Faults ------------------------------------------------------------------------------------------ */

inline replicate()
{
	old_epoch = epoch;
	old_holder = holder;
	old_held[0] = held[0]; old_held_attempt[0] = held_attempt[0]; old_used_attempt[0] = used_attempt[0];
	old_held[1] = held[1]; old_held_attempt[1] = held_attempt[1]; old_used_attempt[1] = used_attempt[1]
}

inline go_back()
{
	epoch = old_epoch;
	holder = old_holder;
	held[0] = old_held[0]; held_attempt[0] = old_held_attempt[0]; used_attempt[0] = old_used_attempt[0];
	held[1] = old_held[1]; held_attempt[1] = old_held_attempt[1]; used_attempt[1] = old_used_attempt[1];
	forgot = 1
}

#define REPLICA_IS_BEHIND                                                                          \
	(old_epoch != epoch || old_holder != holder || old_held[0] != held[0] ||                   \
		old_held[1] != held[1] || old_held_attempt[0] != held_attempt[0] ||                \
		old_held_attempt[1] != held_attempt[1] || old_used_attempt[0] != used_attempt[0] || \
		old_used_attempt[1] != used_attempt[1])

active proctype faults()
{
	do
	:: atomic { sleeps > 0 && !leads[0] && leads[1] && MAY_WRITE(1) -> sleeps--; take_over(0) }
	:: atomic { sleeps > 0 && !leads[1] && leads[0] && MAY_WRITE(0) -> sleeps--; take_over(1) }
	:: atomic { deaths > 0 && leads[0] -> deaths--; end_process(0) }
	:: atomic { deaths > 0 && leads[1] -> deaths--; end_process(1) }
	:: atomic { drops > 0 && start_writes[BOTH(0, 0)] != 0 -> drops--; lose_start(0, 0) }
	:: atomic { drops > 0 && start_writes[BOTH(1, 0)] != 0 -> drops--; lose_start(1, 0) }
	:: atomic { drops > 0 && tell_writes[BOTH(0, 0)] != 0 -> drops--; lose_tell(0, 0) }
	:: atomic { drops > 0 && tell_writes[BOTH(1, 0)] != 0 -> drops--; lose_tell(1, 0) }
	:: atomic { failovers + restores > 0 && REPLICA_IS_BEHIND -> replicate() }
	:: atomic { failovers > 0 -> failovers--; go_back(); moved = 1; timeline++ }
	/* pg_restore on the same server: nothing tells of it but what is missing. */
	:: atomic { restores > 0 && !leads[0] && !leads[1] && NO_START_UNDER_WAY && epoch > 0 ->
		restores--;
		go_back();
		copy_job(0, 0); copy_job(1, 1); copy_job(2, 0); copy_job(3, 1)
	}
	od
}

/* P7: when faults have ended, all that fits has run, and no reservation is left. */
ltl all_run { <> (done[0] && done[1] && held[0] == FREE && held[1] == FREE) }
