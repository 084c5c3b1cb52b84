/* A solver bound by latency: two ranks take turns, each step needs the other's result. */
#include "common.h"

int main(int argc, char **argv) {
    int rank;
    double x = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    start();
    for (int i = 0; i < 1000; i++) {
        if (rank == 1) MPI_Recv(&x, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(100);
        MPI_Send(&x, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD);
        if (rank == 0) MPI_Recv(&x, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    finish(rank);
    return 0;
}
