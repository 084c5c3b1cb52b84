/* Rank 1 works longer in a named function; each rank prints how long it was where, in ns of the wall clock. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static volatile double sink;
static long spent[4];

static __attribute__((no_instrument_function)) long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void kernel(long n) {
    for (long i = 0; i < n; i++) sink += (double)i * 0.5;
}

static void relax(int me) {
    long begin = now();
    kernel(me == 1 ? 24000000 : 8000000);
    spent[0] += now() - begin;
}

static void update(void) {
    long begin = now();
    kernel(8000000);
    spent[1] += now() - begin;
}

static void write_out(void) {
    long begin = now();
    usleep(15000);
    spent[2] += now() - begin;
}

static void step(int me) {
    relax(me);
    update();
    write_out();
}

int main(int argc, char **argv) {
    int me;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int i = 0; i < 12; i++) {
        step(me);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    printf("%d relax %ld update %ld write_out %ld\n", me, spent[0], spent[1], spent[2]);
    return 0;
}
