/* How long messages take from rank 0 to the last rank and back, each way for itself, by CLOCK_REALTIME, which hosts that are
 * namespaces of one machine share, while the clock that the library reads (CLOCK_MONOTONIC) runs too fast on the last rank.
 * Arguments: by how many ppm, repetitions, ns between them, bytes. Prints for each repetition, in nanoseconds: there; back; to a receiver
 * that came 30 ms after the send, from that moment. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double fast; /* of CLOCK_MONOTONIC */
static int64_t since;

static int64_t ns(const struct timespec *t) { return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec; }

/* The library and MPI find this function before that of the C library. */
int clock_gettime(clockid_t id, struct timespec *t) {
    static int (*real)(clockid_t, struct timespec *);
    if (real == NULL) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, t);
    if (id != CLOCK_MONOTONIC || fast == 0 || result != 0) return result;
    int64_t now = ns(t);
    now += (int64_t)((double)(now - since) * fast);
    t->tv_sec = now / 1000000000;
    t->tv_nsec = now % 1000000000;
    return 0;
}

static int64_t true_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return ns(&t);
}

int main(int argc, char **argv) {
    int rank, ranks, n = atoi(argv[2]), bytes = atoi(argv[4]);
    const char *number = getenv("OMPI_COMM_WORLD_RANK"), *number2 = getenv("PMI_RANK");
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    since = ns(&t);
    if (atoi(number != NULL ? number : number2 != NULL ? number2 : "0") != 0) fast = atof(argv[1]) * 1e-6; /* from before MPI_Init on */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int last = ranks - 1;
    char *data = calloc(1, (size_t)bytes);
    for (int i = 0; i < n; i++) {
        int64_t sent[3] = {0}, came[3] = {0};
        for (int64_t until = true_time() + atoll(argv[3]); true_time() < until;) {}
        for (int way = 0; way < 3; way++) { /* there, back, there to a late receiver */
            int from = way == 1 ? last : 0, to = last - from;
            PMPI_Barrier(MPI_COMM_WORLD); /* not replaced */
            sent[way] = true_time();
            if (rank == from) {
                MPI_Send(data, bytes, MPI_CHAR, to, 0, MPI_COMM_WORLD);
            } else if (rank == to) {
                if (way == 2) {
                    while (true_time() < sent[way] + 30000000) {}
                    sent[way] = true_time();
                }
                MPI_Recv(data, bytes, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                came[way] = true_time();
            }
            PMPI_Bcast(&sent[way], 1, MPI_INT64_T, way == 2 ? to : from, MPI_COMM_WORLD);
            PMPI_Bcast(&came[way], 1, MPI_INT64_T, to, MPI_COMM_WORLD);
        }
        if (rank == 0) printf("%lld %lld %lld\n", (long long)(came[0] - sent[0]), (long long)(came[1] - sent[1]), (long long)(came[2] - sent[2]));
    }
    free(data);
    MPI_Finalize();
    return 0;
}
