/* Threads whose functions go on after MPI_Finalize. */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 3 };
static atomic_int steps, over;

static void step(void) { atomic_fetch_add(&steps, 1); }

static void *work(void *p) {
    for (; !atomic_load(&over); usleep(100))
        for (int i = 0; i < 20; i++) step();
    return p;
}

int main(int argc, char **argv) {
    int provided, rank;
    pthread_t t[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < THREADS; i++) pthread_create(&t[i], NULL, work, NULL);
    while (atomic_load(&steps) < 20000) usleep(100);
    MPI_Finalize();
    for (int then = atomic_load(&steps); atomic_load(&steps) < then + 20000;) usleep(100);
    atomic_store(&over, 1);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
    if (rank == 0) puts("done");
    return 0;
}
