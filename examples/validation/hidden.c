/* Latency hidden by computation: each message is sent a whole step before it is needed. */
#include "common.h"

enum { WORDS = 16 };

int main(int argc, char **argv) {
    static double out[WORDS], in[2][WORDS];
    MPI_Request r[2], s[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    init(&argc, &argv);
    start();
    MPI_Irecv(in[0], WORDS, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(out, WORDS, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &s[0]);
    for (int i = 0; i < 600; i++) {
        int now = i % 2, next = 1 - now;
        MPI_Irecv(in[next], WORDS, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &r[next]);
        MPI_Isend(out, WORDS, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &s[next]);
        work(400);
        MPI_Wait(&r[now], MPI_STATUS_IGNORE);
        MPI_Wait(&s[now], MPI_STATUS_IGNORE);
    }
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Wait(&s[0], MPI_STATUS_IGNORE);
    finish();
    return 0;
}
