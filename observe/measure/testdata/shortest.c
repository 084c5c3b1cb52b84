/* The loop of 'measure noise' as a C programmer would write it: prints the smallest difference of two consecutive readings of
 * the counter on a CPU, in ticks. It stops after 1000 batches of 1000 iterations without a smaller one, five times. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static inline uint64_t ticks(void)
{
#if defined __x86_64__
	uint32_t low, high;
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
#elif defined __aarch64__
	uint64_t t;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
#else
#error "this processor has no counter that is known"
#endif
}

static uint64_t shortest(long iterations)
{
	uint64_t least = UINT64_MAX, before = ticks();
	for (long i = 0; i < iterations; i++) {
		uint64_t now = ticks();
		if (now - before < least)
			least = now - before;
		before = now;
	}
	return least;
}

int main(int argc, char **argv)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(argc > 1 ? atoi(argv[1]) : 0, &set);
	if (sched_setaffinity(0, sizeof set, &set) != 0)
		return 1;
	uint64_t least = UINT64_MAX;
	for (int search = 0; search < 5; search++)
		for (int idle = 0; idle < 1000; idle++) {
			uint64_t d = shortest(1000);
			if (d < least) {
				least = d;
				idle = 0;
			}
		}
	printf("%llu\n", (unsigned long long)(least > 0 ? least : 1));
	return 0;
}
