/* Exchanges: every process gives a part to every other. The parts lie one behind the other in shared
 * memory, each as its length (8 bytes) and its bytes, padded to 8. The first bytes of a part travel
 * with its length, so that small parts need one message; the rest follows in pieces that MPI can
 * count. */
#define _GNU_SOURCE
#include "bridge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TAG_FIRST = 1, TAG_REST = 2 };

/* A view of shared memory. */
struct view {
	char *at;
	size_t bytes;
};

static struct view out, in;

/* first_bytes is how much of a part, with its length, goes with the first message. With many
 * processes the room for it would be large. */
static size_t first_bytes(void) { return bridge_size <= 256 ? 4096 : 256; }

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
	first = bridge_room(n * first_bytes());
	room = 2 * bridge_size + 2;
	takes = bridge_room(sizeof *takes * (size_t)room);
	gives = bridge_room(sizeof *gives * (size_t)room);
}

static uint64_t length(const char *at)
{
	uint64_t n;
	memcpy(&n, at, sizeof n);
	return n;
}

/* pieces gives or takes what of a part does not go with the first message. */
static void pieces(int give, char *at, uint64_t bytes, int peer)
{
	for (uint64_t done = first_bytes(); done < bytes; done += LARGEST_PIECE) {
		int n = (int)(bytes - done < LARGEST_PIECE ? bytes - done : LARGEST_PIECE);
		MPI_Request r;
		if (give) {
			MPI_Isend(at + done, n, MPI_BYTE, peer, TAG_REST, bridge_exchanges, &r);
			add(&gives, &gives_n, r);
		} else {
			MPI_Irecv(at + done, n, MPI_BYTE, peer, TAG_REST, bridge_exchanges, &r);
			add(&takes, &takes_n, r);
		}
	}
}

/* give_all posts all parts of this process. */
static int give_all(uint64_t bytes)
{
	uint64_t at = 0;
	for (int p = 0; p < bridge_size; p++) {
		if (at + 8 > bytes || length(out.at + at) > bytes - at - 8)
			return 0;
		part[p] = out.at + at;
		at += 8 + padded(length(part[p]));
	}
	/* The next process first: not all at once to the same one. */
	for (int k = 1; k < bridge_size; k++) {
		int p = (bridge_rank + k) % bridge_size;
		uint64_t all = 8 + length(part[p]);
		MPI_Request r;
		MPI_Isend(part[p], (int)(all < first_bytes() ? all : first_bytes()), MPI_BYTE, p, TAG_FIRST, bridge_exchanges, &r);
		add(&gives, &gives_n, r);
		pieces(1, part[p], all, p);
	}
	return 1;
}

/* take_rest lays out what the others give, now that the lengths are known. */
static uint64_t take_rest(void)
{
	uint64_t bytes = 0;
	for (int p = 0; p < bridge_size; p++)
		bytes += 8 + (p == bridge_rank ? 0 : padded(length(first + (size_t)p * first_bytes())));
	grow(&in, bridge_in, bytes);
	char *at = in.at;
	takes_n = 0;
	for (int p = 0; p < bridge_size; p++) {
		char *from = first + (size_t)p * first_bytes();
		uint64_t all = 8 + (p == bridge_rank ? 0 : length(from));
		if (p == bridge_rank)
			memset(at, 0, 8);
		else
			memcpy(at, from, all < first_bytes() ? all : first_bytes());
		pieces(0, at, all, p);
		at += 8 + padded(all - 8);
	}
	return bytes;
}

int bridge_exchange(uint64_t bytes)
{
	prepare();
	map(&out, bridge_out, bytes);
	takes_n = gives_n = 0;
	for (int k = 1; k < bridge_size; k++) {
		int p = (bridge_rank + bridge_size - k) % bridge_size;
		MPI_Request r;
		MPI_Irecv(first + (size_t)p * first_bytes(), (int)first_bytes(), MPI_BYTE, p, TAG_FIRST, bridge_exchanges, &r);
		add(&takes, &takes_n, r);
	}
	if (!give_all(bytes))
		bridge_fatal("the parts of an exchange are not in order");
	if (!bridge_wait(takes_n, takes))
		return 0;
	uint64_t got = take_rest();
	if (!bridge_wait(takes_n, takes) || !bridge_wait(gives_n, gives))
		return 0;
	return bridge_answer(bridge_orders, ANSWER_FINE, 0, got);
}
