/* A thread makes many calls and ends; then the first thread sends a message. */
#include <mpi.h>
#include <pthread.h>

static void *fill(void *unused) {
    for (int i = 0; i < 5000; i++) MPI_Barrier(MPI_COMM_SELF);
    return unused;
}

int main(int argc, char **argv) {
    int me, provided, data = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (me == 0) {
        pthread_t t;
        pthread_create(&t, NULL, fill, NULL);
        pthread_join(t, NULL);
        MPI_Send(&data, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&data, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return provided != MPI_THREAD_MULTIPLE;
}
