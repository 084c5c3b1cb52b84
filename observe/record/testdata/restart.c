/* Both ranks start a persistent buffered send again and again before anybody receives: Open MPI changes the request's handle then. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    enum { SIZE = 1 << 20, TIMES = 4 };
    int me;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    char *data = calloc(SIZE, 1);
    int room = TIMES * (SIZE + MPI_BSEND_OVERHEAD);
    char *buffer = malloc(room);
    MPI_Buffer_attach(buffer, room);
    MPI_Request send;
    MPI_Bsend_init(data, SIZE, MPI_CHAR, 1 - me, 0, MPI_COMM_WORLD, &send);
    for (int i = 0; i < TIMES; i++) {
        if (i % 2 == 0) MPI_Start(&send);
        else MPI_Startall(1, &send);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < TIMES; i++) MPI_Recv(data, SIZE, MPI_CHAR, 1 - me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Request_free(&send);
    MPI_Buffer_detach(&buffer, &room);
    MPI_Finalize();
    return 0;
}
