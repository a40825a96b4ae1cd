/*
 * A waiting room: clients that were accepted and wait to be let in, where more come than may.
 *
 * Addresses have turns: the next is the client whose address was let in longest ago; of those that
 * are alike, the one that came first. An address that was not let in among the last 2,048 counts as
 * one that was 2,048 ago. Where the room is full, the newest client goes of
 * the address that has most of them there; of those that are alike, of the address that was let in
 * last. So a client waits for one turn of each other address at most, however often others come.
 */
#ifndef SLUICE_CONTROLLER_NET_WAITING_ROOM_H
#define SLUICE_CONTROLLER_NET_WAITING_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct waiting_room;

struct waiting_client {
	int fd;
	uint64_t address; /* a number that stands for it */
	struct sockaddr_storage from;
	socklen_t len;
};

struct waiting_room *waiting_room_new(size_t places);
/* Frees it when all have been taken out. NULL is fine. */
void waiting_room_free(struct waiting_room *r);

/* Adds a client. Gives the fd of the one that has to go for it; -1: there is a place for all. */
int waiting_room_add(struct waiting_room *r, const struct waiting_client *client);
/* Takes out the client that is next. False: there is none. */
bool waiting_room_take(struct waiting_room *r, struct waiting_client *ret);

#endif
