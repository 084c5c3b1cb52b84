/* More threads than a process could have files for: a few at a time, of which each sends and receives some messages, or, with a second
 * argument, all at once, which send to themselves. All have ended for a while when the program ends. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { AT_A_TIME = 2, MESSAGES = 5 };
static int me;
static pthread_barrier_t together;

static void *talk(void *p) {
    int tag = (int)(long)p, in;
    for (int i = 0; i < MESSAGES; i++)
        MPI_Sendrecv(&i, 1, MPI_INT, 1 - me, tag, &in, 1, MPI_INT, 1 - me, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

static void *talk_alone(void *p) {
    int tag = (int)(long)p, in;
    MPI_Sendrecv(&tag, 1, MPI_INT, 0, tag, &in, 1, MPI_INT, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    pthread_barrier_wait(&together);
    return NULL;
}

static void start(int n, void *(*what)(void *)) {
    pthread_t *t = malloc((size_t)n * sizeof *t);
    for (long i = 0; i < n; i++)
        if (pthread_create(&t[i], NULL, what, (void *)i) != 0) exit(3);
    for (int i = 0; i < n; i++) pthread_join(t[i], NULL);
    free(t);
}

int main(int argc, char **argv) {
    int provided, n = atoi(argv[1]);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    pthread_barrier_init(&together, NULL, (unsigned)n);
    if (argc > 2) start(n, talk_alone);
    else for (; n > 0; n -= AT_A_TIME) start(AT_A_TIME, talk);
    usleep(100000);
    MPI_Finalize();
    return provided != MPI_THREAD_MULTIPLE;
}
