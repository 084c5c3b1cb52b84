/* The pulse: process 0 and every other process signal each other now and then that they are there, whatever slackline does
 * meanwhile. Who is silent for long is stopped, or its host is gone, or the connection: it would not be noticed, for MPI
 * waits forever. */
#define _GNU_SOURCE
#include "bridge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How long a process may be silent, in s. Tests make it short. */
#ifndef SILENCE_LIMIT
#define SILENCE_LIMIT 60
#endif

/* How often it signals, in ms. */
#ifndef BEAT
#define BEAT (SILENCE_LIMIT < 12 ? 1000 : SILENCE_LIMIT * 1000 / 12)
#endif

enum { TAG_PULSE = 2 };

/* How long the last signals may take, in s, before MPI ends without them. */
enum { FAREWELL_LIMIT = 2 };

static const int64_t ms = INT64_C(1000000), second = INT64_C(1000000000);

/* A peer: of process 0 all others, of those process 0. */
struct peer {
	MPI_Request beat;
	int64_t seen; /* when */
	int left;     /* its last signal is here */
};

static char farewell; /* the last signal of a process has a byte, all others have none */

static struct peer *peers;
static char (*hosts)[HOST_NAME];
static int64_t next, before;

static int first_peer(void) { return bridge_rank == 0 ? 1 : 0; }
static int peers_end(void) { return bridge_rank == 0 ? bridge_size : 1; }

void bridge_pulse_begin(char (*names)[HOST_NAME])
{
	peers = bridge_room(sizeof *peers * (size_t)peers_end());
	hosts = names;
	before = bridge_now();
	next = before;
	for (int p = first_peer(); p < peers_end(); p++)
		peers[p] = (struct peer){.beat = MPI_REQUEST_NULL, .seen = before};
}

/* beat signals all peers that this process is there, but not again before the last time has left. */
static void beat(void)
{
	for (int p = first_peer(); p < peers_end(); p++) {
		int gone;
		MPI_Test(&peers[p].beat, &gone, MPI_STATUS_IGNORE);
		if (gone)
			MPI_Isend(NULL, 0, MPI_BYTE, p, TAG_PULSE, bridge_failures, &peers[p].beat);
	}
}

static void listen_to_all(int64_t now)
{
	for (;;) {
		int there, bytes;
		char byte;
		MPI_Status status;
		MPI_Iprobe(MPI_ANY_SOURCE, TAG_PULSE, bridge_failures, &there, &status);
		if (!there)
			return;
		MPI_Recv(&byte, 1, MPI_BYTE, status.MPI_SOURCE, TAG_PULSE, bridge_failures, &status);
		MPI_Get_count(&status, MPI_BYTE, &bytes);
		peers[status.MPI_SOURCE].seen = now;
		peers[status.MPI_SOURCE].left = bytes > 0;
	}
}

/* bridge_pulse_end takes what the peers have sent, all of it: MPI libraries warn of messages that nobody has received, some
 * of them on the standard output. A farewell overtakes no signal. */
void bridge_pulse_end(void)
{
	if (bridge_size == 1 || peers == NULL)
		return;
	int64_t until = bridge_now() + FAREWELL_LIMIT * second;
	int said = 0, waits = 1; /* the peers before said know that this process leaves */
	for (unsigned times = 0; waits && bridge_now() < until; bridge_doze(&times)) {
		waits = 0;
		for (int p = first_peer(); p < peers_end(); p++) {
			int gone;
			MPI_Test(&peers[p].beat, &gone, MPI_STATUS_IGNORE);
			if (gone && p == first_peer() + said) {
				MPI_Isend(&farewell, 1, MPI_BYTE, p, TAG_PULSE, bridge_failures, &peers[p].beat);
				said++;
				gone = 0;
			}
			waits |= !gone || !peers[p].left;
		}
		listen_to_all(bridge_now());
	}
}

void bridge_pulse(void)
{
	if (bridge_size == 1 || peers == NULL)
		return;
	int64_t now = bridge_now();
	if (now < next)
		return;
	next = now + BEAT * ms / 4;
	listen_to_all(now);
	/* This process itself may have been stopped, and so may all have been. */
	int slept = now - before > SILENCE_LIMIT / 4 * second + second;
	before = now;
	static int64_t beaten;
	if (now - beaten > BEAT * ms) {
		beat();
		beaten = now;
	}
	for (int p = first_peer(); p < peers_end(); p++) {
		if (slept)
			peers[p].seen = now;
		if (now - peers[p].seen < SILENCE_LIMIT * second)
			continue;
		char text[1024];
		snprintf(text, sizeof text, "process %d on %s has not answered for %d s: it is stopped, or its host or the connection to it is gone",
			p, bridge_rank == 0 ? hosts[p] : bridge_life->line.host, SILENCE_LIMIT);
		bridge_miss(text);
		return;
	}
}
