/* Each rank writes its process number to a file of its own in a directory, and calls MPI until it is ended. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
    char name[4096], done[4096];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "%s/rank.%d", argv[1], rank);
    snprintf(done, sizeof done, "%s/pid.%d", argv[1], rank);
    FILE *f = fopen(name, "w");
    fprintf(f, "%d", (int)getpid());
    fclose(f);
    rename(name, done);
    for (;;) {
        MPI_Barrier(MPI_COMM_SELF);
        usleep(1000);
    }
}
