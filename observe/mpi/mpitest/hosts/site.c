/* What MPICH 4.0 over UCX lacks at this site; preloaded into its programs.
 *
 * Its MPI_Finalize closes all connections, which needs the other ends to work, and then waits in a barrier of the process manager,
 * in which it does not (github.com/pmodels/mpich/pull/6596): the first one hangs all others. Here all ranks wait for each
 * other in MPI, and connections are left to the end of the process.
 *
 * It never gives up the CPU while it waits, but all hosts share those of one machine. */
#define _GNU_SOURCE
#include "yield.h"
#include <mpi.h>

void *ucp_disconnect_nb(void *endpoint);

void *ucp_disconnect_nb(void *endpoint) {
    (void)endpoint;
    return NULL; /* done */
}

int PMPI_Finalize(void) {
    PMPI_Barrier(MPI_COMM_WORLD);
    return ((int (*)(void))dlsym(RTLD_NEXT, "PMPI_Finalize"))();
}

int MPI_Finalize(void) { return PMPI_Finalize(); }

SL_YIELD(1)
