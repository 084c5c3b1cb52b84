/* Comparisons of the clocks of ranks: pings with all their stamps, along a tree or one rank after the other. Clocks can be
 * given a false offset and a false drift, so that the truth is known. What the stamps mean is found out elsewhere. */
#include "bench.h"
#include "clockid.h"

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PING = 11, PONG = 12, LAST = 13, KNOWN = 14, TOKEN = 15, STAMPS = 3 };

static long long false_offset; /* ns */
static long long false_drift;  /* parts in 10^12 */

/* What this rank's clock shows: offset + (1 + drift) t. */
static long long clock_now(void)
{
	long long t = bench_now();
	return false_offset + t + (long long)((__int128)t * false_drift / 1000000000000LL);
}

long long bench_clock(void) { return clock_now(); }

/* One round after another of pings to a rank until none was shorter for so many, most at most; returns how many. */
static long ask(int other, long patience, long most, long long *stamps)
{
	long n = 0, since = 0;
	long long best = INT64_MAX, answered;
	while (n < most && since < patience) {
		long long *s = stamps + STAMPS * n++;
		char nothing = 0;
		s[0] = clock_now();
		MPI_Send(&nothing, 1, MPI_BYTE, other, PING, MPI_COMM_WORLD);
		bench_take(&answered, sizeof answered, other, PONG);
		s[2] = clock_now();
		s[1] = answered;
		since++;
		if (s[2] - s[0] < best) {
			best = s[2] - s[0];
			since = 0;
		}
	}
	char nothing = 0;
	MPI_Send(&nothing, 1, MPI_BYTE, other, LAST, MPI_COMM_WORLD);
	return n;
}

static void answer(int other)
{
	for (;;) {
		char nothing;
		int tag = bench_take(&nothing, 1, other, MPI_ANY_TAG);
		long long now = clock_now();
		if (tag == LAST)
			return;
		MPI_Send(&now, sizeof now, MPI_BYTE, other, PONG, MPI_COMM_WORLD);
	}
}

/* The offset of the other clock by the shortest ping. */
static long long offset_of(const long long *stamps, long n)
{
	long best = 0;
	for (long i = 1; i < n; i++)
		if (stamps[STAMPS * i + 2] - stamps[STAMPS * i] < stamps[STAMPS * best + 2] - stamps[STAMPS * best])
			best = i;
	const long long *s = stamps + STAMPS * best;
	return s[1] - (s[0] + (s[2] - s[0]) / 2);
}

/* The pings that this rank asked: by whom they were answered, in which round, and their stamps. */
struct asked {
	long long answerer, round, n;
	long long *stamps;
};

struct session {
	long ranks, patience, most;
	long long *known; /* offsets of ranks to this one, by their distance */
	struct asked *asked;
	int count;
};

static long long compare(struct session *s, int other, int round)
{
	struct asked *a = &s->asked[s->count++];
	a->answerer = other;
	a->round = round;
	a->n = ask(other, s->patience, s->most, a->stamps);
	return offset_of(a->stamps, a->n);
}

/* The tree: pairs in ceil(log2 ranks) rounds, offsets handed on to the parents, rank 0 sends the result to all. */
static void tree(struct session *s)
{
	int rank = bench_rank, round = 1;
	long power = 1;
	while (2 * power <= s->ranks)
		power *= 2;
	for (long half = 1; half < power && rank < power; half *= 2, round++) {
		if (rank % (2 * half) == half) {
			answer((int)(rank - half));
			if (half > 1)
				MPI_Send(s->known + 1, (int)(half - 1), MPI_LONG_LONG, (int)(rank - half), KNOWN, MPI_COMM_WORLD);
			break;
		}
		s->known[half] = compare(s, (int)(rank + half), round);
		if (half > 1) {
			bench_take(s->known + half + 1, (half - 1) * (long)sizeof *s->known, (int)(rank + half), KNOWN);
			for (long i = 1; i < half; i++)
				s->known[half + i] += s->known[half];
		}
	}
	round = 1;
	for (long half = 1; half < power; half *= 2)
		round++;
	if (rank >= power) {
		answer((int)(rank - power));
	} else if (rank < s->ranks - power) {
		long long offset = compare(s, (int)(rank + power), round);
		if (rank > 0)
			MPI_Send(&offset, 1, MPI_LONG_LONG, 0, KNOWN, MPI_COMM_WORLD);
		else
			s->known[power] = offset;
	}
	for (long r = 1; rank == 0 && r < s->ranks - power; r++) {
		bench_take(&s->known[power + r], sizeof *s->known, (int)r, KNOWN);
		s->known[power + r] += s->known[r];
	}
}

/* Rank 0 with every other one, one after the other. */
static void linear(struct session *s)
{
	for (int r = 1; r < s->ranks; r++) {
		if (bench_rank == 0)
			s->known[r] = compare(s, r, r);
		else if (bench_rank == r)
			answer(0);
	}
}

/* Every rank learns its offset. */
static void announce(struct session *s)
{
	long long mine;
	for (int r = 1; bench_rank == 0 && r < s->ranks; r++)
		MPI_Send(&s->known[r], 1, MPI_LONG_LONG, r, KNOWN, MPI_COMM_WORLD);
	if (bench_rank > 0)
		bench_take(&mine, sizeof mine, 0, KNOWN);
}

/* All ranks below a number wait for each other. */
static void together(long ranks)
{
	char token = 0;
	for (long far = 1; far < ranks; far *= 2) {
		MPI_Send(&token, 1, MPI_BYTE, (int)((bench_rank + far) % ranks), TOKEN, MPI_COMM_WORLD);
		bench_take(&token, 1, (int)((bench_rank + ranks - far) % ranks), TOKEN);
	}
}

/* Rank 0 prints how long it took and all pings of all pairs: asker, answerer, round, number, stamps. */
static void report(const struct session *s, long long took)
{
	long room = 2 + s->ranks * (4 + STAMPS * s->most), n = 0;
	long long *all = bench_array(room);
	if (bench_rank == 0)
		all[n++] = took;
	for (int i = 0; i < s->count; i++) {
		const struct asked *a = &s->asked[i];
		all[n++] = bench_rank;
		all[n++] = a->answerer;
		all[n++] = a->round;
		all[n++] = a->n;
		memcpy(all + n, a->stamps, (size_t)(STAMPS * a->n) * sizeof *all);
		n += STAMPS * a->n;
	}
	if (bench_rank > 0) {
		MPI_Send(&n, 1, MPI_LONG, 0, BENCH_CONTROL, MPI_COMM_WORLD);
		if (n > 0)
			MPI_Send(all, (int)n, MPI_LONG_LONG, 0, BENCH_CONTROL, MPI_COMM_WORLD);
	} else {
		for (int r = 1; r < s->ranks; r++) {
			long more;
			bench_take(&more, sizeof more, r, BENCH_CONTROL);
			if (more > 0)
				bench_take(all + n, more * (long)sizeof *all, r, BENCH_CONTROL);
			n += more;
		}
		bench_print(all, n);
	}
	free(all);
}

/* n: patience; size: ranks that take part; repeat: most pings of a pair. */
static void synchronize(const struct bench_order *o, void (*scheme)(struct session *))
{
	struct session s = {.ranks = o->size, .patience = o->n, .most = o->repeat};
	if (bench_rank >= s.ranks)
		return;
	s.known = bench_array(s.ranks);
	s.asked = calloc((size_t)s.ranks, sizeof *s.asked);
	if (s.asked == NULL)
		MPI_Abort(MPI_COMM_WORLD, 1);
	/* A rank of the tree asks once in a round, rank 0 of the linear scheme every other rank. */
	long pairs = bench_rank == 0 && scheme == linear ? s.ranks : 40;
	if (pairs > s.ranks)
		pairs = s.ranks;
	long long *stamps = bench_array(pairs * STAMPS * s.most);
	memset(stamps, 0, (size_t)(pairs * STAMPS * s.most) * sizeof *stamps); /* touched before it is timed */
	for (long i = 0; i < pairs; i++)
		s.asked[i].stamps = stamps + i * STAMPS * s.most;
	together(s.ranks);
	long long start = bench_now();
	scheme(&s);
	announce(&s);
	report(&s, bench_now() - start);
	free(stamps);
	free(s.asked);
	free(s.known);
}

/* repeat pings between a and b; all of their stamps. */
static void pings(const struct bench_order *o)
{
	long n = STAMPS * o->repeat;
	long long *stamps = bench_array(n);
	if (bench_rank == o->a)
		ask((int)o->b, o->repeat + 1, o->repeat, stamps);
	else if (bench_rank == o->b)
		answer((int)o->a);
	bench_collect(stamps, n, (int)o->a);
	if (bench_rank == 0)
		bench_print(stamps, n);
	free(stamps);
}

/* Of every rank: what its clock shows, which clock it is. */
static void clocks(void)
{
	long long mine[2] = {clock_now(), (long long)(sl_clock_id() >> 2)};
	long long *all = bench_array(2L * bench_ranks);
	MPI_Gather(mine, 2, MPI_LONG_LONG, all, 2, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
	if (bench_rank == 0)
		bench_print(all, 2L * bench_ranks);
	free(all);
}

int bench_clocks(const struct bench_order *o)
{
	if (strcmp(o->what, "pings") == 0) {
		pings(o);
	} else if (strcmp(o->what, "tree") == 0) {
		synchronize(o, tree);
	} else if (strcmp(o->what, "linear") == 0) {
		synchronize(o, linear);
	} else if (strcmp(o->what, "clocks") == 0) {
		clocks();
	} else if (strcmp(o->what, "inject") == 0) { /* into rank n */
		if (bench_rank == o->n) {
			false_offset = o->pause;
			false_drift = o->size;
		}
		if (bench_rank == 0)
			bench_print(NULL, 0);
	} else {
		return 0;
	}
	return 1;
}
