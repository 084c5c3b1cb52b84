/* Exchanges: every process gives a part to every other. The parts are one after the other in shared
 * memory, each as its length (8 bytes) and its bytes, padded to 8.
 *
 * Among few processes every part goes straight to its receiver: its first bytes travel with its length, so
 * that short parts need one message; the rest follows in pieces that MPI can count. Among many, short parts
 * and the lengths of long ones are passed on by other processes (relay.c), because log P messages cost less
 * than P; what is long still goes straight. */
#define _GNU_SOURCE
#include "bridge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* From how many processes on short parts are passed on. Tests make it small. */
#ifndef RELAY_FROM
#define RELAY_FROM 16
#endif

enum { TAG_FIRST = 1, TAG_REST = 2 };

/* FIRST_BYTES is how much of a part, with its length, goes with the first message. */
enum { FIRST_BYTES = 4096 };

/* A view of shared memory. */
struct view {
	char *at;
	size_t bytes;
};

static struct view out, in;

static uint64_t padded(uint64_t bytes) { return (bytes + 7) / 8 * 8; }

static void map(struct view *v, int file, size_t bytes)
{
	if (bytes <= v->bytes)
		return;
	if (v->at != NULL)
		munmap(v->at, v->bytes);
	v->at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (v->at == MAP_FAILED)
		bridge_fatal("no memory for %zu bytes of an exchange: %s", bytes, strerror(errno));
	v->bytes = bytes;
}

/* grow makes shared memory large enough. It reserves it: memory that is missing is found here, not by
 * a signal later. */
static void grow(struct view *v, int file, size_t bytes)
{
	if (bytes <= v->bytes)
		return;
	size_t more = v->bytes < (64u << 20) ? v->bytes : (64u << 20);
	if (bytes < v->bytes + more)
		bytes = v->bytes + more;
	bytes = (bytes + 4095) / 4096 * 4096;
	int failed = posix_fallocate(file, 0, (off_t)bytes);
	if (failed)
		bridge_fatal("no memory for %zu bytes of an exchange: %s", bytes, strerror(failed));
	map(v, file, bytes);
}

/* What is kept from one exchange to the next, by process. */
static char **part;        /* its part in the shared memory, with the length before it */
static char *first;        /* room for first messages */
static MPI_Request *takes, *gives;
static int takes_n, gives_n, room;
static uint64_t long_bytes; /* that go straight, out and in */

static int relayed(void) { return bridge_size >= RELAY_FROM; }

static void add(MPI_Request **list, int *n, MPI_Request r)
{
	if (takes_n == room || gives_n == room) {
		room *= 2;
		takes = realloc(takes, sizeof *takes * (size_t)room);
		gives = realloc(gives, sizeof *gives * (size_t)room);
		if (takes == NULL || gives == NULL)
			bridge_fatal("no memory for %d requests", room);
	}
	(*list)[(*n)++] = r;
}

static void prepare(void)
{
	if (part != NULL)
		return;
	size_t n = (size_t)bridge_size;
	part = bridge_room(n * sizeof *part);
	if (!relayed())
		first = bridge_room(n * FIRST_BYTES);
	room = 2 * bridge_size + 2;
	takes = bridge_room(sizeof *takes * (size_t)room);
	gives = bridge_room(sizeof *gives * (size_t)room);
}

/* pieces gives or takes the bytes of a part from start to end. */
static void pieces(int give, char *at, uint64_t start, uint64_t end, int peer)
{
	for (uint64_t done = start; done < end; done += LARGEST_PIECE) {
		int n = (int)(end - done < LARGEST_PIECE ? end - done : LARGEST_PIECE);
		MPI_Request r;
		long_bytes += (uint64_t)n;
		if (give) {
			MPI_Isend(at + done, n, MPI_BYTE, peer, TAG_REST, bridge_exchanges, &r);
			add(&gives, &gives_n, r);
		} else {
			MPI_Irecv(at + done, n, MPI_BYTE, peer, TAG_REST, bridge_exchanges, &r);
			add(&takes, &takes_n, r);
		}
	}
}

/* find_parts finds the parts of this process for the others. */
static void find_parts(uint64_t bytes)
{
	uint64_t at = 0;
	for (int p = 0; p < bridge_size; p++) {
		if (at + 8 > bytes || bridge_length(out.at + at) > bytes - at - 8)
			bridge_fatal("the parts of an exchange are not in order");
		part[p] = out.at + at;
		at += 8 + padded(bridge_length(part[p]));
	}
}

/* The two ways. begin posts what can be posted at once and returns when the lengths of all parts are known; 0: it
 * is useless to wait for them. head then returns the length of the part of a process with those of its bytes that
 * have come with it, and *known how many bytes of both there are. */

static int begin_straight(void)
{
	for (int k = 1; k < bridge_size; k++) {
		int p = (bridge_rank + bridge_size - k) % bridge_size;
		MPI_Request r;
		MPI_Irecv(first + (size_t)p * FIRST_BYTES, FIRST_BYTES, MPI_BYTE, p, TAG_FIRST, bridge_exchanges, &r);
		add(&takes, &takes_n, r);
	}
	/* The next process first: not all at once to the same one. */
	for (int k = 1; k < bridge_size; k++) {
		int p = (bridge_rank + k) % bridge_size;
		uint64_t all = 8 + bridge_length(part[p]);
		MPI_Request r;
		MPI_Isend(part[p], (int)(all < FIRST_BYTES ? all : FIRST_BYTES), MPI_BYTE, p, TAG_FIRST, bridge_exchanges, &r);
		add(&gives, &gives_n, r);
		pieces(1, part[p], FIRST_BYTES, all, p);
	}
	return bridge_wait(takes_n, takes, 0);
}

static int begin_relayed(void)
{
	for (int k = 1; k < bridge_size; k++) {
		int p = (bridge_rank + k) % bridge_size;
		uint64_t bytes = bridge_length(part[p]);
		if (!bridge_is_short(bytes))
			pieces(1, part[p], 8, 8 + bytes, p);
	}
	return bridge_relay(part);
}

static const char *head(int p, uint64_t *known)
{
	const char *at = relayed() ? bridge_relayed(p) : first + (size_t)p * FIRST_BYTES;
	uint64_t all = 8 + bridge_length(at);
	if (relayed())
		*known = bridge_is_short(all - 8) ? all : 8;
	else
		*known = all < FIRST_BYTES ? all : FIRST_BYTES;
	return at;
}

/* take_rest lays out what the others give, now that the lengths are known. */
static uint64_t take_rest(void)
{
	uint64_t bytes = 0, known;
	for (int p = 0; p < bridge_size; p++)
		bytes += 8 + (p == bridge_rank ? 0 : padded(bridge_length(head(p, &known))));
	grow(&in, bridge_in, bytes);
	char *at = in.at;
	takes_n = 0;
	for (int p = 0; p < bridge_size; p++) {
		if (p == bridge_rank) {
			memset(at, 0, 8);
			at += 8;
			continue;
		}
		const char *from = head(p, &known);
		uint64_t all = 8 + bridge_length(from);
		memcpy(at, from, known);
		pieces(0, at, known, all, p);
		at += 8 + padded(all - 8);
	}
	return bytes;
}

int bridge_exchange(uint64_t bytes)
{
	prepare();
	map(&out, bridge_out, bytes);
	find_parts(bytes);
	takes_n = gives_n = 0;
	long_bytes = 0;
	if (!(relayed() ? begin_relayed() : begin_straight()))
		return 0;
	uint64_t got = take_rest();
	/* All are in this exchange now, or they would not have sent how much they give. */
	if (!bridge_wait(takes_n, takes, long_bytes) || !bridge_wait(gives_n, gives, long_bytes))
		return 0;
	return bridge_answer(bridge_orders, ANSWER_FINE, 0, got);
}
