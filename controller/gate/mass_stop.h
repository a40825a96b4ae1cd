/* A mass of runs without a reservation: mass_stop.c waits before they are stopped. */
#ifndef SLUICE_CONTROLLER_GATE_MASS_STOP_H
#define SLUICE_CONTROLLER_GATE_MASS_STOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct explanation;
struct gate;
struct gate_job;

struct mass_stop {
	int64_t after_ms; /* 0: never */
	enum mass_stop_stage {
		MASS_STOP_NONE,
		MASS_STOP_WAITS, /* the mass runs on */
		MASS_STOP_STOPS, /* the mass is being stopped; starts wait for its pods to go */
	} stage;
	size_t spared, running;
	int64_t until_ms, look_ms, said_ms; /* by tick_ms */
};

void mass_stop_begin(struct gate *g); /* call it when the open reservations were adopted */
bool mass_stop_spares(const struct gate *g, const struct gate_job *j);
void mass_stop_tick(struct gate *g);
int64_t mass_stop_due_ms(const struct gate *g);
void explain_mass_stop(const struct gate *g, struct explanation *x);

#endif
