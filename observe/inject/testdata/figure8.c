/* Figure 8 of the paper: two sends in a row, to a receiver that waits for both. Prints for each repetition, in nanoseconds:
 * how long both sends took together; when the first and the second message came, each from the start of its send; and how
 * long a receiver took that first computed for three times as long as the latency (argument 1, in nanoseconds), from the start of the
 * send; and when a loop of probes found a message. Argument 2: repetitions. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void wait_for(int64_t ns) {
    struct timespec t = {ns / 1000000000, ns % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) != 0) {}
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int64_t latency = atoll(argv[1]), t[5] = {0}, sent[3];
    int n = atoi(argv[2]);
    double data[2] = {1, 2}, in[2];
    for (int i = 0; i < n; i++) {
        PMPI_Barrier(MPI_COMM_WORLD); /* not replaced */
        if (rank == 0) {
            wait_for(200000); /* the receiver waits already */
            sent[0] = now();
            MPI_Send(&data[0], 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
            sent[1] = now();
            MPI_Send(&data[1], 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
            sent[2] = now();
        } else {
            MPI_Request r[2];
            MPI_Irecv(&in[0], 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &r[0]);
            MPI_Irecv(&in[1], 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &r[1]);
            MPI_Wait(&r[0], MPI_STATUS_IGNORE);
            t[1] = now();
            MPI_Wait(&r[1], MPI_STATUS_IGNORE);
            t[2] = now();
        }
        PMPI_Bcast(sent, 3, MPI_INT64_T, 0, MPI_COMM_WORLD);
        int64_t both = sent[2] - sent[0], first = t[1] - sent[0], second = t[2] - sent[1];
        PMPI_Barrier(MPI_COMM_WORLD);
        sent[0] = now();
        if (rank == 0) MPI_Send(&data[0], 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        else {
            wait_for(3 * latency);
            MPI_Recv(&in[0], 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            t[3] = now();
        }
        PMPI_Bcast(sent, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
        int64_t late = t[3] - sent[0];
        PMPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            wait_for(200000);
            sent[0] = now();
            MPI_Send(&data[0], 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        } else {
            for (int found = 0; !found;) MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
            t[4] = now();
            MPI_Recv(&in[0], 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        PMPI_Bcast(sent, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
        if (rank == 1) printf("%lld %lld %lld %lld %lld\n", (long long)both, (long long)first, (long long)second, (long long)late, (long long)(t[4] - sent[0]));
    }
    MPI_Finalize();
    return 0;
}
