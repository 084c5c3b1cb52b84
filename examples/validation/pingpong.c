/* A solver bound by latency: ranks take turns, each step needs the other's result. */
#include "common.h"

int main(int argc, char **argv) {
    double x = 0;
    init(&argc, &argv);
    start();
    for (int i = 0; i < 1000; i++) {
        if (rank > 0) MPI_Recv(&x, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(100);
        MPI_Send(&x, 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);
        if (rank == 0) MPI_Recv(&x, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    finish();
    return 0;
}
