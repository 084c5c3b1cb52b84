/* Fences, locks and collective writes of two ranks, which switch recording off for different ones. */
#include <mpi.h>

int main(int argc, char **argv) {
    int me, x = 0, *memory;
    MPI_Win w;
    MPI_File f;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &w);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    for (int i = 1; i <= 12; i++) {
        if (i == 4 + 4 * me) MPI_Pcontrol(0);
        if (i == 6 + 4 * me) MPI_Pcontrol(1);
        MPI_Win_fence(0, w);
        MPI_Win_lock(MPI_LOCK_SHARED, 1 - me, 0, w);
        MPI_Win_unlock(1 - me, w);
        MPI_File_write_at_all(f, me * 4, &x, 1, MPI_INT, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&f);
    MPI_Win_free(&w);
    MPI_Finalize();
    return 0;
}
