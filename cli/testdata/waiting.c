/* Ranks wait for each other, and know for how long: the clock CLOCK_REALTIME is one for all hosts that are namespaces of one machine,
 * while CLOCK_MONOTONIC, which is recorded, is not. Rank 0 prints, in nanoseconds, how long the last rank waited in MPI_Recv for
 * late senders, and all ranks together in MPI_Barrier for the last one. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void compute(int64_t ns) {
    for (int64_t until = now() + ns; now() < until;) {}
}

int main(int argc, char **argv) {
    enum { STEPS = 10, MS = 1000000 };
    int rank, ranks;
    int64_t sent, late = 0, came[STEPS], last[STEPS], waited = 0, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < STEPS; i++) {
        compute(rank == 1 ? 20 * MS : 5 * MS);
        came[i] = now();
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            compute(10 * MS);
            sent = now();
            MPI_Send(&sent, 1, MPI_INT64_T, ranks - 1, 0, MPI_COMM_WORLD);
        } else if (rank == ranks - 1) {
            int64_t entered = now();
            MPI_Recv(&sent, 1, MPI_INT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (sent > entered) late += sent - entered;
        }
    }
    PMPI_Allreduce(came, last, STEPS, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD); /* PMPI: not a part of the program */
    for (int i = 0; i < STEPS; i++) waited += last[i] - came[i];
    PMPI_Reduce(&waited, &all, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    PMPI_Bcast(&late, 1, MPI_INT64_T, ranks - 1, MPI_COMM_WORLD);
    if (rank == 0) printf("%lld %lld\n", (long long)late, (long long)all);
    MPI_Finalize();
    return 0;
}
