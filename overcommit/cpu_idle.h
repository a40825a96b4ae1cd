/*
 * Whether the lent pods of a node are put on cpu.idle: their tier then runs only when no ordinary
 * task wants the cpu. (node/suppress.h)
 */
#ifndef SLUICE_OVERCOMMIT_CPU_IDLE_H
#define SLUICE_OVERCOMMIT_CPU_IDLE_H

enum cpu_idle {
	CPU_IDLE_NEVER,
	CPU_IDLE_AUTO, /* on kernels that need it, where the kubelet's driver allows it */
	CPU_IDLE_ALWAYS,
};

#endif
