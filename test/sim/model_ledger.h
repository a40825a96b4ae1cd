/*
 * A ledger in memory that obeys controller/ledger/ledger.h: what the real one in Postgres must do,
 * without sockets, clock or rows. The simulation runs gates against it, and the driver's parity
 * test runs the same operations against this and against Postgres and compares.
 *
 * Where ledger.h leaves room, this is the reading (the parity test holds Postgres to it too):
 *
 *   - a batch is fenced as a whole, by the epoch alone: a lease that has run out but was taken by
 *     no leader of before still writes, since it alone decides;
 *   - operations of a batch take effect in order, each seeing those before it; one that is REFUSED
 *     or SPENT does not stop those after it;
 *   - a key (uid, attempt, kind, seq) is used up only by taking effect: a RESERVE that was REFUSED
 *     may be asked again under the same attempt, a COMMIT without a reservation leaves no trace;
 *   - RESERVE is REFUSED when any row would grow past its ceiling, be it one of its lines' or one
 *     further up in the tree; a row that has no CEILING yet has ceiling 0; an amount of 0 is no
 * line;
 *   - STOP moves pending as well as posted to releasing. COMMIT of a reservation that is releasing
 *     already begins the segment and leaves it releasing (APPLIED, once);
 *   - ADOPT is a RESERVE that is never refused: the bound of each row follows its use;
 *   - SHRINK lowers each line to the amount given, to nothing when it is not given, and raises
 *     none, so that two of them may come in any order;
 *   - GROW raises each line to the amount given, and lowers none: a posted reservation's, where what
 *     that takes more would not be REFUSED as a RESERVE. One that `adopts` is never refused, as ADOPT;
 *   - RELEASE and VOID close a reservation in any state; asked again they are SPENT, like
 *     everything else on a closed reservation (REPEATED always means: still open);
 *   - CEILING takes effect every time (APPLIED) and is never refused; the row of its parent exists
 *     from then on;
 *   - what a row's children pass up is added up anew after each operation: the model knows the rule
 *     and not how to be quick about it;
 *   - next_attempt is the highest attempt ever reserved, plus one.
 */
#ifndef SLUICE_TEST_SIM_MODEL_LEDGER_H
#define SLUICE_TEST_SIM_MODEL_LEDGER_H

#include "base/buf.h"
#include "controller/ledger/ledger.h"

struct model_ledger;

struct model_ledger *model_ledger_new(void);
/* Another one, that has another key for the stories. */
struct model_ledger *model_ledger_new_key(uint64_t key);
void model_ledger_free(struct model_ledger *l);

/* ---- What a driver asks; now_ms is the database's clock ---------------------------------------
 */

/* epoch 0: take the lease if it was never held, ran out, was given back, or was taken on another
 * timeline (a new epoch, beyond epoch_seen). Else: renew that epoch, if it is still the current one;
 * settled: starts are not paused. Either way *ret is the lease as it is afterwards, with held telling
 * about the asker. */
void model_ledger_lease(struct model_ledger *l, const char *holder, int64_t epoch,
	int64_t epoch_seen, int64_t lease_ms, bool settled, int64_t now_ms,
	struct ledger_lease *ret);
/* The number of the last batch. */
int64_t model_ledger_batches(const struct model_ledger *l);
/* As it is now: what a standby has that got no more, or a backup. On another timeline. */
struct model_ledger *model_ledger_copy(const struct model_ledger *l);
void model_ledger_resign(struct model_ledger *l, int64_t epoch);

/* The open reservations by uid, then attempt, as they are now. *ret is yours (free), its strings
 * are good as long as the ledger; untouched when LEDGER_FENCED. */
enum ledger_outcome model_ledger_load(const struct model_ledger *l, int64_t epoch,
	struct ledger_reservation **ret, size_t *ret_n);

/* The first `upto` operations take effect (SIZE_MAX: all): a connection that breaks while a batch
 * is sent operation by operation leaves a first part. results: one for each of these; or NULL. */
enum ledger_outcome model_ledger_batch(struct model_ledger *l, const struct ledger_batch *b,
	size_t upto, struct ledger_result *results);

/* ---- What a test looks at; borrowed until the next call that writes ---------------------------
 */

#define NO_ROW SIZE_MAX
struct model_row {
	const char *node, *flavor, *resource;
	int64_t ceiling;
	int64_t pending, posted, releasing;
	const char *parent; /* node, "" when it has none */
	size_t up;	    /* where the parent stands among the rows; NO_ROW: it is none of them */
	int64_t guaranteed;
	int64_t members; /* what its children pass up: use beyond what is guaranteed to each */
	bool linked;	 /* it has a parent and counts there: no circle of parents */
	bool is_parent;
	bool squeezed; /* see model_ledger_squeeze() */
	/* What use may reach: the ceiling, or the use there was when the ceiling was lowered below
	 * it, as long as use has not come down to it since. */
	int64_t bound;
};
/* In the order in which they were first named. */
size_t model_ledger_rows(const struct model_ledger *l, const struct model_row **ret);
/* pending + posted + releasing + members of one row, 0 when unknown */
int64_t model_ledger_use(
	const struct model_ledger *l, const char *node, const char *flavor, const char *resource);

/* A reservation, open or closed, with all that was ever said about it. */
struct model_reservation {
	struct ledger_reservation reservation; /* closed: its state and lines are those of before */
	bool open;
	bool committed, stopped, estimated;
	int32_t resolved; /* times that RELEASE or VOID took effect: 1 when closed */
	enum ledger_kind closed_by;
	enum ledger_state closed_from;
	int64_t closed_ms;
	int64_t epoch, close_epoch;	     /* of the batches with RESERVE, with RELEASE or VOID */
	char *owner, *labels, *submitted_by; /* as given by RESERVE; the last two NULL: none */
	int64_t created_ms;		     /* the same */
	enum ledger_job_outcome outcome;     /* as given by RELEASE */
	struct {
		bool priced;
		char *plan, *currency, *price;
		int64_t cost;
	} bill; /* as given by RELEASE */
	struct {
		int64_t at_ms, lost_ms;
		char *reason, *actor; /* NULL when the operation did not say */
	} stop, close;		      /* as given by STOP, and by RELEASE or VOID */
	struct model_resize {
		enum ledger_kind kind;
		int32_t seq;
	} * resized; /* the SHRINKs and GROWs that took effect */
	size_t nresized;
};
/* In order of RESERVE. */
size_t model_ledger_reservations(
	const struct model_ledger *l, const struct model_reservation *const **ret);
const struct model_reservation *model_ledger_reservation(
	const struct model_ledger *l, const struct uid *uid, int32_t attempt);
/* What a Job holds now; NULL: nothing. */
const struct model_reservation *model_ledger_open_reservation(
	const struct model_ledger *l, const struct uid *uid);

/* Its own books: each balance is the sum over the open reservations, and above that what its
 * children pass up; none negative, none above its bound, no reservation resolved twice, at most one
 * open reservation for each Job. False with a sentence in why. */
bool model_ledger_check(const struct model_ledger *l, struct buf *why);

/* ---- Others -------------------------------------------------------------------------------------
 */

/* Another cell that shares a row takes what is left of it, or gives it back: while it is squeezed,
 * every RESERVE that wants of it is REFUSED. row: an index into model_ledger_rows(). */
void model_ledger_squeeze(struct model_ledger *l, size_t row, bool squeezed);

/* ---- Planted faults ---------------------------------------------------------------------------
 */

/* The statement for this kind forgets the epoch: such operations land whichever leader sends them. */
void model_ledger_plant_unfenced(struct model_ledger *l, enum ledger_kind k);
/* A lease that was taken on another timeline is good on this one. */
void model_ledger_plant_on_any_server(struct model_ledger *l);

#endif
