#ifndef SLACKLINE_BENCH_H
#define SLACKLINE_BENCH_H

#define _GNU_SOURCE
#include <mpi.h>
#include <stddef.h>
#include <time.h>

enum { BENCH_DATA = 1, BENCH_CONTROL = 2 };

/* One line of input: a word and up to six numbers. a and b are the ranks of a pair. */
struct bench_order {
	char what[16];
	long n, size, repeat;
	long long pause;
	long a, b;
};

extern int bench_rank, bench_ranks;
extern int bench_crowded; /* there are more ranks on this host than CPUs */
extern int bench_hooked;  /* the library waits through our function in yield.c */

long long bench_now(void);
void bench_spin(long long ns);
char *bench_room(size_t size);
void bench_print(const long long *values, long n);
void bench_collect(long long *values, long n, int from);

/* Room for numbers, all 0. */
long long *bench_array(long n);

/* Receives at most so many bytes and returns the tag of the message. Where there are more ranks than CPUs, the CPU is given
 * to others as long as there is nothing: not every MPI does that. */
int bench_take(void *to, long size, int from, int tag);

/* What this rank's clock shows, with the offset and drift that were given to it. */
long long bench_clock(void);

/* Orders on a pair of ranks, on clocks, on sources of time, on collectives, on memory; 0: not one of them. */
int bench_link(const struct bench_order *o);
int bench_clocks(const struct bench_order *o);
int bench_sources(const struct bench_order *o);
int bench_collectives(const struct bench_order *o);
int bench_memory(const struct bench_order *o);

#endif
