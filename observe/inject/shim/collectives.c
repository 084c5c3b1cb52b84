/* Collectives that move data, as messages: dissemination (barrier), binomial trees (broadcast, gather, scatter), Bruck's
 * algorithm (allgather), all at once (alltoall and what has counts of its own for each rank). */
#include "collectives.h"

enum { SMALL = 65536 }; /* largest blocks that travel through trees */

int inj_barrier(MPI_Comm comm, MPI_Request *request) {
    struct schedule *s = inj_begin(comm, request != NULL);
    if (s == NULL) return INJ_LEFT;
    for (int d = 1; d < s->size; d <<= 1) {
        inj_add_send(s, NULL, 0, MPI_BYTE, (s->rank + d) % s->size);
        inj_add_receive(s, NULL, 0, MPI_BYTE, (s->rank - d + s->size) % s->size);
        inj_add_end(s);
    }
    return inj_end(s, comm, request);
}

/* Trees are drawn for a root of rank 0; others turn them. */
static int turned(const struct schedule *s, int root) { return (s->rank - root + s->size) % s->size; }
static int back(const struct schedule *s, int place, int root) { return (place + root) % s->size; }

int inj_bcast(void *buf, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request) {
    struct schedule *s = inj_bad(count, type) || inj_bad_root(comm, root) ? NULL : inj_begin(comm, request != NULL);
    if (s == NULL) return INJ_LEFT;
    type = inj_type(s, type);
    int place = turned(s, root), bit = 1;
    while (bit < s->size && (place & bit) == 0) bit <<= 1;
    if (place != 0) {
        inj_add_receive(s, buf, count, type, back(s, place - bit, root));
        inj_add_end(s);
    }
    for (bit >>= 1; bit > 0; bit >>= 1)
        if (place + bit < s->size) inj_add_send(s, buf, count, type, back(s, place + bit, root));
    return inj_end(s, comm, request);
}

/* below is the number of ranks in the tree under a place, with itself. */
static int below(const struct schedule *s, int place) {
    int bit = 1;
    while (bit < s->size && (place & bit) == 0) bit <<= 1;
    return place + bit < s->size ? bit : s->size - place;
}

static int parent_of(int place) { return place & (place - 1); }

int inj_gather(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request) {
    struct comm *c = inj_comm(comm);
    bool at_root = c != NULL && root == c->rank;
    if (inj_bad_root(comm, root) || (at_root ? inj_bad(recvcount, recvtype) : inj_bad(sendcount, sendtype))) return INJ_LEFT;
    if (at_root && sendbuf != MPI_IN_PLACE && inj_bad(sendcount, sendtype)) return INJ_LEFT;
    MPI_Aint extent = at_root ? inj_extent(recvtype) : 0;
    if (at_root && inj_aliased(sendbuf, sendcount, sendtype, inj_at(recvbuf, root * recvcount * extent), recvcount, recvtype)) return INJ_LEFT;
    int64_t block = at_root ? inj_size(recvcount, recvtype) : inj_size(sendcount, sendtype);
    struct schedule *s = inj_begin(comm, request != NULL);
    if (s == NULL) return INJ_LEFT;
    sendtype = sendbuf == MPI_IN_PLACE ? sendtype : inj_type(s, sendtype);
    if (at_root) recvtype = inj_type(s, recvtype);
    if (at_root && sendbuf != MPI_IN_PLACE) inj_add_copy(s, sendbuf, sendcount, sendtype, inj_at(recvbuf, s->rank * recvcount * extent), recvcount, recvtype);
    if (block > SMALL) {
        for (int i = 0; at_root && i < s->size; i++)
            if (i != root) inj_add_receive(s, inj_at(recvbuf, i * recvcount * extent), recvcount, recvtype, i);
        if (!at_root) inj_add_send(s, sendbuf, sendcount, sendtype, root);
        return inj_end(s, comm, request);
    }
    int place = turned(s, root), mine = below(s, place);
    char *all = inj_memory(s, block * mine);
    if (!at_root) inj_add_copy(s, sendbuf, sendcount, sendtype, all, block, MPI_BYTE);
    for (int bit = 1; bit < mine; bit <<= 1)
        inj_add_receive(s, all + block * bit, block * below(s, place + bit), MPI_BYTE, back(s, place + bit, root));
    inj_add_end(s);
    if (!at_root) inj_add_send(s, all, block * mine, MPI_BYTE, back(s, parent_of(place), root));
    for (int i = 1; at_root && i < s->size; i++)
        inj_add_copy(s, all + block * i, block, MPI_BYTE, inj_at(recvbuf, back(s, i, root) * recvcount * extent), recvcount, recvtype);
    return inj_end(s, comm, request);
}

int inj_scatter(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request) {
    struct comm *c = inj_comm(comm);
    bool at_root = c != NULL && root == c->rank;
    if (inj_bad_root(comm, root) || (at_root ? inj_bad(sendcount, sendtype) : inj_bad(recvcount, recvtype))) return INJ_LEFT;
    if (at_root && recvbuf != MPI_IN_PLACE && inj_bad(recvcount, recvtype)) return INJ_LEFT;
    MPI_Aint extent = at_root ? inj_extent(sendtype) : 0;
    if (at_root && inj_aliased(recvbuf, recvcount, recvtype, inj_at(sendbuf, root * sendcount * extent), sendcount, sendtype)) return INJ_LEFT;
    int64_t block = at_root ? inj_size(sendcount, sendtype) : inj_size(recvcount, recvtype);
    struct schedule *s = inj_begin(comm, request != NULL);
    if (s == NULL) return INJ_LEFT;
    recvtype = recvbuf == MPI_IN_PLACE ? recvtype : inj_type(s, recvtype);
    if (at_root) sendtype = inj_type(s, sendtype);
    if (at_root && recvbuf != MPI_IN_PLACE) inj_add_copy(s, inj_at(sendbuf, s->rank * sendcount * extent), sendcount, sendtype, recvbuf, recvcount, recvtype);
    if (block > SMALL) {
        for (int i = 0; at_root && i < s->size; i++)
            if (i != root) inj_add_send(s, inj_at(sendbuf, i * sendcount * extent), sendcount, sendtype, i);
        if (!at_root) inj_add_receive(s, recvbuf, recvcount, recvtype, root);
        return inj_end(s, comm, request);
    }
    int place = turned(s, root), mine = below(s, place), bit = 1;
    char *all = inj_memory(s, block * mine);
    for (int i = 1; at_root && i < s->size; i++)
        inj_add_copy(s, inj_at(sendbuf, back(s, i, root) * sendcount * extent), sendcount, sendtype, all + block * i, block, MPI_BYTE);
    if (!at_root) {
        inj_add_receive(s, all, block * mine, MPI_BYTE, back(s, parent_of(place), root));
        inj_add_end(s);
        inj_add_copy(s, all, block, MPI_BYTE, recvbuf, recvcount, recvtype);
    }
    while (bit < mine) bit <<= 1;
    for (bit >>= 1; bit > 0; bit >>= 1)
        if (bit < mine) inj_add_send(s, all + block * bit, block * below(s, place + bit), MPI_BYTE, back(s, place + bit, root));
    return inj_end(s, comm, request);
}

int inj_gatherv(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, struct counts recvcounts, struct places displs, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request) {
    struct comm *c = inj_comm(comm);
    bool at_root = c != NULL && root == c->rank;
    if (inj_bad_root(comm, root) || (at_root ? inj_bad_counts(recvcounts, c->size, recvtype, NULL) : inj_bad(sendcount, sendtype))) return INJ_LEFT;
    MPI_Aint extent = at_root ? inj_extent(recvtype) : 0;
    if (at_root && inj_aliased(sendbuf, sendcount, sendtype, inj_at(recvbuf, place_at(displs, root) * extent), count_at(recvcounts, root), recvtype)) return INJ_LEFT;
    struct schedule *s = inj_begin(comm, request != NULL);
    if (s == NULL) return INJ_LEFT;
    if (!at_root) {
        inj_add_send(s, sendbuf, sendcount, inj_type(s, sendtype), root);
        return inj_end(s, comm, request);
    }
    recvtype = inj_type(s, recvtype);
    for (int i = 0; i < s->size; i++) {
        void *to = inj_at(recvbuf, place_at(displs, i) * extent);
        if (i != root) inj_add_receive(s, to, count_at(recvcounts, i), recvtype, i);
        else if (sendbuf != MPI_IN_PLACE) inj_add_copy(s, sendbuf, sendcount, inj_type(s, sendtype), to, count_at(recvcounts, i), recvtype);
    }
    return inj_end(s, comm, request);
}

int inj_scatterv(const void *sendbuf, struct counts sendcounts, struct places displs, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request) {
    struct comm *c = inj_comm(comm);
    bool at_root = c != NULL && root == c->rank;
    if (inj_bad_root(comm, root) || (at_root ? inj_bad_counts(sendcounts, c->size, sendtype, NULL) : inj_bad(recvcount, recvtype))) return INJ_LEFT;
    MPI_Aint extent = at_root ? inj_extent(sendtype) : 0;
    if (at_root && inj_aliased(recvbuf, recvcount, recvtype, inj_at(sendbuf, place_at(displs, root) * extent), count_at(sendcounts, root), sendtype)) return INJ_LEFT;
    struct schedule *s = inj_begin(comm, request != NULL);
    if (s == NULL) return INJ_LEFT;
    if (!at_root) {
        inj_add_receive(s, recvbuf, recvcount, inj_type(s, recvtype), root);
        return inj_end(s, comm, request);
    }
    sendtype = inj_type(s, sendtype);
    for (int i = 0; i < s->size; i++) {
        const void *from = inj_at(sendbuf, place_at(displs, i) * extent);
        if (i != root) inj_add_send(s, from, count_at(sendcounts, i), sendtype, i);
        else if (recvbuf != MPI_IN_PLACE) inj_add_copy(s, from, count_at(sendcounts, i), sendtype, recvbuf, recvcount, inj_type(s, recvtype));
    }
    return inj_end(s, comm, request);
}

/* allgather is Bruck's algorithm on blocks of any sizes, which all ranks know: after round k a rank has the blocks of 2^k
 * ranks, from its own on. */
static int allgather(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, struct counts counts, MPI_Count same, const struct places *displs, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request) {
    struct comm *c = inj_comm(comm);
    if (c == NULL || c->inter || (displs == NULL ? inj_bad(same, recvtype) : inj_bad_counts(counts, c->size, recvtype, NULL))) return INJ_LEFT;
    int p = c->size, r = c->rank;
    MPI_Aint extent = inj_extent(recvtype);
#define COUNT(i) (displs == NULL ? same : count_at(counts, i))
#define PLACE(i) inj_at(recvbuf, (displs == NULL ? (i) * same : (MPI_Aint)place_at(*displs, i)) * extent)
    struct schedule *s = inj_aliased(sendbuf, sendcount, sendtype, PLACE(r), COUNT(r), recvtype) ? NULL : inj_begin(comm, request != NULL);
    if (s == NULL) return INJ_LEFT;
    int64_t size = inj_size(1, recvtype), *offset = inj_memory(s, (p + 1) * (int64_t)sizeof *offset);
    recvtype = inj_type(s, recvtype);
    offset[0] = 0;
    for (int i = 0; i < p; i++) offset[i + 1] = offset[i] + size * COUNT((r + i) % p);
    char *all = inj_memory(s, offset[p]);
    if (sendbuf == MPI_IN_PLACE) {
        inj_add_copy(s, PLACE(r), COUNT(r), recvtype, all, offset[1], MPI_BYTE);
    } else {
        sendtype = inj_type(s, sendtype);
        inj_add_copy(s, sendbuf, sendcount, sendtype, all, offset[1], MPI_BYTE);
        inj_add_copy(s, all, offset[1], MPI_BYTE, PLACE(r), COUNT(r), recvtype);
    }
    for (int have = 1; have < p; have <<= 1) {
        int n = have < p - have ? have : p - have;
        inj_add_send(s, all, offset[n], MPI_BYTE, (r - have + p) % p);
        inj_add_receive(s, all + offset[have], offset[have + n] - offset[have], MPI_BYTE, (r + have) % p);
        inj_add_end(s);
    }
    for (int i = 1; i < p; i++) {
        int of = (r + i) % p;
        inj_add_copy(s, all + offset[i], offset[i + 1] - offset[i], MPI_BYTE, PLACE(of), COUNT(of), recvtype);
    }
#undef COUNT
#undef PLACE
    return inj_end(s, comm, request);
}

int inj_allgather(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request) {
    if (sendbuf != MPI_IN_PLACE && inj_bad(sendcount, sendtype)) return INJ_LEFT;
    return allgather(sendbuf, sendcount, sendtype, recvbuf, (struct counts){NULL, NULL}, recvcount, NULL, recvtype, comm, request);
}

int inj_allgatherv(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, struct counts recvcounts, struct places displs, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request) {
    if (sendbuf != MPI_IN_PLACE && inj_bad(sendcount, sendtype)) return INJ_LEFT;
    return allgather(sendbuf, sendcount, sendtype, recvbuf, recvcounts, 0, &displs, recvtype, comm, request);
}

/* A block of an exchange of all with all. */
struct block { const void *from; MPI_Count count; MPI_Datatype type; void *to; MPI_Count to_count; MPI_Datatype to_type; };

/* exchange adds what goes to and comes from one rank; in place, what is sent is copied first. */
static void exchange(struct schedule *s, int peer, struct block b, bool in_place) {
    if (peer == s->rank) {
        if (!in_place) inj_add_copy(s, b.from, b.count, b.type, b.to, b.to_count, b.to_type);
        return;
    }
    if (in_place) {
        int64_t bytes = inj_size(b.to_count, b.to_type);
        char *copy = inj_memory(s, bytes);
        inj_add_copy(s, b.to, b.to_count, b.to_type, copy, bytes, MPI_BYTE);
        inj_add_send(s, copy, bytes, MPI_BYTE, peer);
    } else {
        inj_add_send(s, b.from, b.count, b.type, peer);
    }
    inj_add_receive(s, b.to, b.to_count, b.to_type, peer);
}

int inj_alltoall(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request) {
    bool in_place = sendbuf == MPI_IN_PLACE;
    if (inj_bad(recvcount, recvtype) || (!in_place && inj_bad(sendcount, sendtype))) return INJ_LEFT;
    if (inj_aliased(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype)) return INJ_LEFT;
    struct schedule *s = inj_begin(comm, request != NULL);
    if (s == NULL) return INJ_LEFT;
    MPI_Aint out = in_place ? 0 : inj_extent(sendtype) * sendcount, in = inj_extent(recvtype) * recvcount;
    sendtype = in_place ? sendtype : inj_type(s, sendtype);
    recvtype = inj_type(s, recvtype);
    for (int k = 0; k < s->size; k++) {
        int i = (s->rank + k) % s->size;
        exchange(s, i, (struct block){in_place ? NULL : inj_at(sendbuf, i * out), sendcount, sendtype, inj_at(recvbuf, i * in), recvcount, recvtype}, in_place);
    }
    return inj_end(s, comm, request);
}

/* same_counts reports whether there is one array of counts for both directions: MPICH then looks for aliases. */
static bool same_counts(struct counts a, struct counts b) { return a.narrow == b.narrow && a.wide == b.wide; }

int inj_alltoallv(const void *sendbuf, struct counts sendcounts, struct places sdispls, MPI_Datatype sendtype, void *recvbuf, struct counts recvcounts, struct places rdispls, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request) {
    bool in_place = sendbuf == MPI_IN_PLACE;
    struct comm *c = inj_comm(comm);
    if (c == NULL || c->inter || inj_bad_counts(recvcounts, c->size, recvtype, NULL)) return INJ_LEFT;
    if (!in_place && inj_bad_counts(sendcounts, c->size, sendtype, NULL)) return INJ_LEFT;
    if (same_counts(sendcounts, recvcounts) && inj_aliased(sendbuf, 1, sendtype, recvbuf, 1, recvtype)) return INJ_LEFT;
    struct schedule *s = inj_begin(comm, request != NULL);
    if (s == NULL) return INJ_LEFT;
    MPI_Aint out = in_place ? 0 : inj_extent(sendtype), in = inj_extent(recvtype);
    sendtype = in_place ? sendtype : inj_type(s, sendtype);
    recvtype = inj_type(s, recvtype);
    for (int k = 0; k < s->size; k++) {
        int i = (s->rank + k) % s->size;
        struct block b = {.to = inj_at(recvbuf, place_at(rdispls, i) * in), .to_count = count_at(recvcounts, i), .to_type = recvtype};
        if (!in_place) b.from = inj_at(sendbuf, place_at(sdispls, i) * out), b.count = count_at(sendcounts, i), b.type = sendtype;
        exchange(s, i, b, in_place);
    }
    return inj_end(s, comm, request);
}

int inj_alltoallw(const void *sendbuf, struct counts sendcounts, struct places sdispls, const MPI_Datatype sendtypes[], void *recvbuf, struct counts recvcounts, struct places rdispls, const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request) {
    bool in_place = sendbuf == MPI_IN_PLACE;
    struct comm *c = inj_comm(comm);
    if (c == NULL || c->inter || inj_bad_counts(recvcounts, c->size, MPI_DATATYPE_NULL, recvtypes)) return INJ_LEFT;
    if (!in_place && inj_bad_counts(sendcounts, c->size, MPI_DATATYPE_NULL, sendtypes)) return INJ_LEFT;
    if (same_counts(sendcounts, recvcounts) && sendtypes == recvtypes && inj_aliased(sendbuf, 1, MPI_BYTE, recvbuf, 1, MPI_BYTE)) return INJ_LEFT;
    struct schedule *s = inj_begin(comm, request != NULL);
    if (s == NULL) return INJ_LEFT;
    for (int k = 0; k < s->size; k++) {
        int i = (s->rank + k) % s->size;
        struct block b = {.to = inj_at(recvbuf, place_at(rdispls, i)), .to_count = count_at(recvcounts, i), .to_type = inj_type(s, recvtypes[i])};
        if (!in_place) b.from = inj_at(sendbuf, place_at(sdispls, i)), b.count = count_at(sendcounts, i), b.type = inj_type(s, sendtypes[i]);
        exchange(s, i, b, in_place);
    }
    return inj_end(s, comm, request);
}
