/* Behaves the same whoever looks: messages and collectives, with a result, a time and an exit code. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int me, ranks, in = 0, sum = 0, n = argc > 1 ? atoi(argv[1]) : 3;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double begin = MPI_Wtime();
    for (int i = 0; i < n; i++) {
        MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % ranks, 0, &in, 1, MPI_INT, (me + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    printf("rank %d: %d, %d\n", me, in, sum);
    if (me == 0) printf("time %g s\n", MPI_Wtime() - begin);
    MPI_Finalize();
    return n > 5 ? 7 : 0;
}
