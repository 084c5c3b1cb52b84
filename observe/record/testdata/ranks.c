/* A ring of messages and reductions, for any number of ranks. The first argument names the region of the program. With OWN it has a
 * call of MPI itself, as a profiler has. */
#include <mpi.h>
#include <stdlib.h>
#include "slackline.h"

#ifdef OWN
int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return PMPI_Allreduce(in, out, count, type, op, comm);
}
#endif

int main(int argc, char **argv) {
    int me, ranks, in, n = argc > 2 ? atoi(argv[2]) : 10;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    slackline_begin(argc > 1 ? argv[1] : "ring");
    for (int i = 0; i < n; i++) {
        MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % ranks, 0, &in, 1, MPI_INT, (me + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&me, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    slackline_end(argc > 1 ? argv[1] : "ring");
    MPI_Pcontrol(0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    MPI_Finalize();
    return 0;
}
