/* Messages between the two ranks of a pair, timed. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WARM_UPS = 10, LATE_US = 50000 };

static void put(char *b, const struct bench_order *o, long to)
{
	MPI_Send(b, (int)o->size, MPI_BYTE, (int)to, BENCH_DATA, MPI_COMM_WORLD);
}

static void take(char *b, const struct bench_order *o, long from)
{
	MPI_Recv(b, (int)o->size, MPI_BYTE, (int)from, BENCH_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* PRTT(n, pause, size): a sends n messages, b answers once. */
static void burst(const struct bench_order *o, char *b, long long *times)
{
	for (long i = -WARM_UPS; i < o->repeat; i++) {
		if (bench_rank == o->a) {
			long long start = bench_now();
			for (long k = 0; k < o->n; k++) {
				if (k > 0 && o->pause > 0)
					bench_spin(o->pause);
				put(b, o, o->b);
			}
			take(b, o, o->b);
			if (i >= 0)
				times[i] = bench_now() - start;
		} else {
			for (long k = 0; k < o->n; k++)
				take(b, o, o->a);
			put(b, o, o->a);
		}
	}
	bench_collect(times, o->repeat, (int)o->a);
}

/* b waits before each receive but the first, so that the message is there. */
static void drain(const struct bench_order *o, char *b, long long *times)
{
	for (long i = 0; i < o->repeat; i++) {
		if (bench_rank == o->a) {
			for (long k = 0; k < o->n; k++)
				put(b, o, o->b);
			take(b, o, o->b);
		} else {
			take(b, o, o->a);
			long long start = bench_now();
			for (long k = 1; k < o->n; k++) {
				bench_spin(o->pause);
				take(b, o, o->a);
			}
			times[i] = bench_now() - start;
			put(b, o, o->a);
		}
	}
	bench_collect(times, o->repeat, (int)o->b);
}

/* How long a send takes whose receive is posted late; n: the late receiver polls meanwhile. The time starts before the
 * receiver starts to be late, so a send that waits for it never looks short; and the message is sent when the receiver has left
 * the library, so it does not take the message by chance. */
static void eager(const struct bench_order *o, char *b, long long *times)
{
	char token = 0;
	if (bench_rank == o->a) {
		long long start = bench_now();
		MPI_Send(&token, 1, MPI_BYTE, (int)o->b, BENCH_CONTROL, MPI_COMM_WORLD);
		MPI_Recv(&token, 1, MPI_BYTE, (int)o->b, BENCH_CONTROL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		put(b, o, o->b);
		times[0] = bench_now() - start;
		MPI_Recv(&token, 1, MPI_BYTE, (int)o->b, BENCH_CONTROL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		MPI_Recv(&token, 1, MPI_BYTE, (int)o->a, BENCH_CONTROL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(&token, 1, MPI_BYTE, (int)o->a, BENCH_CONTROL, MPI_COMM_WORLD);
		if (o->n) {
			long long end = bench_now() + LATE_US * 1000LL;
			int flag;
			while (bench_now() < end)
				MPI_Iprobe((int)o->a, BENCH_CONTROL, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
		} else {
			usleep(LATE_US);
		}
		take(b, o, o->a);
		MPI_Send(&token, 1, MPI_BYTE, (int)o->a, BENCH_CONTROL, MPI_COMM_WORLD);
	}
	bench_collect(times, 1, (int)o->a);
}

int bench_link(const struct bench_order *o)
{
	void (*run)(const struct bench_order *, char *, long long *) = NULL;
	if (strcmp(o->what, "burst") == 0)
		run = burst;
	else if (strcmp(o->what, "drain") == 0)
		run = drain;
	else if (strcmp(o->what, "eager") == 0)
		run = eager;
	if (run == NULL)
		return 0;
	long n = o->repeat > 0 ? o->repeat : 1;
	long long *times = calloc((size_t)n, sizeof *times);
	if (times == NULL)
		MPI_Abort(MPI_COMM_WORLD, 1);
	if (bench_rank == o->a || bench_rank == o->b)
		run(o, bench_room((size_t)(o->size > 0 ? o->size : 1)), times);
	else if (bench_rank == 0)
		bench_collect(times, n, (int)(strcmp(o->what, "drain") == 0 ? o->b : o->a));
	if (bench_rank == 0)
		bench_print(times, n);
	free(times);
	return 1;
}
