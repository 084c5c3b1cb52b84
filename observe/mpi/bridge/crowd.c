/* Whether every process of the job has a core for itself. */
#define _GNU_SOURCE
#include "bridge.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* Where a process runs. */
struct place {
	char host[128];
	cpu_set_t cores; /* that it may use */
};

static int crowded;

int bridge_crowded(void) { return crowded; }

/* share is how many cores a process has for itself: one that two may use is half a core for each. */
static double share(const struct place *all, const struct place *here)
{
	double sum = 0;
	for (int core = 0; core < CPU_SETSIZE; core++) {
		if (!CPU_ISSET(core, &here->cores))
			continue;
		int users = 0;
		for (int p = 0; p < bridge_size; p++)
			users += CPU_ISSET(core, &all[p].cores) && strcmp(all[p].host, here->host) == 0;
		sum += 1.0 / users;
	}
	return sum;
}

void bridge_look_round(void)
{
	struct place here;
	memset(&here, 0, sizeof here);
	strncpy(here.host, bridge_host(), sizeof here.host - 1);
	if (sched_getaffinity(0, sizeof here.cores, &here.cores))
		CPU_ZERO(&here.cores); /* more cores than we can name: enough, too */
	struct place *all = bridge_room(sizeof *all * (size_t)bridge_size);
	MPI_Allgather(&here, (int)sizeof here, MPI_BYTE, all, (int)sizeof here, MPI_BYTE, bridge_exchanges);
	const double rounding = 1e-9;
	crowded = CPU_COUNT(&here.cores) > 0 && share(all, &here) < 1 - rounding;
	free(all);
}
