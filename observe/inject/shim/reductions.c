/* Collectives that reduce, as messages. What comes from lower ranks is the left operand of what comes from higher ones, so that
 * operations need not commute. */
#include "collectives.h"
#include "slackline_mpi.h"

static bool among(MPI_Datatype type, const MPI_Datatype *list, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (type == list[i]) return true;
    return false;
}

/* refused reports whether MPI refuses its own operation for a type, or may: it reports that itself, on all ranks and to the
 * communicator's error handler. Operations of the program take any type. */
static bool refused(MPI_Datatype type, MPI_Op op) {
    const MPI_Datatype pairs[] = {MPI_2INT, MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT, MPI_2INTEGER,
        MPI_2REAL, MPI_2DOUBLE_PRECISION};
    const MPI_Datatype reals[] = {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION};
    bool located = op == MPI_MAXLOC || op == MPI_MINLOC, bits = op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR;
    bool logical = op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR;
    if (!located && !bits && !logical && op != MPI_SUM && op != MPI_PROD && op != MPI_MAX && op != MPI_MIN) return false;
    if (among(type, pairs, sizeof pairs / sizeof *pairs)) return !located;
    if (located || ((bits || logical) && among(type, reals, sizeof reals / sizeof *reals))) return true;
    return (type == MPI_BYTE && !bits) || !sl_predefined(type);
}

static bool bad(MPI_Count count, MPI_Datatype type, MPI_Op op) { return inj_bad(count, type) || op == MPI_OP_NULL || refused(type, op); }

/* contribution is what this rank puts in: where it is, not to be changed. */
static const void *contribution(const void *sendbuf, void *recvbuf) { return sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf; }

/* Binomial tree. With an operation that does not commute the tree has rank 0 as its root, which sends the result on. */
int inj_reduce(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm, MPI_Request *request) {
    int commutes = 1;
    bool left = bad(count, type, op) || inj_bad_root(comm, root);
    left = left || (inj_comm(comm)->rank == root && inj_aliased(sendbuf, count, type, recvbuf, count, type));
    struct schedule *s = left ? NULL : inj_begin(comm, request != NULL);
    if (s == NULL) return INJ_LEFT;
    PMPI_Op_commutative(op, &commutes);
    type = inj_type(s, type);
    int p = s->size, top = commutes ? root : 0, place = (s->rank - top + p) % p;
    void *sum = inj_elements(s, count, type), *other = inj_elements(s, count, type);
    inj_add_copy(s, contribution(sendbuf, recvbuf), count, type, sum, count, type);
    for (int bit = 1; bit < p && (place & bit) == 0; bit <<= 1) {
        if (place + bit >= p) continue;
        inj_add_receive(s, other, count, type, (place + bit + top) % p);
        inj_add_end(s);
        if (commutes) {
            inj_add_reduce(s, other, sum, count, type, op);
        } else { /* other = sum op other */
            inj_add_reduce(s, sum, other, count, type, op);
            void *swap = sum;
            sum = other;
            other = swap;
        }
    }
    if (place != 0) {
        inj_add_send(s, sum, count, type, ((place & (place - 1)) + top) % p);
        inj_add_end(s);
    } else if (s->rank == root) {
        inj_add_copy(s, sum, count, type, recvbuf, count, type);
    } else {
        inj_add_send(s, sum, count, type, root);
    }
    if (s->rank == root && place != 0) inj_add_receive(s, recvbuf, count, type, top);
    return inj_end(s, comm, request);
}

/* Recursive doubling; of the ranks beyond a power of two, each gives its part to the next one first and gets the result
 * from it at the end. */
int inj_allreduce(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request) {
    bool left = bad(count, type, op) || inj_aliased(sendbuf, count, type, recvbuf, count, type);
    struct schedule *s = left ? NULL : inj_begin(comm, request != NULL);
    if (s == NULL) return INJ_LEFT;
    type = inj_type(s, type);
    int p = s->size, r = s->rank, power = 1;
    while (2 * power <= p) power *= 2;
    int rest = p - power, place = r < 2 * rest ? (r % 2 == 0 ? -1 : r / 2) : r - rest;
    void *sum = inj_elements(s, count, type), *other = inj_elements(s, count, type);
    inj_add_copy(s, contribution(sendbuf, recvbuf), count, type, sum, count, type);
    if (place < 0) {
        inj_add_send(s, sum, count, type, r + 1);
        inj_add_end(s);
        inj_add_receive(s, recvbuf, count, type, r + 1);
        return inj_end(s, comm, request);
    }
    if (r < 2 * rest) {
        inj_add_receive(s, other, count, type, r - 1);
        inj_add_end(s);
        inj_add_reduce(s, other, sum, count, type, op);
    }
    for (int bit = 1; bit < power; bit <<= 1) {
        int with = place ^ bit, peer = with < rest ? 2 * with + 1 : with + rest;
        inj_add_send(s, sum, count, type, peer);
        inj_add_receive(s, other, count, type, peer);
        inj_add_end(s);
        if (with < place) {
            inj_add_reduce(s, other, sum, count, type, op);
        } else {
            inj_add_reduce(s, sum, other, count, type, op);
            void *swap = sum;
            sum = other;
            other = swap;
        }
    }
    inj_add_copy(s, sum, count, type, recvbuf, count, type);
    if (r < 2 * rest) inj_add_send(s, sum, count, type, r - 1);
    return inj_end(s, comm, request);
}

/* Each rank gets the parts of its block from all ranks at once, and reduces them from the last one to the first. */
static int reduce_scatter(const void *sendbuf, void *recvbuf, struct counts counts, MPI_Count same, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request) {
    struct comm *c = inj_comm(comm);
    bool several = counts.narrow != NULL || counts.wide != NULL;
    if (c == NULL || c->inter || bad(same, type, op) || (several && inj_bad_counts(counts, c->size, type, NULL))) return INJ_LEFT;
    MPI_Count all = several ? 0 : same;
    for (int i = 0; several && i < c->size; i++) all += count_at(counts, i);
    struct schedule *s = inj_aliased(sendbuf, all, type, recvbuf, all, type) ? NULL : inj_begin(comm, request != NULL);
    if (s == NULL) return INJ_LEFT;
    MPI_Aint extent = inj_extent(type), at = 0;
    type = inj_type(s, type);
    const void *mine = contribution(sendbuf, recvbuf), *own = NULL;
    MPI_Count n = several ? count_at(counts, s->rank) : same;
    void **parts = inj_memory(s, s->size * (int64_t)sizeof *parts);
    for (int i = 0; i < s->size; i++) {
        MPI_Count theirs = several ? count_at(counts, i) : same;
        if (i == s->rank) own = inj_at(mine, at * extent);
        else inj_add_send(s, inj_at(mine, at * extent), theirs, type, i);
        at += theirs;
        parts[i] = inj_elements(s, n, type);
        if (i != s->rank) inj_add_receive(s, parts[i], n, type, i);
    }
    inj_add_end(s);
    inj_add_copy(s, own, n, type, parts[s->rank], n, type);
    void *sum = parts[s->size - 1];
    for (int i = s->size - 2; i >= 0; i--) inj_add_reduce(s, parts[i], sum, n, type, op);
    inj_add_copy(s, sum, n, type, recvbuf, n, type);
    return inj_end(s, comm, request);
}

int inj_reduce_scatter(const void *sendbuf, void *recvbuf, struct counts recvcounts, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request) {
    bool missing = recvcounts.narrow == NULL && recvcounts.wide == NULL; /* which is wrong */
    return reduce_scatter(sendbuf, recvbuf, recvcounts, missing ? -1 : 0, type, op, comm, request);
}

int inj_reduce_scatter_block(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request) {
    return reduce_scatter(sendbuf, recvbuf, (struct counts){NULL, NULL}, recvcount, type, op, comm, request);
}

/* In each round a rank gets what the 2^k ranks up to the one 2^k below it have together. */
static int scan(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op, bool with_own, MPI_Comm comm, MPI_Request *request) {
    bool left = bad(count, type, op) || inj_aliased(sendbuf, count, type, recvbuf, count, type);
    struct schedule *s = left ? NULL : inj_begin(comm, request != NULL);
    if (s == NULL) return INJ_LEFT;
    type = inj_type(s, type);
    void *sum = inj_elements(s, count, type), *other = inj_elements(s, count, type);
    bool first = true;
    inj_add_copy(s, contribution(sendbuf, recvbuf), count, type, sum, count, type);
    for (int d = 1; d < s->size; d <<= 1) {
        if (s->rank + d < s->size) inj_add_send(s, sum, count, type, s->rank + d);
        if (s->rank - d >= 0) inj_add_receive(s, other, count, type, s->rank - d);
        inj_add_end(s);
        if (s->rank - d < 0) continue;
        inj_add_reduce(s, other, sum, count, type, op);
        if (with_own) continue;
        if (first) inj_add_copy(s, other, count, type, recvbuf, count, type);
        else inj_add_reduce(s, other, recvbuf, count, type, op);
        first = false;
    }
    if (with_own) inj_add_copy(s, sum, count, type, recvbuf, count, type);
    return inj_end(s, comm, request);
}

int inj_scan(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request) {
    return scan(sendbuf, recvbuf, count, type, op, true, comm, request);
}

int inj_exscan(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request) {
    return scan(sendbuf, recvbuf, count, type, op, false, comm, request);
}
