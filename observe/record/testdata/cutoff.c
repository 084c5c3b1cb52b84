/* Rank 1 receives messages that do not fit, and goes on. */
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, flag = 0, data[4] = {0}, room[4];
    MPI_Request request;
    MPI_Message message;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int size = 4; rank == 0 && size >= 1; size -= 3)
        for (int i = 0; i < 5; i++) MPI_Send(data, size, MPI_INT, 1, 7, MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Recv(room, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Irecv(room, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Irecv(room, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
        while (!flag && MPI_Test(&request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS) continue;
        MPI_Sendrecv(data, 1, MPI_INT, MPI_PROC_NULL, 7, room, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Mprobe(0, 7, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(room, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        for (int i = 0; i < 5; i++) MPI_Recv(room, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
}
