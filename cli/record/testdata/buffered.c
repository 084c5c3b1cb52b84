/* All ranks send buffered messages that are larger than any S to their neighbor before they receive: correct, because
   a buffered send never waits. Blocking, non-blocking, and persistent, together with a small send that is not buffered. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ints = 100000, rounds = 3 };

int main(int argc, char **argv) {
    static int out[ints], in[ints];
    int rank, size, bytes;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Pack_size(ints, MPI_INT, MPI_COMM_WORLD, &bytes);
    bytes = 4 * (bytes + MPI_BSEND_OVERHEAD);
    void *buffer = malloc((size_t)bytes);
    MPI_Buffer_attach(buffer, bytes);
    MPI_Request again[2];
    MPI_Bsend_init(out, ints, MPI_INT, right, 3, MPI_COMM_WORLD, &again[0]);
    MPI_Send_init(out, 1, MPI_INT, right, 4, MPI_COMM_WORLD, &again[1]);
    for (int i = 0; i < rounds; i++) {
        MPI_Request one;
        out[0] = 100 * i + rank;
        MPI_Bsend(out, ints, MPI_INT, right, 1, MPI_COMM_WORLD);
        MPI_Ibsend(out, ints, MPI_INT, right, 2, MPI_COMM_WORLD, &one);
        MPI_Wait(&one, MPI_STATUS_IGNORE);
        MPI_Startall(2, again);
        MPI_Waitall(2, again, MPI_STATUSES_IGNORE);
        for (int tag = 1; tag <= 4; tag++) {
            MPI_Recv(in, ints, MPI_INT, left, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (in[0] != 100 * i + left && tag < 3) MPI_Abort(MPI_COMM_WORLD, 3); /* Open MPI 4.1 starts MPI_Bsend_init with old data */
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Request_free(&again[0]);
    MPI_Request_free(&again[1]);
    MPI_Buffer_detach(&buffer, &bytes);
    MPI_Finalize();
    return 0;
}
