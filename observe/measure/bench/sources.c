/* The sources of time of a host: what reading them costs, how fine they are, whether they run backwards, also when the process
 * moves from one CPU to another, and whether the counter of the processor keeps its speed. */
#include "bench.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

static long long nanoseconds(clockid_t id)
{
	struct timespec t;
	clock_gettime(id, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static long long monotonic(void) { return nanoseconds(CLOCK_MONOTONIC); }
static long long raw(void) { return nanoseconds(CLOCK_MONOTONIC_RAW); }
static long long realtime(void) { return nanoseconds(CLOCK_REALTIME); }
static long long wtime(void) { return (long long)(MPI_Wtime() * 1e9); }

static long long counter(void)
{
#if defined(__x86_64__)
	return (long long)__rdtsc();
#elif defined(__aarch64__)
	unsigned long long v;
	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(v));
	return (long long)v;
#else
	return 0;
#endif
}

static long long (*const source[])(void) = {monotonic, raw, realtime, wtime, counter};
enum { SOURCES = sizeof source / sizeof source[0], BATCH = 1000, FIGURES = 5, SPEEDS = 5 };

/* Cost of a read in ps, smallest step in units of the source, steps backwards on one CPU and over moves, moves. */
static void examine(long long (*now)(void), long repeat, long long *out)
{
	long long best = -1, step = 0, back = 0;
	for (long b = 0; b < repeat; b++) {
		long long last = now(), start = monotonic();
		for (int i = 0; i < BATCH; i++) {
			long long t = now(), d = t - last;
			if (d < 0)
				back++;
			else if (d > 0 && (step == 0 || d < step))
				step = d;
			last = t;
		}
		long long took = (monotonic() - start) * 1000 / BATCH;
		if (best < 0 || took < best)
			best = took;
	}
	out[0] = best;
	out[1] = step;
	out[2] = back;
}

/* Moves over all allowed CPUs and reads on both sides of each move. */
static void migrate(long long (*now)(void), long moves, long long *out)
{
	cpu_set_t own, allowed;
	out[0] = out[1] = 0;
	if (sched_getaffinity(0, sizeof own, &own) != 0)
		return;
	memset(&allowed, 0xff, sizeof allowed); /* a launcher may have bound the rank to a CPU: it leaves that for a moment */
	if (sched_setaffinity(0, sizeof allowed, &allowed) != 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
		allowed = own;
	if (CPU_COUNT(&allowed) < 2)
		return;
	long long last = now();
	for (int cpu = 0; out[1] < moves; cpu = (cpu + 1) % CPU_SETSIZE) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		cpu_set_t one;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (sched_setaffinity(0, sizeof one, &one) != 0)
			break;
		long long t = now();
		if (t < last)
			out[0]++;
		last = now();
		out[1]++;
	}
	sched_setaffinity(0, sizeof own, &own);
}

/* Ticks of the counter in a second of CLOCK_MONOTONIC_RAW, in mHz, of short intervals; each end is the best of ten. */
static void pair(long long *ticks, long long *ns)
{
	long long best = -1;
	for (int i = 0; i < 10; i++) {
		long long a = raw(), c = counter(), b = raw();
		if (best < 0 || b - a < best) {
			best = b - a;
			*ticks = c;
			*ns = a + (b - a) / 2;
		}
	}
}

static void speeds(long long *out)
{
	long long c0, n0, c1, n1;
	pair(&c0, &n0);
	for (int i = 0; i < SPEEDS; i++) {
		bench_spin(20000000);
		pair(&c1, &n1);
		out[i] = n1 > n0 ? (long long)((double)(c1 - c0) / (double)(n1 - n0) * 1e12) : 0;
		c0 = c1;
		n0 = n1;
	}
}

/* Whether the processor reports that its counter keeps its speed and goes on in all states: 1, 0, or -1 if nothing is known. */
static int invariant(void)
{
#if defined(__aarch64__)
	return 1; /* the architecture guarantees it */
#else
	static char line[1 << 16];
	FILE *f = fopen("/proc/cpuinfo", "r");
	int found = -1;
	while (f != NULL && found < 0 && fgets(line, sizeof line, f) != NULL)
		if (strncmp(line, "flags", 5) == 0)
			found = strstr(line, " constant_tsc") != NULL && strstr(line, " nonstop_tsc") != NULL;
	if (f != NULL)
		fclose(f);
	return found;
#endif
}

/* Of rank a: figures of each source, then the speeds of the counter, and whether it is invariant. */
int bench_sources(const struct bench_order *o)
{
	if (strcmp(o->what, "sources") != 0)
		return 0;
	long n = SOURCES * FIGURES + SPEEDS + 1;
	long long *out = bench_array(n);
	if (bench_rank == o->a) {
		for (int i = 0; i < SOURCES; i++) {
			examine(source[i], o->repeat, out + i * FIGURES);
			migrate(source[i], 200, out + i * FIGURES + 3);
		}
		speeds(out + SOURCES * FIGURES);
		out[n - 1] = invariant();
	}
	bench_collect(out, n, (int)o->a);
	if (bench_rank == 0)
		bench_print(out, n);
	free(out);
	return 1;
}
