/* Rank 1 waits for two messages, of which the first does not fit; MPI may give back the second request as it was. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int rank, data[8] = {0}, room[8];
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 0) {
        MPI_Send(data, 8, MPI_INT, 1, 4, MPI_COMM_WORLD);
        usleep(200000);
        MPI_Send(data, 3, MPI_INT, 1, 5, MPI_COMM_WORLD);
    } else {
        MPI_Irecv(room, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(room + 4, 3, MPI_INT, 0, 5, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
}
