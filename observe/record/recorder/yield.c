/* MPICH over UCX spins while it waits and never gives up the CPU: with more ranks than CPUs every message takes a time
 * slice. A yield whenever there was nothing to do cures that. */
#include "core.h"
#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

void sl_yield_decide(void);
static bool yields;

void sl_yield_decide(void) {
    if (sl_settings.yield == 2) {
        MPI_Comm node;
        int ranks = 1;
        if (PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) == MPI_SUCCESS) {
            PMPI_Comm_size(node, &ranks);
            PMPI_Comm_free(&node);
        }
        yields = ranks > sysconf(_SC_NPROCESSORS_ONLN);
    } else {
        yields = sl_settings.yield == 1;
    }
}

#ifdef MPICH_NAME
unsigned ucp_worker_progress(void *worker);
SL_EXPORT unsigned ucp_worker_progress(void *worker) {
    static unsigned (*real)(void *);
    if (real == NULL) real = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
    unsigned n = real(worker);
    if (n == 0 && yields) sched_yield();
    return n;
}
#endif
