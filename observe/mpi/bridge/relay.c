/* Short parts of an exchange, passed on by other processes: the algorithm of Bruck and others (1997). In the
 * round of 2^k every process sends one message, to the process that is 2^k ahead of it, with all blocks whose distance
 * to their receiver has that bit. A block moves closer by each bit of its distance and so comes where it
 * belongs, in ceil(log2 P) messages of each process instead of P - 1.
 *
 * A block is a part, or only the length of one that is not short. A message is its size (4 bytes) and its blocks:
 * each its length (2 bytes) and its bytes, or LONG_PART and its length (8 bytes). */
#define _GNU_SOURCE
#include "bridge.h"

#include <string.h>

/* The longest part that is passed on, in bytes: each byte travels log2(P) / 2 times, which must cost less than a
 * message. */
#define SHORT_PART 512

enum { LONG_PART = 0xffff, SLOT = 8 + SHORT_PART, LARGEST_BLOCK = 2 + SHORT_PART, QUICK = 16, TAG_RELAY = 3 };

static char *slots;      /* by distance: the block for the process so far ahead; in the end, from the process that far before */
static char *leaves, *arrives;
static size_t largest;   /* message */

int bridge_is_short(uint64_t bytes) { return bytes <= SHORT_PART; }

static char *slot(int distance) { return slots + (size_t)distance * SLOT; }

const char *bridge_relayed(int from) { return slot((bridge_rank - from + bridge_size) % bridge_size); }

/* next returns the next distance that has a bit; the first one is the bit itself. */
static int next(int distance, int bit) { return (distance + 1) | bit; }

static void prepare(void)
{
	if (slots != NULL)
		return;
	/* Not all distances have the same bit. */
	largest = sizeof(uint32_t) + (size_t)(bridge_size - 1) * LARGEST_BLOCK;
	if (largest > INT32_MAX)
		bridge_fatal("%d processes are too many for an exchange", bridge_size);
	leaves = bridge_room(largest + QUICK);
	arrives = bridge_room(largest + QUICK);
	slots = bridge_room((size_t)bridge_size * SLOT);
}

/* copy copies the bytes of a block. Most are so few that it is faster to copy more than to count; there is room for it. */
static void copy(char *to, const char *from, size_t bytes)
{
	if (bytes <= QUICK)
		memcpy(to, from, QUICK);
	else
		memcpy(to, from, bytes);
}

/* pack writes the blocks of a round and returns their size. */
static int pack(int bit)
{
	char *at = leaves + sizeof(uint32_t);
	for (int d = bit; d < bridge_size; d = next(d, bit)) {
		uint64_t bytes = bridge_length(slot(d));
		uint16_t mark = bridge_is_short(bytes) ? (uint16_t)bytes : LONG_PART;
		memcpy(at, &mark, sizeof mark);
		at += sizeof mark;
		size_t rest = mark == LONG_PART ? 8 : mark;
		copy(at, slot(d) + (mark == LONG_PART ? 0 : 8), rest);
		at += rest;
	}
	uint32_t bytes = (uint32_t)(at - leaves);
	memcpy(leaves, &bytes, sizeof bytes);
	return (int)bytes;
}

/* unpack takes the blocks of a round out of a message. */
static int unpack(int bit)
{
	uint32_t all;
	memcpy(&all, arrives, sizeof all);
	if (all < sizeof all || all > largest)
		return 0;
	const char *at = arrives + sizeof all, *end = arrives + all;
	for (int d = bit; d < bridge_size; d = next(d, bit)) {
		uint16_t mark;
		if (end - at < (ptrdiff_t)sizeof mark)
			return 0;
		memcpy(&mark, at, sizeof mark);
		at += sizeof mark;
		size_t rest = mark == LONG_PART ? 8 : mark;
		uint64_t length = mark;
		if ((size_t)(end - at) < rest || (mark != LONG_PART && !bridge_is_short(mark)))
			return 0;
		if (mark == LONG_PART)
			memcpy(&length, at, sizeof length);
		else
			copy(slot(d) + 8, at, rest);
		memcpy(slot(d), &length, sizeof length);
		at += rest;
	}
	return at == end;
}

int bridge_relay(char *const *part)
{
	prepare();
	for (int d = 1; d < bridge_size; d++) {
		const char *from = part[(bridge_rank + d) % bridge_size];
		uint64_t bytes = bridge_length(from);
		memcpy(slot(d), from, 8 + (bridge_is_short(bytes) ? bytes : 0));
	}
	for (int bit = 1; bit < bridge_size; bit <<= 1) {
		MPI_Request both[2];
		int before = (bridge_rank + bridge_size - bit) % bridge_size;
		MPI_Irecv(arrives, (int)largest, MPI_BYTE, before, TAG_RELAY, bridge_exchanges, &both[0]);
		MPI_Isend(leaves, pack(bit), MPI_BYTE, (bridge_rank + bit) % bridge_size, TAG_RELAY, bridge_exchanges, &both[1]);
		if (!bridge_wait(2, both, 0))
			return 0;
		if (!unpack(bit))
			bridge_fatal("a message of an exchange is not in order");
	}
	return 1;
}
