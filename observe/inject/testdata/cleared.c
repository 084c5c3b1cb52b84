/* Keeps only what MPI needs of its environment. With OWN it has a call of MPI itself, as a profiler has. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

#ifdef OWN
int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status) {
    return PMPI_Recv(data, count, type, from, tag, comm, status);
}
#endif

int main(int argc, char **argv) {
    int room = 0, n = 0, rank, sent, received = -1;
    while (environ[room] != NULL) room++;
    char **all = calloc((size_t)room + 1, sizeof *all);
    for (int i = 0; i < room; i++)
        if (strncmp(environ[i], "SLACKLINE_", 10) != 0) all[n++] = environ[i];
    environ = all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sent = 41 + rank;
    MPI_Send(&sent, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    MPI_Recv(&received, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("rank %d received %d\n", rank, received);
    MPI_Finalize();
    return 0;
}
