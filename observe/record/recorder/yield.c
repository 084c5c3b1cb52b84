/* Whether MPICH gives up the CPU while it waits. */
#include "worlds.h"
#include "yield.h"
#include <unistd.h>

static bool crowded;

void sl_yield_decide(void) {
    if (sl_settings.yield == 2) {
        MPI_Comm node;
        int ranks = 1;
        if (PMPI_Comm_split_type(sl_world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) == MPI_SUCCESS) {
            PMPI_Comm_size(node, &ranks);
            PMPI_Comm_free(&node);
        }
        crowded = ranks > sysconf(_SC_NPROCESSORS_ONLN);
    } else {
        crowded = sl_settings.yield == 1;
    }
}

#ifdef MPICH_NAME
SL_YIELD(crowded)
#endif

/* sl_yield_forced reports whether the library is made to do what it would not do by itself. */
bool sl_yield_forced(void) {
#ifdef MPICH_NAME
    return crowded;
#else
    return false;
#endif
}
