/* Collectives between neighbors, as messages: all at once. */
#include "collectives.h"
#include <stdlib.h>

struct neighbors {
    int n_in, n_out;
    int *in, *out;
    bool grid;
};

static bool room_for(struct neighbors *n, int in, int out) {
    n->n_in = in;
    n->n_out = out;
    n->in = calloc((size_t)in + 1, sizeof *n->in);
    n->out = calloc((size_t)out + 1, sizeof *n->out);
    return n->in != NULL && n->out != NULL;
}

static void forget(struct neighbors *n) {
    free(n->in);
    free(n->out);
}

static bool in_grid(MPI_Comm comm, struct neighbors *n) {
    int dimensions = 0;
    n->grid = true;
    if (PMPI_Cartdim_get(comm, &dimensions) != MPI_SUCCESS || !room_for(n, 2 * dimensions, 2 * dimensions)) return false;
    for (int d = 0; d < dimensions; d++)
        if (PMPI_Cart_shift(comm, d, 1, &n->in[2 * d], &n->in[2 * d + 1]) != MPI_SUCCESS) return false;
    memcpy(n->out, n->in, sizeof *n->in * (size_t)n->n_in);
    return true;
}

static bool in_graph(MPI_Comm comm, struct neighbors *n) {
    int rank, degree = 0;
    PMPI_Comm_rank(comm, &rank);
    if (PMPI_Graph_neighbors_count(comm, rank, &degree) != MPI_SUCCESS || !room_for(n, degree, degree)) return false;
    if (PMPI_Graph_neighbors(comm, rank, degree, n->in) != MPI_SUCCESS) return false;
    memcpy(n->out, n->in, sizeof *n->in * (size_t)degree);
    return true;
}

static bool in_directed_graph(MPI_Comm comm, struct neighbors *n) {
    int in = 0, out = 0, weighted;
    if (PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted) != MPI_SUCCESS || !room_for(n, in, out)) return false;
    return PMPI_Dist_graph_neighbors(comm, in, n->in, MPI_UNWEIGHTED, out, n->out, MPI_UNWEIGHTED) == MPI_SUCCESS;
}

/* find finds the neighbors of this rank; without success the collective is left to MPI, which reports what is wrong. */
static bool find(MPI_Comm comm, struct neighbors *n) {
    int kind = MPI_UNDEFINED;
    struct comm *c = inj_comm(comm);
    *n = (struct neighbors){0};
    if (c == NULL || c->inter || PMPI_Topo_test(comm, &kind) != MPI_SUCCESS) return false;
    if (kind == MPI_CART) return in_grid(comm, n);
    if (kind == MPI_GRAPH) return in_graph(comm, n);
    return kind == MPI_DIST_GRAPH && in_directed_graph(comm, n);
}

int inj_neighbors(MPI_Comm comm, bool outgoing) {
    struct neighbors n;
    int count = find(comm, &n) ? (outgoing ? n.n_out : n.n_in) : 0;
    forget(&n);
    return count;
}

/* One side of such a collective: where the data of each neighbor are. */
struct side {
    const void *buffer;
    bool whole;                /* the same data for all */
    MPI_Count count;           /* of each block, unless there are counts */
    const struct counts *counts;
    const struct places *places;
    MPI_Datatype type;
    const MPI_Datatype *types; /* one for each; places are then bytes */
};

struct part { void *at; MPI_Count count; MPI_Datatype type; };

static struct part part_of(const struct side *s, int i) {
    struct part p = {NULL, s->counts != NULL ? count_at(*s->counts, i) : s->count, s->types != NULL ? s->types[i] : s->type};
    MPI_Aint offset = 0;
    if (s->types != NULL) offset = place_at(*s->places, i);
    else if (!s->whole) offset = (s->places != NULL ? place_at(*s->places, i) : i * p.count) * inj_extent(s->type);
    p.at = inj_at(s->buffer, offset);
    return p;
}

static bool bad_side(const struct side *s, int n) {
    for (int i = 0; i < n; i++)
        if (inj_bad(s->counts != NULL ? count_at(*s->counts, i) : s->count, s->types != NULL ? s->types[i] : s->type)) return true;
    return false;
}

/* If several neighbors are the same rank, which block comes from which? The standard wants that what was sent downwards in a
 * grid comes from above; Open MPI 4.1 takes them in order, MPICH 4.0 in order or from the last to the first, depending on the
 * call. A program gets what it would get without this library: a rank that is its own neighbor four times shows it. */
enum order { UNKNOWN, IN_ORDER, PAIRS, REVERSED };
enum call { GATHER, ALLTOALL, ALLTOALLV, ALLTOALLW };
enum { SELF = 4 };

static int index_of(enum order order, int n, int k) {
    return order == PAIRS ? k ^ 1 : order == REVERSED ? n - 1 - k : k;
}

static void try_call(enum call call, bool later, const int *from, int *to, MPI_Comm self) {
    int ones[SELF], places[SELF];
    MPI_Aint bytes[SELF];
    MPI_Datatype types[SELF];
    MPI_Request request = MPI_REQUEST_NULL;
    for (int i = 0; i < SELF; i++) {
        ones[i] = 1;
        places[i] = i;
        bytes[i] = i * (MPI_Aint)sizeof(int);
        types[i] = MPI_INT;
    }
    switch (call) {
    case ALLTOALL:
        if (later) PMPI_Ineighbor_alltoall(from, 1, MPI_INT, to, 1, MPI_INT, self, &request);
        else PMPI_Neighbor_alltoall(from, 1, MPI_INT, to, 1, MPI_INT, self);
        break;
    case ALLTOALLV:
        if (later) PMPI_Ineighbor_alltoallv(from, ones, places, MPI_INT, to, ones, places, MPI_INT, self, &request);
        else PMPI_Neighbor_alltoallv(from, ones, places, MPI_INT, to, ones, places, MPI_INT, self);
        break;
    default:
        if (later) PMPI_Ineighbor_alltoallw(from, ones, bytes, types, to, ones, bytes, types, self, &request);
        else PMPI_Neighbor_alltoallw(from, ones, bytes, types, to, ones, bytes, types, self);
    }
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

static enum order order_of(enum call call, bool grid, bool later) {
    static _Atomic int known[ALLTOALLW + 1][2][2];
    int one[2] = {1, 1}, mine[SELF] = {0}, from[SELF], to[SELF] = {0};
    MPI_Comm self;
    if (call == GATHER) return IN_ORDER;
    if (known[call][grid][later] != UNKNOWN) return known[call][grid][later];
    if (grid) PMPI_Cart_create(MPI_COMM_SELF, SELF / 2, one, one, 0, &self);
    else PMPI_Dist_graph_create_adjacent(MPI_COMM_SELF, SELF, mine, MPI_UNWEIGHTED, SELF, mine, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &self);
    for (int i = 0; i < SELF; i++) from[i] = i;
    try_call(call, later, from, to, self);
    PMPI_Comm_free(&self);
    enum order order = to[0] == SELF - 1 ? REVERSED : to[0] == 1 ? PAIRS : IN_ORDER;
    known[call][grid][later] = order;
    return order;
}

/* exchange sends to all neighbors and receives from all. */
static int exchange(enum call call, struct side out, struct side in, MPI_Comm comm, MPI_Request *request) {
    struct neighbors n;
    struct schedule *s = NULL;
    if (find(comm, &n) && !bad_side(&out, n.n_out) && !bad_side(&in, n.n_in)) s = inj_begin(comm, request != NULL);
    enum order order = s != NULL ? order_of(call, n.grid, request != NULL) : IN_ORDER;
    for (int k = 0; s != NULL && k < n.n_in; k++) {
        int i = index_of(order, n.n_in, k);
        struct part p = part_of(&in, i);
        if (n.in[i] != MPI_PROC_NULL) inj_add_receive(s, p.at, p.count, inj_type(s, p.type), n.in[i]);
    }
    for (int i = 0; s != NULL && i < n.n_out; i++) {
        struct part p = part_of(&out, i);
        if (n.out[i] != MPI_PROC_NULL) inj_add_send(s, p.at, p.count, inj_type(s, p.type), n.out[i]);
    }
    forget(&n);
    return s != NULL ? inj_end(s, comm, request) : INJ_LEFT;
}

int inj_neighbor_allgather(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request) {
    return exchange(GATHER, (struct side){.buffer = sendbuf, .whole = true, .count = sendcount, .type = sendtype},
        (struct side){.buffer = recvbuf, .count = recvcount, .type = recvtype}, comm, request);
}

int inj_neighbor_allgatherv(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, struct counts recvcounts, struct places displs, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request) {
    return exchange(GATHER, (struct side){.buffer = sendbuf, .whole = true, .count = sendcount, .type = sendtype},
        (struct side){.buffer = recvbuf, .counts = &recvcounts, .places = &displs, .type = recvtype}, comm, request);
}

int inj_neighbor_alltoall(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request) {
    return exchange(ALLTOALL, (struct side){.buffer = sendbuf, .count = sendcount, .type = sendtype},
        (struct side){.buffer = recvbuf, .count = recvcount, .type = recvtype}, comm, request);
}

int inj_neighbor_alltoallv(const void *sendbuf, struct counts sendcounts, struct places sdispls, MPI_Datatype sendtype, void *recvbuf, struct counts recvcounts, struct places rdispls, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request) {
    return exchange(ALLTOALLV, (struct side){.buffer = sendbuf, .counts = &sendcounts, .places = &sdispls, .type = sendtype},
        (struct side){.buffer = recvbuf, .counts = &recvcounts, .places = &rdispls, .type = recvtype}, comm, request);
}

int inj_neighbor_alltoallw(const void *sendbuf, struct counts sendcounts, struct places sdispls, const MPI_Datatype sendtypes[], void *recvbuf, struct counts recvcounts, struct places rdispls, const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request) {
    return exchange(ALLTOALLW, (struct side){.buffer = sendbuf, .counts = &sendcounts, .places = &sdispls, .types = sendtypes},
        (struct side){.buffer = recvbuf, .counts = &recvcounts, .places = &rdispls, .types = recvtypes}, comm, request);
}
