/* Behaves differently when a library of slackline is loaded: by its output, its calls or its exit code. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "output", *loaded = getenv("LD_PRELOAD");
    int seen = loaded != NULL && strstr(loaded, "slackline") != NULL, me;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int i = 0; i < 3 + (seen && strcmp(what, "calls") == 0); i++) MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) printf(seen && strcmp(what, "output") == 0 ? "I am watched\n" : "nobody is here\n");
    MPI_Finalize();
    return seen && strcmp(what, "code") == 0 ? 5 : 0;
}
