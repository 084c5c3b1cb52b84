/* Keeps 1300 communicators at once, half of them of two ranks only, reduces on each, and makes another one when they are freed. */
#include <mpi.h>
#include <stdio.h>

enum { N = 1300 };

int main(int argc, char **argv) {
    static MPI_Comm made[N + 1];
    int me, sum, total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int i = 0; i < N; i++) {
        if (i % 2 == 1) MPI_Comm_dup(MPI_COMM_WORLD, &made[i]);
        else MPI_Comm_split(MPI_COMM_WORLD, me < 2 ? 0 : MPI_UNDEFINED, -me, &made[i]);
        if (made[i] == MPI_COMM_NULL) continue;
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, made[i]);
        total += sum;
    }
    for (int i = 0; i < N; i++) {
        if (made[i] != MPI_COMM_NULL) MPI_Comm_free(&made[i]);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &made[N]);
    MPI_Barrier(made[N]);
    MPI_Comm_free(&made[N]);
    printf("rank %d: total %d\n", me, total);
    MPI_Finalize();
    return 0;
}
