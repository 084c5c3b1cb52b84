/* Types that calls with large counts have made, where there are such calls, and one of more than 2 GiB, of which nothing is sent. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int me, ranks, out[100] = {7}, in[100] = {0};
    MPI_Datatype ten, gap, huge;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
#if MPI_VERSION >= 4
    MPI_Type_contiguous_c(10, MPI_INT, &ten);
    MPI_Type_vector_c(5, 1, 2, MPI_INT, &gap);
#else
    MPI_Type_contiguous(10, MPI_INT, &ten);
    MPI_Type_vector(5, 1, 2, MPI_INT, &gap);
#endif
    MPI_Type_contiguous(1 << 30, MPI_INT, &huge);
    MPI_Type_commit(&ten);
    MPI_Type_commit(&gap);
    MPI_Type_commit(&huge);
    MPI_Sendrecv(out, 10, ten, (me + 1) % ranks, 1, in, 10, ten, (me + ranks - 1) % ranks, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(out, 2, gap, (me + 1) % ranks, 2, in, 2, gap, (me + ranks - 1) % ranks, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out, 1, huge, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
    MPI_Type_free(&huge);
    MPI_Type_free(&gap);
    MPI_Type_free(&ten);
    MPI_Finalize();
    if (me == 0) printf("%d done\n", in[0]);
    return 0;
}
