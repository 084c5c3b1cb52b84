/* A thread begins a receive, a send and a collective while recording is off, and main completes them before that thread does anything else.
 * Sizes tell which messages and collectives they are. The first argument says where main does so: "on" when recording is on again, "off"
 * when it has been on and is off again, and "late" when it is off, but the requests were begun while it was on. With a second argument,
 * the thread does nothing after that. */
#include <mpi.h>
#include <pthread.h>

enum { ROOM = 1000, TAG = 4, REQUESTS = 3 };
static pthread_barrier_t turn;
static MPI_Request requests[REQUESTS];
static int me;
static char out[ROOM], in[2][ROOM], last[ROOM];
static int sums[2][ROOM];

static void exchange(int size) {
    MPI_Sendrecv(out, size, MPI_CHAR, 1 - me, TAG, last, ROOM, MPI_CHAR, 1 - me, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(sums[0], sums[1], size, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void *begin(void *idle) {
    static int sum[2][ROOM];
    exchange(10);
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn);
    MPI_Irecv(in[0], ROOM, MPI_CHAR, 1 - me, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 20, MPI_CHAR, 1 - me, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Iallreduce(sum[0], sum[1], 20, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2]);
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn);
    if (idle == NULL) exchange(60);
    return NULL;
}

int main(int argc, char **argv) {
    int provided, idle = argc > 2, how = argv[1][1]; /* n, f or a */
    pthread_t t;
    MPI_Request own;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    pthread_barrier_init(&turn, NULL, 2);
    pthread_create(&t, NULL, begin, idle ? &own : NULL);
    pthread_barrier_wait(&turn);
    if (how != 'a') MPI_Pcontrol(0);
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn);
    if (how != 'a') MPI_Pcontrol(1);
    MPI_Irecv(in[1], ROOM, MPI_CHAR, 1 - me, TAG, MPI_COMM_WORLD, &own);
    if (how != 'n') MPI_Pcontrol(0);
    MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
    if (how != 'n') MPI_Pcontrol(1);
    MPI_Send(out, 30, MPI_CHAR, 1 - me, TAG, MPI_COMM_WORLD);
    MPI_Wait(&own, MPI_STATUS_IGNORE);
    exchange(40);
    pthread_barrier_wait(&turn);
    pthread_join(t, NULL);
    MPI_Pcontrol(0);
#if MPI_VERSION >= 4
    MPI_Isendrecv(out, 50, MPI_CHAR, 1 - me, TAG, last, ROOM, MPI_CHAR, 1 - me, TAG, MPI_COMM_WORLD, &own);
#else
    MPI_Irecv(last, ROOM, MPI_CHAR, 1 - me, TAG, MPI_COMM_WORLD, &own);
    MPI_Send(out, 50, MPI_CHAR, 1 - me, TAG, MPI_COMM_WORLD);
#endif
    MPI_Pcontrol(1);
    MPI_Wait(&own, MPI_STATUS_IGNORE);
    exchange(70);
    MPI_Finalize();
    return provided != MPI_THREAD_MULTIPLE;
}
