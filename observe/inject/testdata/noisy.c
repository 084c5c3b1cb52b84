/* Prints how long a sleep of 0.3 s took, and of about half a second of spinning how long it was and how much of it was not
 * interrupted for more than 100 us, in nanoseconds. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int64_t begin = now();
    usleep(300000);
    int64_t slept = now() - begin, free_time = 0, last, t;
    for (begin = last = now(); last - begin < 500000000; last = t) {
        t = now();
        if (t - last < 100000) free_time += t - last;
    }
    printf("%lld %lld %lld\n", (long long)slept, (long long)(last - begin), (long long)free_time);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
