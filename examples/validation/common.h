/* Shared by the programs: work that takes CPU time, and the timing of the loop. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static volatile double sink;

/* work is a fixed amount of work, about the given number of microseconds on a processor of 2020: noise prolongs it. */
static inline void work(int microseconds) {
    double x = 1;
    for (int i = 0; i < 400 * microseconds; i++) x = x * 0.999999 + 0.5;
    sink = x;
}

static double start_time;
static int rank, ranks, left, right; /* this rank, the number of ranks, its neighbors; with two ranks both are the other one */

static inline void init(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    right = (rank + 1) % ranks;
    left = (rank + ranks - 1) % ranks;
}

static inline void start(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    start_time = MPI_Wtime();
}

/* finish prints how long the slowest rank took, in nanoseconds. */
static inline void finish(void) {
    double own = MPI_Wtime() - start_time, slowest;
    PMPI_Reduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD); /* not a part of the program */
    if (rank == 0) printf("%.0f\n", slowest * 1e9);
    MPI_Finalize();
}
