/* Functions that are entered and left while recording is off. */
#include <mpi.h>

static void third(void) {
    MPI_Pcontrol(1);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void second(void) { third(); }

static void unseen(void) { MPI_Barrier(MPI_COMM_WORLD); }

static void first(void) {
    MPI_Pcontrol(0);
    unseen();
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    first();
    second();
    MPI_Finalize();
    return 0;
}
