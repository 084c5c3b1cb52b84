/* An exchange of 64 KiB before each step: too large for any eager protocol, so each message needs a handshake. */
#include "common.h"

enum { BYTES = 65536 };

int main(int argc, char **argv) {
    static char out[BYTES], in[BYTES];
    init(&argc, &argv);
    start();
    for (int i = 0; i < 600; i++) {
        MPI_Sendrecv(out, BYTES, MPI_CHAR, right, 0, in, BYTES, MPI_CHAR, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(300);
    }
    finish();
    return 0;
}
