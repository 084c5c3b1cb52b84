/* Single executions of collective operations, or loops of them, with the stamps of all ranks. Schemes differ in how the
 * ranks start together and in what is timed; what the stamps mean is found out elsewhere. */
#include "bench.h"
#include "operations.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

/* As in collectives.go. */
enum scheme { ROUND_TIME, WINDOW, MPPTEST, MPBENCH, IMB };
enum { START_LATE = 1, TOO_LONG = 2, JITTER = 4 };
enum { STAMPS = 3, HEAD = 2, WARM_UPS = 2, BROADCASTS = 10, NAP_NS = 100000, LEAST_NS = 100 };

/* Clock of rank 0 = own clock - offset - drift (own clock - from). */
static struct {
	long long offset, drift, from;
} correction;

static long long tolerance = 20000, budget = 2000000000LL; /* ns */
static long barriers = 1; /* before each loop of imb */

static long long global_now(void)
{
	long long t = bench_clock();
	return t - correction.offset - (long long)((__int128)(t - correction.from) * correction.drift / 1000000000000LL);
}

/* Waits for a moment, and returns what was wrong with the start. */
static long long await(long long moment, long long *started)
{
	long long now = global_now(), flags = now >= moment ? START_LATE : 0;
	if (bench_crowded && moment - now > NAP_NS) {
		struct timespec t = {(moment - now - NAP_NS) / 1000000000LL, (moment - now - NAP_NS) % 1000000000LL};
		nanosleep(&t, NULL);
	}
	while ((now = global_now()) < moment)
		if (bench_crowded)
			sched_yield();
	*started = now;
	if (now - moment > tolerance)
		flags |= JITTER;
	return flags;
}

static void once(struct operation *op, long long moment, long long limit, long long *stamps)
{
	stamps[2] = await(moment, &stamps[0]);
	operation_run(op);
	stamps[1] = global_now();
	if (limit > 0 && stamps[1] > moment + limit)
		stamps[2] |= TOO_LONG;
	stamps[0] -= moment;
	stamps[1] -= moment;
}

static int ascending(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;
	return (x > y) - (x < y);
}

/* How long it usually takes until a moment named by rank 0 is known everywhere. */
static long long broadcast_time(void)
{
	long long took[BROADCASTS], all[BROADCASTS];
	for (int i = -WARM_UPS; i < BROADCASTS; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		long long moment = global_now();
		MPI_Bcast(&moment, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
		if (i >= 0)
			took[i] = global_now() - moment;
	}
	MPI_Allreduce(took, all, BROADCASTS, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
	qsort(all, BROADCASTS, sizeof *all, ascending);
	return all[BROADCASTS / 2] > LEAST_NS ? all[BROADCASTS / 2] : LEAST_NS;
}

/* Round-Time: rank 0 names a moment that all can reach, again and again until enough repetitions are valid. */
static long round_time(struct operation *op, const struct bench_order *o, long most, long long *stamps, long long *lead)
{
	long tried = 0, valid = 0;
	long long end = bench_now() + budget;
	*lead = o->b * broadcast_time();
	while (valid < o->repeat && tried < most) {
		long long mine[2], all[2], *s = stamps + STAMPS * tried++;
		long long moment;
		MPI_Barrier(MPI_COMM_WORLD);
		moment = global_now() + *lead;
		MPI_Bcast(&moment, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
		once(op, moment, 0, s);
		mine[0] = s[2];
		mine[1] = bench_now() > end;
		MPI_Allreduce(mine, all, 2, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
		if (all[0] == 0)
			valid++;
		if (all[1])
			break;
	}
	return tried;
}

/* The beginnings of all windows are agreed upon once. */
static long windows(struct operation *op, const struct bench_order *o, long long *stamps)
{
	long long first = global_now() + 10 * broadcast_time() + o->b;
	MPI_Bcast(&first, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
	for (long i = 0; i < o->repeat; i++)
		once(op, first + i * o->b, o->b, stamps + STAMPS * i);
	return o->repeat;
}

/* b executions in a row, timed together. */
static long loops(struct operation *op, const struct bench_order *o, long long *stamps)
{
	for (long i = 0; i < o->repeat; i++) {
		long long *s = stamps + STAMPS * i;
		if (o->a == MPPTEST)
			operation_run(op);
		for (long k = 0; k < (o->a == IMB ? barriers : o->a == MPPTEST); k++)
			MPI_Barrier(MPI_COMM_WORLD);
		s[0] = global_now();
		for (long k = 0; k < o->b; k++)
			operation_run(op);
		s[1] = global_now();
		if (o->a != IMB)
			MPI_Barrier(MPI_COMM_WORLD);
	}
	return o->repeat;
}

/* Operation n with so many bytes; a is the scheme, b its number: the factor of the lead, the window in ns, the executions
 * in a loop. Prints how often it was tried, the lead, and the stamps of all tries of rank 0, 1, ... */
static void measure(const struct bench_order *o)
{
	struct operation op;
	long most = o->a == ROUND_TIME ? o->repeat + o->repeat / 3 : o->repeat, tried = 0;
	long long lead = 0, *mine = bench_array(STAMPS * most), *all = NULL;
	memset(mine, 0, (size_t)(STAMPS * most) * sizeof *mine); /* touched before it is timed */
	operation_begin(&op, o->n, o->size, o->pause);
	for (int i = 0; i < WARM_UPS; i++)
		operation_run(&op);
	if (o->a == ROUND_TIME)
		tried = round_time(&op, o, most, mine, &lead);
	else if (o->a == WINDOW)
		tried = windows(&op, o, mine);
	else
		tried = loops(&op, o, mine);
	operation_end(&op);
	if (bench_rank == 0)
		all = bench_array(HEAD + (long)bench_ranks * STAMPS * tried);
	MPI_Gather(mine, (int)(STAMPS * tried), MPI_LONG_LONG, all == NULL ? NULL : all + HEAD, (int)(STAMPS * tried), MPI_LONG_LONG, 0, MPI_COMM_WORLD);
	if (bench_rank == 0) {
		all[0] = tried;
		all[1] = lead;
		bench_print(all, HEAD + (long)bench_ranks * STAMPS * tried);
	}
	free(all);
	free(mine);
}

/* Of every rank: its CPU, how many it may use, whether it gives its CPU away while it waits (1), and through our function (2). */
static void places(void)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof set, &set);
	long long mine[3] = {sched_getcpu(), CPU_COUNT(&set), bench_crowded | bench_hooked << 1}, *all = bench_array(3L * bench_ranks);
	MPI_Gather(mine, 3, MPI_LONG_LONG, all, 3, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
	if (bench_rank == 0)
		bench_print(all, 3L * bench_ranks);
	free(all);
}

/* Of every rank: its idea of the time of rank 0, between two readings of the clock of its host. */
static void globals(void)
{
	long long mine[3], *all = bench_array(3L * bench_ranks);
	mine[0] = bench_now();
	mine[1] = global_now();
	mine[2] = bench_now();
	MPI_Gather(mine, 3, MPI_LONG_LONG, all, 3, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
	if (bench_rank == 0)
		bench_print(all, 3L * bench_ranks);
	free(all);
}

int bench_collectives(const struct bench_order *o)
{
	if (strcmp(o->what, "collective") == 0) {
		measure(o);
	} else if (strcmp(o->what, "places") == 0) {
		places();
	} else if (strcmp(o->what, "globals") == 0) {
		globals();
	} else if (strcmp(o->what, "limits") == 0) {
		tolerance = o->n;
		budget = o->pause;
		barriers = o->a;
		prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
		if (bench_rank == 0)
			bench_print(&(long long){operation_persistent()}, 1);
	} else if (strcmp(o->what, "correct") == 0) { /* the clock of rank n: offset, drift, valid from */
		if (bench_rank == o->n) {
			correction.offset = o->pause;
			correction.drift = o->size;
			correction.from = o->a;
		}
		if (bench_rank == 0)
			bench_print(NULL, 0);
	} else {
		return 0;
	}
	return 1;
}
