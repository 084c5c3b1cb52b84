/* Threads that take turns, at each rank others, on the same channels and communicator. The last one has one turn of 32: it notices late
 * that recording was switched. Sizes tell which messages and collectives they are. Arguments: turns, time of each in us, and if
 * recording is to be on in the third quarter of the turns only, any other: the last thread has its last turn in the second quarter, and
 * main joins the others from then on to the last quarter. With "lives", threads end only after MPI_Finalize, else after their last turn. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKING, AHEAD, KINDS, THREADS = 3, ROOM = 1 << 15 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t next_turn = PTHREAD_COND_INITIALIZER;
static int me, n, pause_us, turn, quarter, lives;
static pthread_barrier_t finalized;

static int owner(int i) {
    if (quarter != 0 && me == 0 && i < quarter) return 1;
    if (quarter != 0 && i >= 2 * quarter - 5 && i < 3 * quarter + 5) return 1;
    return (i + 13 * me) % 32 == 31 && (quarter == 0 || i < 2 * quarter) ? 2 : i % 3 == me;
}

static int size_of(int i, int kind, int from) { return 8 + (i * KINDS + kind) * 2 + from; }

static void *take_turns(void *p) {
    int self = (int)(long)p;
    MPI_Request posted = MPI_REQUEST_NULL;
    char *out = calloc(2, ROOM), *in = out + ROOM, *ahead = malloc(ROOM);
    int *sums = calloc(2, ROOM * sizeof(int));
    for (int i = 0; i < n; i++) {
        if (owner(i) != self) continue;
        pthread_mutex_lock(&lock);
        while (turn < i) pthread_cond_wait(&next_turn, &lock);
        if (quarter != 0 && (i == 2 * quarter || i == 3 * quarter)) MPI_Pcontrol(i == 2 * quarter);
        MPI_Wait(&posted, MPI_STATUS_IGNORE);
        MPI_Irecv(ahead, ROOM, MPI_CHAR, 1 - me, AHEAD, MPI_COMM_WORLD, &posted);
        if (me == 0) MPI_Send(out, size_of(i, BLOCKING, me), MPI_CHAR, 1, BLOCKING, MPI_COMM_WORLD);
        MPI_Send(out, size_of(i, AHEAD, me), MPI_CHAR, 1 - me, AHEAD, MPI_COMM_WORLD);
        if (me == 1) MPI_Recv(in, ROOM, MPI_CHAR, 0, BLOCKING, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(sums, sums + ROOM, i + 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        usleep((unsigned)pause_us);
        turn++;
        pthread_cond_broadcast(&next_turn);
        pthread_mutex_unlock(&lock);
    }
    MPI_Wait(&posted, MPI_STATUS_IGNORE);
    free(out);
    free(ahead);
    free(sums);
    if (self != 0 && lives) pthread_barrier_wait(&finalized);
    return NULL;
}

int main(int argc, char **argv) {
    int provided;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    n = argc > 1 ? atoi(argv[1]) : 100;
    pause_us = argc > 2 ? atoi(argv[2]) : 0;
    quarter = argc > 3 ? n / 4 : 0;
    lives = argc > 3 && strcmp(argv[3], "lives") == 0;
    pthread_barrier_init(&finalized, NULL, THREADS);
    for (long i = 1; i < THREADS; i++) pthread_create(&threads[i], NULL, take_turns, (void *)i);
    take_turns(NULL);
    if (!lives) for (int i = 1; i < THREADS; i++) pthread_join(threads[i], NULL);
    pthread_mutex_lock(&lock);
    while (turn < n) pthread_cond_wait(&next_turn, &lock);
    pthread_mutex_unlock(&lock);
    MPI_Finalize();
    if (!lives) return provided != MPI_THREAD_MULTIPLE;
    pthread_barrier_wait(&finalized);
    for (int i = 1; i < THREADS; i++) pthread_join(threads[i], NULL);
    return provided != MPI_THREAD_MULTIPLE;
}
