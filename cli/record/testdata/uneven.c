/* Rank 1 takes six times as long as the others for each of 160 steps, which a sum over all ranks ends. It sleeps, so that the load of
 * the machine changes little. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int rank, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 160; i++) {
        usleep(rank == 1 ? 6000 : 1000);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
