/* Work in the order in which it arrives: between pieces of its own a rank looks whether the message of its neighbor is there, and
 * then does the work that belongs to it first. With more latency this work moves to a later place in each step. */
#include "common.h"

enum { WORDS = 16, STEPS = 400, PIECES = 4 };

int main(int argc, char **argv) {
    static double out[WORDS], in[WORDS];
    init(&argc, &argv);
    start();
    for (int i = 0; i < STEPS; i++) {
        MPI_Request r[2];
        int here = 0;
        MPI_Irecv(in, WORDS, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(out, WORDS, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &r[1]);
        for (int piece = 0; piece < PIECES; piece++) {
            work(100);
            if (here) continue;
            MPI_Test(&r[0], &here, MPI_STATUS_IGNORE);
            if (here) work(100);
        }
        if (!here) {
            MPI_Wait(&r[0], MPI_STATUS_IGNORE);
            work(100);
        }
        MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    }
    finish();
    return 0;
}
