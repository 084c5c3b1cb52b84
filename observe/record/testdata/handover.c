/* Requests that the first thread begins and another one completes; rank 1 is late each time. With an argument, recording is switched off
 * and on in between. */
#include <mpi.h>
#include <pthread.h>
#include <time.h>

enum { TIMES = 10 };
static MPI_Request request;

static void *complete(void *p) {
    if (p != NULL) MPI_Pcontrol(0), MPI_Pcontrol(1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return NULL;
}

__attribute__((noinline)) void prepare(void) {
    struct timespec t, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += 20000000;
    do clock_gettime(CLOCK_MONOTONIC, &t);
    while ((t.tv_sec - end.tv_sec) * 1000000000L + t.tv_nsec - end.tv_nsec < 0);
}

int main(int argc, char **argv) {
    int me, provided, data = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int i = 0; i < TIMES; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (me == 1) {
            prepare();
            MPI_Send(&data, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
            continue;
        }
        pthread_t t;
        MPI_Irecv(&data, 1, MPI_INT, 1, i, MPI_COMM_WORLD, &request);
        pthread_create(&t, NULL, complete, argc > 1 ? &data : NULL);
        pthread_join(t, NULL);
    }
    MPI_Finalize();
    return 0;
}
