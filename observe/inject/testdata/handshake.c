/* Large messages under latency: how long a blocking and a non-blocking send take, and when their receives are complete, if the
 * receive is posted before the send and if it is posted late.
 *
 * handshake NANOSECONDS REPETITIONS BYTES prints for each repetition, in nanoseconds from when the send should begin: when
 * send and receive were done, the receive first posted early, then late; then the same for MPI_Isend with MPI_Waitall on both
 * sides, and for persistent requests with MPI_Testany. Late is three times the latency. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void wait_until(long long when) {
    struct timespec t = {when / 1000000000, when % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0) {}
}

static char *data;
static int bytes, rank;

static void complete(int persistent, MPI_Request *r) {
    if (!persistent) {
        MPI_Waitall(1, r, MPI_STATUSES_IGNORE);
        return;
    }
    int flag = 0, index;
    while (!flag) MPI_Testany(1, r, &index, &flag, MPI_STATUS_IGNORE);
    MPI_Request_free(r);
}

/* once sends a message from 0 to 1 and says when both were done. way: 0 blocking, 1 non-blocking, 2 persistent. */
static void once(int way, long long late, long long done[2]) {
    MPI_Request r;
    long long begin = now() + 3000000, mine[2] = {0, 0};
    PMPI_Bcast(&begin, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        wait_until(begin); /* an early receive is posted before */
        if (way == 0) MPI_Send(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        if (way == 1) MPI_Isend(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &r);
        if (way == 2) MPI_Send_init(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &r), MPI_Start(&r);
    } else {
        if (late) wait_until(begin + late);
        if (way == 0) MPI_Recv(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (way == 1) MPI_Irecv(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &r);
        if (way == 2) MPI_Recv_init(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &r), MPI_Start(&r);
    }
    if (way > 0) complete(way == 2, &r);
    mine[rank] = now() - begin;
    PMPI_Allreduce(mine, done, 2, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long long latency = atoll(argv[1]);
    int repetitions = atoi(argv[2]);
    bytes = atoi(argv[3]);
    data = calloc(1, (size_t)bytes + 1);
    for (int i = 0; i < repetitions; i++) {
        for (int k = 0; k < 6; k++) {
            long long done[2];
            once(k / 2, k % 2 ? 3 * latency : 0, done);
            if (rank == 0) printf("%lld %lld%c", done[0], done[1], k < 5 ? ' ' : '\n');
        }
    }
    MPI_Finalize();
    return 0;
}
