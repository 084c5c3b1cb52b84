/* Is linked with MPI, and does not call it. */
#include <mpi.h>

int main(int argc, char **argv) {
    if (argc > 100) MPI_Init(&argc, &argv);
    return 0;
}
