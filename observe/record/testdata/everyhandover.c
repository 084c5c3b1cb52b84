/* Many receives that main posts and another thread completes, of messages to itself whose sizes tell which they are. */
#include <mpi.h>
#include <pthread.h>

enum { TIMES = 3000 };
static MPI_Request request;
static pthread_barrier_t turn;

static void *complete(void *unused) {
    for (int i = 0; i < TIMES; i++) {
        pthread_barrier_wait(&turn);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        pthread_barrier_wait(&turn);
    }
    return unused;
}

int main(int argc, char **argv) {
    static char out[TIMES + 10], in[TIMES + 10];
    int provided;
    pthread_t t;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    pthread_barrier_init(&turn, NULL, 2);
    pthread_create(&t, NULL, complete, NULL);
    for (int i = 0; i < TIMES; i++) {
        MPI_Irecv(in, (int)sizeof in, MPI_CHAR, 0, 4, MPI_COMM_SELF, &request);
        MPI_Send(out, 10 + i, MPI_CHAR, 0, 4, MPI_COMM_SELF);
        pthread_barrier_wait(&turn);
        pthread_barrier_wait(&turn);
    }
    pthread_join(t, NULL);
    MPI_Finalize();
    return provided != MPI_THREAD_MULTIPLE;
}
