/* The communication of a conjugate gradient step: an exchange with the neighbors, and two sums over all ranks. */
#include "common.h"

enum { WORDS = 16 };

int main(int argc, char **argv) {
    static double out[WORDS], in[WORDS];
    double own = 1, sum;
    init(&argc, &argv);
    start();
    for (int i = 0; i < 700; i++) {
        MPI_Sendrecv(out, WORDS, MPI_DOUBLE, right, 0, in, WORDS, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(200);
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        work(80);
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        work(20);
    }
    finish();
    return 0;
}
