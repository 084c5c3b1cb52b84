/* Comparison of clocks along a binomial tree towards rank 0. Ranks that have the same clock are not compared. */
#include "worlds.h"
#include "clockid.h"

enum { TAG_HELLO = 1, TAG_PING, TAG_PONG, TAG_END, ENOUGH = 100, MOST = 1000 };
static const uint64_t longest = 200000000u; /* ns for one pair: with more ranks than CPUs a ping takes milliseconds */
static MPI_Comm comm = MPI_COMM_NULL;

static void keep(struct sl_thread *t, int partner, const uint64_t *best) {
    uint64_t data[4] = {(uint64_t)(sl_base + partner), best[0], best[1], best[2]};
    sl_define(t, SL_PING, 0, data, 4);
}

/* ask is what a rank does with the one that is nearer to rank 0. */
static void ask(struct sl_thread *t, int parent) {
    uint64_t hello[2] = {sl_clock_id(), sl_settings.ping_same_host}, answer[2] = {0, 0};
    PMPI_Sendrecv(hello, 2, MPI_UINT64_T, parent, TAG_HELLO, answer, 2, MPI_UINT64_T, parent, TAG_HELLO, comm, MPI_STATUS_IGNORE);
    if (hello[0] == answer[0] && !sl_settings.ping_same_host) {
        uint64_t now = sl_now(), same[3] = {now, now, now};
        keep(t, parent, same);
        return;
    }
    uint64_t best[3] = {0, 0, UINT64_MAX}, begin = sl_now();
    for (int since = 0, n = 0; since < ENOUGH && n < MOST; n++) {
        uint64_t sent = sl_now(), answered = 0;
        PMPI_Send(&sent, 1, MPI_UINT64_T, parent, TAG_PING, comm);
        PMPI_Recv(&answered, 1, MPI_UINT64_T, parent, TAG_PONG, comm, MPI_STATUS_IGNORE);
        uint64_t back = sl_now();
        since++;
        if (back - sent < best[2] - best[0]) {
            best[0] = sent;
            best[1] = answered;
            best[2] = back;
            since = 0;
        }
        if (back - begin > longest) break;
    }
    PMPI_Send(best, 1, MPI_UINT64_T, parent, TAG_END, comm);
    keep(t, parent, best);
}

static void answer_to(int child) {
    uint64_t hello[2] = {sl_clock_id(), 0}, other[2];
    PMPI_Sendrecv(hello, 2, MPI_UINT64_T, child, TAG_HELLO, other, 2, MPI_UINT64_T, child, TAG_HELLO, comm, MPI_STATUS_IGNORE);
    if (hello[0] == other[0] && !sl_settings.ping_same_host) return;
    for (;;) {
        MPI_Status s;
        uint64_t message;
        PMPI_Recv(&message, 1, MPI_UINT64_T, child, MPI_ANY_TAG, comm, &s);
        if (s.MPI_TAG == TAG_END) return;
        uint64_t now = sl_now();
        PMPI_Send(&now, 1, MPI_UINT64_T, child, TAG_PONG, comm);
    }
}

/* sl_clocks compares the clocks of all ranks of this world; all of them call it. */
void sl_clocks(struct sl_thread *t) {
    int me = sl_rank - sl_base, n = sl_ranks - sl_base;
    if (n < 2) return;
    if (comm == MPI_COMM_NULL) PMPI_Comm_dup(sl_world, &comm);
    for (int h = 1; h < n; h *= 2) {
        if (me % (2 * h) == h) {
            ask(t, me - h);
            return;
        }
        if (me + h < n) answer_to(me + h);
    }
}

void sl_clocks_end(void) {
    if (comm != MPI_COMM_NULL) PMPI_Comm_free(&comm);
}
