/* A thread completes a receive that main posted, while recording is off; then recording is switched on and off again. */
#include <mpi.h>
#include <pthread.h>

static MPI_Request request;

static void *complete(void *unused) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return unused;
}

int main(int argc, char **argv) {
    int me, provided, data = 0, room;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Irecv(&room, 1, MPI_INT, 1 - me, 4, MPI_COMM_WORLD, &request);
    MPI_Send(&data, 1, MPI_INT, 1 - me, 4, MPI_COMM_WORLD);
    MPI_Pcontrol(0);
    pthread_t t;
    pthread_create(&t, NULL, complete, NULL);
    pthread_join(t, NULL);
    for (int i = 0; i < 3; i++) {
        MPI_Pcontrol(1);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Pcontrol(0);
    }
    MPI_Finalize();
    return provided != MPI_THREAD_MULTIPLE;
}
