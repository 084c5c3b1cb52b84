/* Persistent collectives, of MPI 4 or as extensions of Open MPI 4.1: three rounds of a sum, a barrier and a broadcast. */
#include <mpi.h>
#if MPI_VERSION < 4
#include <mpi-ext.h>
#define MPI_Allreduce_init MPIX_Allreduce_init
#define MPI_Barrier_init MPIX_Barrier_init
#define MPI_Bcast_init MPIX_Bcast_init
#endif

int main(int argc, char **argv) {
    double one = 1, sum = 0;
    int x[100], wrong = 0;
    MPI_Request r[3];
    MPI_Init(&argc, &argv);
    MPI_Allreduce_init(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
    MPI_Bcast_init(x, 100, MPI_INT, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[2]);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&r[0]);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        MPI_Startall(2, r + 1);
        MPI_Waitall(2, r + 1, MPI_STATUSES_IGNORE);
        wrong = wrong || sum != 2;
    }
    for (int i = 0; i < 3; i++) MPI_Request_free(&r[i]);
    MPI_Finalize();
    return wrong;
}
