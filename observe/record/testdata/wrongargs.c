/* Calls without requests, with numbers below 0 and with other arguments that are wrong, of which MPI returns errors; prints their classes. */
#include <mpi.h>
#include <stdio.h>

static int me;

static void show(const char *call, int result) {
    int class;
    MPI_Error_class(result, &class);
    printf("%d %s: %d\n", me, call, class);
}
#define SHOW(call) show(#call, call)

int main(int argc, char **argv) {
    int data = 0, flag = 3, index[4], n;
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status s[4];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    SHOW(MPI_Startall(0, NULL)); /* Open MPI calls this wrong */
    SHOW(MPI_Startall(-1, r));
    SHOW(MPI_Startall(2, NULL));
    SHOW(MPI_Startall(2, r));
    SHOW(MPI_Start(NULL));
    SHOW(MPI_Start(r));
    SHOW(MPI_Wait(NULL, s));
    SHOW(MPI_Waitall(-1, r, s));
    SHOW(MPI_Waitall(2, NULL, s));
    SHOW(MPI_Waitany(-1, r, &n, s));
    SHOW(MPI_Waitany(2, NULL, &n, s));
    SHOW(MPI_Waitany(2, r, NULL, s));
    SHOW(MPI_Waitsome(-1, r, &n, index, s));
    SHOW(MPI_Waitsome(2, NULL, &n, index, s));
    SHOW(MPI_Waitsome(2, r, NULL, index, s));
    SHOW(MPI_Test(NULL, &flag, s));
    SHOW(MPI_Test(r, NULL, s));
    SHOW(MPI_Testall(-2, r, &flag, s));
    SHOW(MPI_Testall(2, NULL, &flag, s));
    SHOW(MPI_Testall(2, r, NULL, s));
    SHOW(MPI_Testany(-1, r, &n, &flag, s));
    SHOW(MPI_Testany(2, NULL, &n, &flag, s));
    SHOW(MPI_Testsome(-2, r, &n, index, s));
    SHOW(MPI_Request_free(NULL));
    SHOW(MPI_Request_free(r));
    SHOW(MPI_Cancel(NULL));
    SHOW(MPI_Cancel(r));
    SHOW(MPI_Request_get_status(r[0], NULL, s));
    SHOW(MPI_Isend(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, NULL));
    SHOW(MPI_Irecv(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, NULL));
    SHOW(MPI_Send_init(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, NULL));
#ifdef OPEN_MPI /* MPICH ends the program */
    int zeros[2] = {0, 0};
    SHOW(MPI_Alltoallv(&data, NULL, NULL, MPI_INT, index, zeros, zeros, MPI_INT, MPI_COMM_WORLD));
    SHOW(MPI_Alltoallv(&data, zeros, zeros, MPI_INT, index, NULL, zeros, MPI_INT, MPI_COMM_WORLD));
    SHOW(MPI_Alltoallw(&data, NULL, NULL, NULL, index, zeros, zeros, NULL, MPI_COMM_WORLD));
    SHOW(MPI_Allgatherv(&data, 1, MPI_INT, index, NULL, NULL, MPI_INT, MPI_COMM_WORLD));
    SHOW(MPI_Gatherv(&data, 1, MPI_INT, index, NULL, NULL, MPI_INT, 0, MPI_COMM_SELF));
    SHOW(MPI_Reduce_scatter(&data, index, NULL, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
#else /* Open MPI does */
    SHOW(MPI_Ibarrier(MPI_COMM_WORLD, NULL));
    SHOW(MPI_Ibcast(&data, 1, MPI_INT, 0, MPI_COMM_WORLD, NULL));
    SHOW(MPI_Mrecv(&data, 1, MPI_INT, NULL, s));
    SHOW(MPI_Imrecv(&data, 1, MPI_INT, NULL, r));
#endif
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
