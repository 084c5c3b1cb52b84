/* What detours cost a program whose ranks wait for each other: the communication of examples/validation/cg.c in short pieces.
 *
 * detours STEPS PIECES prints a line for each piece: how many nanoseconds it took, how often the two ranks lost the CPU
 * meanwhile (0: nothing else disturbed it), and how many detours each of the two ranks made in it. */
#include "../../../examples/validation/common.h"
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { DETOURS = 16, REPORT_BYTES = 4096 }; /* where a report has the number of detours (shim/inject.h) */

static const volatile int64_t *report_of(int rank) {
    char path[4096];
    const char *directory = getenv("SLACKLINE_INJECT_DIR");
    snprintf(path, sizeof path, "%s/%d.report", directory != NULL ? directory : "", rank);
    int fd = open(path, O_RDONLY);
    void *m = fd >= 0 ? mmap(NULL, REPORT_BYTES, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (m == MAP_FAILED) {
        perror(path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return m;
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t switches(void) {
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return r.ru_nivcsw + r.ru_nvcsw;
}

enum { WORDS = 16 };

static void step(int rank) {
    static double out[WORDS], in[WORDS];
    double own = 1, sum;
    MPI_Sendrecv(out, WORDS, MPI_DOUBLE, 1 - rank, 0, in, WORDS, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    work(200);
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work(80);
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    work(20);
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const volatile int64_t *report = report_of(rank);
    int steps = atoi(argv[1]), pieces = atoi(argv[2]);
    for (int i = 0; i < pieces; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        int64_t lost = switches(), detours = report[DETOURS], begin = now();
        for (int k = 0; k < steps; k++) step(rank);
        MPI_Barrier(MPI_COMM_WORLD); /* a detour in which the piece ends belongs to it */
        int64_t end = now(), mine[2] = {switches() - lost, report[DETOURS] - detours}, all[4];
        MPI_Gather(mine, 2, MPI_INT64_T, all, 2, MPI_INT64_T, 0, MPI_COMM_WORLD);
        if (rank == 0) printf("%lld %lld %lld %lld\n", (long long)(end - begin), (long long)(all[0] + all[2]), (long long)all[1], (long long)all[3]);
    }
    MPI_Finalize();
    return 0;
}
