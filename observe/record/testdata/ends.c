/* Makes 20 barriers; then rank 1 ends in the way that the argument says, while the others are in the next barrier. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int me;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int i = 0; i < 20; i++) MPI_Barrier(MPI_COMM_WORLD);
    if (me == 1) {
        usleep(100000); /* the others are waiting */
        if (strcmp(argv[1], "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 3);
        if (strcmp(argv[1], "segv") == 0) raise(SIGSEGV);
        if (strcmp(argv[1], "kill") == 0) raise(SIGKILL);
        if (strcmp(argv[1], "exit") == 0) exit(5);
    }
    if (me == 0 && strcmp(argv[1], "seven") == 0) {
        printf("normal end\n");
        fflush(stdout); /* once a rank has ended with a code, the others are killed */
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return strcmp(argv[1], "seven") == 0 ? 7 : 0;
}
