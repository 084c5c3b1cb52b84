/* Halo exchange with overlap: the interior is computed while 128 bytes travel, then the boundary. */
#include "common.h"

enum { WORDS = 16 };

int main(int argc, char **argv) {
    static double out[WORDS], in[WORDS];
    init(&argc, &argv);
    start();
    for (int i = 0; i < 800; i++) {
        MPI_Request r[2];
        MPI_Irecv(in, WORDS, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(out, WORDS, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &r[1]);
        work(150);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        work(150);
    }
    finish();
    return 0;
}
