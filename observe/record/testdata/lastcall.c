/* Another thread switches recording on while the first one waits for it; the next call of MPI is the last one. */
#include <mpi.h>
#include <pthread.h>

static void *on(void *unused) {
    MPI_Pcontrol(1);
    return unused;
}

int main(int argc, char **argv) {
    int provided;
    pthread_t t;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    pthread_create(&t, NULL, on, NULL);
    pthread_join(t, NULL);
    MPI_Finalize();
    return provided != MPI_THREAD_MULTIPLE;
}
