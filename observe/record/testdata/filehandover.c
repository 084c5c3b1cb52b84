/* Collective operations on a file that the first thread begins and another one ends; those of rank 1 begin late. */
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

enum { TIMES = 4 };
static MPI_File file;
static MPI_Request request;
static int data;

static void *end(void *split) {
    if (split != NULL)
        MPI_File_write_at_all_end(file, &data, MPI_STATUS_IGNORE);
    else
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    return NULL;
}

int main(int argc, char **argv) {
    int me, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    for (int i = 0; i < 2 * TIMES; i++) {
        pthread_t t;
        if (me == 1) usleep(20000);
        if (i % 2 == 0)
            MPI_File_write_at_all_begin(file, 4 * me, &data, 1, MPI_INT);
        else
            MPI_File_iwrite_at_all(file, 4 * me, &data, 1, MPI_INT, &request);
        pthread_create(&t, NULL, end, i % 2 == 0 ? &data : NULL);
        pthread_join(t, NULL);
        MPI_File_sync(file);
    }
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
