/* A rank and one that it starts. Messages between them are left to MPI, also those of persistent requests, whose handles Open MPI changes
 * when they are started while the last message is on its way; requests that get such a handle later must be waited for. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SIZE = 1 << 20, TIMES = 4, ROUNDS = 40, AHEAD = 6 };

int main(int argc, char **argv) {
    MPI_Comm other;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&other);
    int child = other != MPI_COMM_NULL, room = TIMES * (SIZE + MPI_BSEND_OVERHEAD);
    if (!child) MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other, MPI_ERRCODES_IGNORE);
    char *data = calloc(SIZE, 1), *buffer = malloc((size_t)room);
    if (child) {
        usleep(20000);
        for (int i = 0; i < TIMES; i++) MPI_Recv(data, SIZE, MPI_CHAR, 0, 0, other, MPI_STATUS_IGNORE);
    } else {
        MPI_Request send;
        MPI_Buffer_attach(buffer, room);
        MPI_Bsend_init(data, SIZE, MPI_CHAR, 0, 0, other, &send);
        for (int i = 0; i < TIMES; i++) {
            MPI_Start(&send);
            MPI_Wait(&send, MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&send);
        MPI_Buffer_detach(&buffer, &room);
    }
    for (int round = 0; round < ROUNDS; round++) {
        int number[AHEAD], found = 0;
        MPI_Request r[AHEAD];
        for (int i = 0; i < AHEAD; i++) {
            number[i] = round * AHEAD + i;
            if (child) MPI_Recv(&number[i], 1, MPI_INT, 0, i, other, MPI_STATUS_IGNORE);
            else MPI_Issend(&number[i], 1, MPI_INT, 0, i, other, &r[i]);
        }
        for (int i = 0, index = 0; i < AHEAD; i++) {
            if (!child) MPI_Waitany(AHEAD, r, &index, MPI_STATUS_IGNORE);
            found += child ? number[i] == round * AHEAD + i : index != MPI_UNDEFINED;
        }
        if (found != AHEAD) printf("%s, round %d: %d messages, want %d\n", child ? "child" : "parent", round, found, AHEAD);
    }
    if (!child) printf("done\n");
    MPI_Comm_disconnect(&other);
    MPI_Finalize();
    return 0;
}
