/*
 * Effect: what of a spec has none, so that its author is told.
 *
 *   names     that find nothing: names[] lists what each kind may name, features/targets.h knows how a name of
 *             each kind is found, and which one its author may have meant. What the condition Active says
 *             is not there is told there alone
 *   settings  that nothing heeds: settings[] has a judge for each
 *
 * What is said is worked out of the facts when it is asked for, and nothing is kept. So the order in
 * which objects come and go does not matter: a name is found as soon as there is what it names.
 *
 * None of it decides anything. What does (a ClusterQueue without its flavor is inactive) is decided
 * where that is read.
 *
 * When a field that names something is added: a row in names[], and where it names another kind of
 * object than the others a target. When a setting needs another one to have an effect: a row in
 * settings[].
 */
#ifndef SLUICE_QUEUE_EFFECT_EFFECT_H
#define SLUICE_QUEUE_EFFECT_EFFECT_H

struct localqueue;
struct text;

/* Why the namespace of a LocalQueue whose gate is GATE_NOT_SELECTED is not selected, and the cure. */
void effect_say_not_selected(const struct localqueue *lq, struct text *t);

#endif
