/* Leaves MPI_Send by a jump out of its error handler, as exceptions of C++ do, and goes on. */
#include <mpi.h>
#include <setjmp.h>

static jmp_buf back;

static void handler(MPI_Comm *comm, int *code, ...) {
    int found;
    (void)code;
    MPI_Iprobe(MPI_ANY_SOURCE, 5, *comm, &found, MPI_STATUS_IGNORE); /* not a call of the program */
    longjmp(back, 1);
}

static void work(void) {
    static volatile int done;
    done++;
}

/* deep calls MPI further down the stack than the call that was left. */
static void deep(int levels) {
    volatile char room[200];
    room[0] = 1;
    if (levels > 0) deep(levels - room[0]);
    else MPI_Barrier(MPI_COMM_WORLD);
    room[1] = room[0];
}

int main(int argc, char **argv) {
    int out = 1, in = 0, me;
    volatile int i;
    MPI_Errhandler jumps;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_create_errhandler(handler, &jumps);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, jumps);
    for (i = 0; i < 15; i++)
        if (setjmp(back) == 0) MPI_Send(&out, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
    work();
    for (i = 0; i < 3; i++) { /* the next call has more arguments */
        if (setjmp(back) == 0) MPI_Send(&out, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
        MPI_Sendrecv(&out, 1, MPI_INT, me, 0, &in, 1, MPI_INT, me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (i = 0; i < 5; i++) {
        if (setjmp(back) == 0) MPI_Send(&out, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
        else deep(i);
    }
    for (i = 0; i < 10; i++) MPI_Barrier(MPI_COMM_WORLD);
    if (setjmp(back) == 0) MPI_Send(&out, 1, MPI_INT, 99, 0, MPI_COMM_WORLD); /* the last one */
    MPI_Finalize();
    return in == 1 ? 0 : 1;
}
