/* Rank 0 computes for a second, for which the others wait in one barrier. */
#include <mpi.h>

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    for (double end = MPI_Wtime() + 1; rank == 0 && MPI_Wtime() < end;) {}
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
