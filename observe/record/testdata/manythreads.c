/* More threads than a process could have files for, a few at a time: each sends and receives some messages. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

enum { AT_A_TIME = 2, MESSAGES = 5 };
static int me;

static void *talk(void *p) {
    int tag = (int)(long)p, in;
    for (int i = 0; i < MESSAGES; i++)
        MPI_Sendrecv(&i, 1, MPI_INT, 1 - me, tag, &in, 1, MPI_INT, 1 - me, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

int main(int argc, char **argv) {
    int provided;
    pthread_t t[AT_A_TIME];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int n = atoi(argv[1]); n > 0; n -= AT_A_TIME) {
        for (long i = 0; i < AT_A_TIME; i++) pthread_create(&t[i], NULL, talk, (void *)i);
        for (int i = 0; i < AT_A_TIME; i++) pthread_join(t[i], NULL);
    }
    MPI_Finalize();
    return provided != MPI_THREAD_MULTIPLE;
}
