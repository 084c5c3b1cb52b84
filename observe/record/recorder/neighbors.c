/* Topologies: who the neighbours of this process are, and the bytes that it exchanges with each. */
#include "collectives.h"
#include <stdlib.h>

static int *list_of(int n) {
    int *list = calloc((size_t)n + 1, sizeof *list);
    if (list == NULL) abort();
    return list;
}

static void cart(struct sl_thread *t, struct sl_comm *c, MPI_Comm comm) {
    int n = 0;
    PMPI_Cartdim_get(comm, &n);
    if (n < 1 || n > 64) return;
    int dims[64], periods[64], coords[64];
    PMPI_Cart_get(comm, n, dims, periods, coords);
    uint64_t data[1 + 64 * 3] = {(uint64_t)n};
    c->sources = c->targets = 2 * n;
    c->in = c->out = list_of(2 * n);
    for (int i = 0; i < n; i++) {
        data[1 + i] = (uint64_t)dims[i];
        data[1 + n + i] = (uint64_t)periods[i];
        data[1 + 2 * n + i] = (uint64_t)coords[i];
        PMPI_Cart_shift(comm, i, 1, &c->in[2 * i], &c->in[2 * i + 1]);
    }
    sl_define(t, SL_DEF_CART, c->id, data, (size_t)(1 + 3 * n));
}

static void define(struct sl_thread *t, const struct sl_comm *c) {
    uint64_t *data = calloc((size_t)(2 + c->sources + c->targets), sizeof *data);
    if (data == NULL) abort();
    data[0] = sl_pair(c->targets, c->sources);
    for (int i = 0; i < c->sources; i++) data[1 + i] = (uint64_t)(int64_t)sl_peer(c->in[i]);
    for (int i = 0; i < c->targets; i++) data[1 + c->sources + i] = (uint64_t)(int64_t)sl_peer(c->out[i]);
    sl_define(t, SL_DEF_NEIGHBORS, c->id, data, (size_t)(1 + c->sources + c->targets));
    free(data);
}

/* sl_topology learns the neighbours of this process in a new communicator. */
void sl_topology(struct sl_thread *t, struct sl_comm *c, MPI_Comm comm) {
    int kind = MPI_UNDEFINED, weighted = 0;
    PMPI_Topo_test(comm, &kind);
    if (kind == MPI_CART) {
        cart(t, c, comm);
    } else if (kind == MPI_GRAPH) {
        PMPI_Graph_neighbors_count(comm, c->rank, &c->sources);
        c->targets = c->sources;
        c->in = c->out = list_of(c->sources);
        PMPI_Graph_neighbors(comm, c->rank, c->sources, c->in);
        define(t, c);
    } else if (kind == MPI_DIST_GRAPH) {
        PMPI_Dist_graph_neighbors_count(comm, &c->sources, &c->targets, &weighted);
        c->in = list_of(c->sources);
        c->out = list_of(c->targets);
        int *weights = list_of(c->sources + c->targets);
        PMPI_Dist_graph_neighbors(comm, c->sources, c->in, weights, c->targets, c->out, weights + c->sources);
        free(weights);
        define(t, c);
    }
}

/* sl_exchange is the record of an operation among neighbours that have a block each. */
struct sl_record *sl_exchange(struct sl_thread *t, uint16_t fn, struct sl_frame frame, const struct sl_comm *c,
                              int64_t block_out, int64_t block_in) {
    int64_t out = 0, in = 0;
    for (int i = 0; i < c->targets; i++) out += c->out[i] >= 0 ? block_out : 0;
    for (int i = 0; i < c->sources; i++) in += c->in[i] >= 0 ? block_in : 0;
    return sl_collective(t, fn, frame, c, SL_ALL, out, in, 0);
}

/* sl_exchanged sums the bytes by neighbour, those of nobody left out. */
int64_t sl_exchanged(uint64_t *data, const int *neighbors, int n) {
    int64_t sum = 0;
    for (int i = 0; i < n; i++) {
        if (neighbors[i] < 0) data[i] = 0;
        sum += (int64_t)data[i];
    }
    return sum;
}
