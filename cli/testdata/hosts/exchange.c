/* Each rank sends so many bytes to the next one, so many times. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int me, ranks, size = atoi(argv[1]);
    char *out = calloc(size, 1), *in = calloc(size, 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = atoi(argv[2]); i > 0; i--)
        MPI_Sendrecv(out, size, MPI_BYTE, (me + 1) % ranks, 0, in, size, MPI_BYTE, (me + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
