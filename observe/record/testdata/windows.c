/* Messages and collectives whose sizes tell which they are, so that a test sees whether ends belong together. Messages of a
 * kind have one tag; receives are posted ahead, with and without wildcards, requests are persistent, probed, cancelled, and
 * under way while recording is switched. Arguments: how recording is switched (no: not at all), iterations, busy time of the
 * last rank per iteration in us. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { RING, AHEAD, WILD, BOTH, PERSISTENT, PROBED, KINDS, AHEADS = 3, ROOM = 1 << 18 };
static char out[KINDS][ROOM], in[KINDS][ROOM], ahead[AHEADS][ROOM];
static int me, ranks, right, left;

static int size_of(int i, int kind, int from) { return 8 + (i * KINDS + kind) * ranks + from; }

static void busy(double us) {
    for (double begin = MPI_Wtime(); (MPI_Wtime() - begin) * 1e6 < us;) {}
}

int main(int argc, char **argv) {
    int n = argc > 2 ? atoi(argv[2]) : 60;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    right = (me + 1) % ranks;
    left = (me + ranks - 1) % ranks;
    int switched = argc > 1 && strcmp(argv[1], "no") != 0;
    double work = argc > 3 && me == ranks - 1 ? atof(argv[3]) : 0;
    MPI_Comm made = MPI_COMM_NULL, half = MPI_COMM_NULL;
    MPI_Request posted[AHEADS], pending = MPI_REQUEST_NULL, again[2], lost;
    static int sum[ROOM / sizeof(int)], sums[ROOM / sizeof(int)], later[ROOM / sizeof(int)];
    for (int k = 0; k < AHEADS; k++) MPI_Irecv(ahead[k], ROOM, MPI_CHAR, left, AHEAD, MPI_COMM_WORLD, &posted[k]);
    MPI_Send_init(out[PERSISTENT], 5, MPI_CHAR, right, PERSISTENT, MPI_COMM_WORLD, &again[0]);
    MPI_Recv_init(in[PERSISTENT], ROOM, MPI_CHAR, left, PERSISTENT, MPI_COMM_WORLD, &again[1]);
    for (int i = 0; i < n; i++) {
        if (switched) { /* each rank for itself, in the middle of everything */
            int phase = (i + 5 * me) % (11 + me);
            if (phase == 3) MPI_Pcontrol(0);
            if (phase == 9) MPI_Pcontrol(1);
        }
        busy(work);
        if (i == 7 || i == n / 2) { /* communicators that may be made unseen */
            if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
            MPI_Comm_dup(MPI_COMM_WORLD, &made);
            if (half != MPI_COMM_NULL) MPI_Comm_free(&half);
            MPI_Comm_split(MPI_COMM_WORLD, me == 0, me, &half);
        }
        MPI_Request r[2];
        MPI_Irecv(in[RING], ROOM, MPI_CHAR, left, RING, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(out[RING], size_of(i, RING, me), MPI_CHAR, right, RING, MPI_COMM_WORLD, &r[1]);
        MPI_Send(out[AHEAD], size_of(i, AHEAD, me), MPI_CHAR, right, AHEAD, MPI_COMM_WORLD);
        if (i % 4 == 1) { /* one that was posted and takes nothing */
            MPI_Irecv(in[WILD], ROOM, MPI_CHAR, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &lost);
            MPI_Cancel(&lost);
            MPI_Wait(&lost, MPI_STATUS_IGNORE);
        }
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        MPI_Wait(&posted[i % AHEADS], MPI_STATUS_IGNORE);
        if (i + AHEADS < n) MPI_Irecv(ahead[i % AHEADS], ROOM, MPI_CHAR, i % 2 ? left : MPI_ANY_SOURCE, AHEAD, MPI_COMM_WORLD, &posted[i % AHEADS]);
        if (made != MPI_COMM_NULL) {
            MPI_Isend(out[WILD], size_of(i, WILD, me), MPI_CHAR, right, WILD, made, &r[0]);
            MPI_Recv(in[WILD], ROOM, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, made, MPI_STATUS_IGNORE);
            MPI_Wait(&r[0], MPI_STATUS_IGNORE);
            MPI_Allreduce(sum, sums, i + 1, MPI_INT, MPI_SUM, made);
            MPI_Bcast(sum, i + 1, MPI_INT, 0, half);
        }
        MPI_Sendrecv(out[BOTH], size_of(i, BOTH, me), MPI_CHAR, left, BOTH, in[BOTH], ROOM, MPI_CHAR, right, BOTH, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (i % 3 == 0) { /* the same persistent requests, whose size does not tell which: they come in order */
            MPI_Startall(2, again);
            MPI_Waitall(2, again, MPI_STATUSES_IGNORE);
        }
        MPI_Message message;
        MPI_Isend(out[PROBED], size_of(i, PROBED, me), MPI_CHAR, right, PROBED, MPI_COMM_WORLD, &r[0]);
        MPI_Mprobe(left, PROBED, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(in[PROBED], ROOM, MPI_CHAR, &message, MPI_STATUS_IGNORE);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        if (pending != MPI_REQUEST_NULL) MPI_Wait(&pending, MPI_STATUS_IGNORE); /* of the iteration before */
        MPI_Iallreduce(sum, later, i + 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &pending);
        MPI_Allreduce(sum, sums, i + 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
    MPI_Request_free(&again[0]);
    MPI_Request_free(&again[1]);
    MPI_Finalize();
    return 0;
}
