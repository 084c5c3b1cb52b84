/* A ring of messages for so many seconds. When all ranks are at work, rank 0 writes a file. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int me, ranks, in, on = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double begin = MPI_Wtime();
    for (int i = 0; on; i++) {
        MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % ranks, 0, &in, 1, MPI_INT, (me + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (i == 20 && me == 0) {
            FILE *f = fopen(argv[1], "w");
            fprintf(f, "%d ranks\n", ranks);
            fclose(f);
        }
        usleep(1000);
        on = MPI_Wtime() - begin < atof(argv[2]);
        MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
