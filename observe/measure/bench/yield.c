/* Ranks that share CPUs give theirs away while they wait, and it is reported whether they do so by our function. */
#include "bench.h"
#include "yield.h"

static int crowded(void)
{
	bench_hooked = 1;
	return bench_crowded;
}

SL_YIELD(crowded())
