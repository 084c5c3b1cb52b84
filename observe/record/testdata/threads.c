/* Threads that call MPI at the same time. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 3, MESSAGES = 200 };
static int me;

static void *talk(void *p) {
    int tag = (int)(long)p, in;
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Request r[2];
        MPI_Irecv(&in, 1, MPI_INT, 1 - me, tag, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(&i, 1, MPI_INT, 1 - me, tag, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int provided;
    pthread_t t[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (long i = 0; i < THREADS; i++) pthread_create(&t[i], NULL, talk, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
    printf("%d\n", provided == MPI_THREAD_MULTIPLE);
    MPI_Finalize();
    return 0;
}
