/* Two ranks start two processes, merge with them, and talk among themselves and with the new ones. */
#include <mpi.h>

int main(int argc, char **argv) {
    MPI_Comm parent, between, all;
    int me, one = 1, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (parent == MPI_COMM_NULL)
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE);
    else
        between = parent;
    MPI_Intercomm_merge(between, parent != MPI_COMM_NULL, &all);
    for (int i = 0; i < 5; i++) {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
        if (parent != MPI_COMM_NULL) continue;
        MPI_Barrier(MPI_COMM_WORLD);
        if (me == 0) MPI_Send(&one, 1, MPI_INT, 1, 5, all);
        else MPI_Recv(&one, 1, MPI_INT, 0, 5, all, MPI_STATUS_IGNORE);
    }
    if (parent == MPI_COMM_NULL && me == 0) MPI_Send(&one, 1, MPI_INT, 2, 7, all);
    if (parent != MPI_COMM_NULL && me == 0) MPI_Recv(&one, 1, MPI_INT, 0, 7, all, MPI_STATUS_IGNORE);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&between);
    MPI_Finalize();
    return sum != 4;
}
