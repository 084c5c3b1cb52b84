/* Collectives in all their forms. */
#include "conformance.h"

static int a[64], b[64];
static MPI_Request r;

#if MPI_VERSION >= 4
#define MORE(name, iname, large, comm) \
    X(name##_init, (ARGS, comm, MPI_INFO_NULL, &r)); cycle(#name "_init", &r); KEEP(b);
#define LARGE(name, iname, comm) \
    X(name##_c, (LARGE_ARGS, comm)); KEEP(b); \
    X(iname##_c, (LARGE_ARGS, comm, &r)); wait_for(#iname "_c", &r); KEEP(b); \
    X(name##_init_c, (LARGE_ARGS, comm, MPI_INFO_NULL, &r)); cycle(#name "_init_c", &r); KEEP(b);
#else
#define MORE(name, iname, large, comm)
#define LARGE(name, iname, comm)
#endif
#define FORMS(name, iname, comm) \
    X(name, (ARGS, comm)); KEEP(b); \
    X(iname, (ARGS, comm, &r)); wait_for(#iname, &r); KEEP(b); \
    MORE(name, iname, , comm) LARGE(name, iname, comm)

void collectives(void) {
    int ones[8], displs[8];
    MPI_Datatype types[8];
    int bytes[8];
    MPI_Op op;
    for (int i = 0; i < 64; i++) a[i] = 1000 * me + i;
    for (int i = 0; i < 8; i++) {
        ones[i] = 1;
        displs[i] = i;
        bytes[i] = 4 * i;
        types[i] = MPI_INT;
    }
#if MPI_VERSION >= 4
    MPI_Count many[8];
    MPI_Aint at[8], bytes_at[8];
    for (int i = 0; i < 8; i++) {
        many[i] = 1;
        at[i] = i;
        bytes_at[i] = 4 * i;
    }
#endif
    X(Barrier, (w));
    X(Ibarrier, (w, &r));
    wait_for("Ibarrier", &r);
#if MPI_VERSION >= 4
    X(Barrier_init, (w, MPI_INFO_NULL, &r));
    cycle("Barrier_init", &r);
#endif
#define ARGS b, 2, MPI_INT, 1
#define LARGE_ARGS ARGS
    FORMS(Bcast, Ibcast, w)
#undef ARGS
#define ARGS a, 1, MPI_INT, b, 1, MPI_INT, 0
    FORMS(Gather, Igather, w)
    FORMS(Scatter, Iscatter, w)
#undef ARGS
#undef LARGE_ARGS
#define ARGS a, 1, MPI_INT, b, ones, displs, MPI_INT, 0
#define LARGE_ARGS a, 1, MPI_INT, b, many, at, MPI_INT, 0
    FORMS(Gatherv, Igatherv, w)
#undef ARGS
#undef LARGE_ARGS
#define ARGS a, ones, displs, MPI_INT, b, 1, MPI_INT, 0
#define LARGE_ARGS a, many, at, MPI_INT, b, 1, MPI_INT, 0
    FORMS(Scatterv, Iscatterv, w)
#undef ARGS
#undef LARGE_ARGS
#define ARGS a, 1, MPI_INT, b, 1, MPI_INT
#define LARGE_ARGS ARGS
    FORMS(Allgather, Iallgather, w)
    FORMS(Alltoall, Ialltoall, w)
#undef ARGS
#undef LARGE_ARGS
#define ARGS a, 1, MPI_INT, b, ones, displs, MPI_INT
#define LARGE_ARGS a, 1, MPI_INT, b, many, at, MPI_INT
    FORMS(Allgatherv, Iallgatherv, w)
#undef ARGS
#undef LARGE_ARGS
#define ARGS a, ones, displs, MPI_INT, b, ones, displs, MPI_INT
#define LARGE_ARGS a, many, at, MPI_INT, b, many, at, MPI_INT
    FORMS(Alltoallv, Ialltoallv, w)
#undef ARGS
#undef LARGE_ARGS
#define ARGS a, ones, bytes, types, b, ones, bytes, types
#define LARGE_ARGS a, many, bytes_at, types, b, many, bytes_at, types
    FORMS(Alltoallw, Ialltoallw, w)
#undef ARGS
#undef LARGE_ARGS
#define ARGS a, b, 3, MPI_INT, MPI_SUM, 0
#define LARGE_ARGS ARGS
    FORMS(Reduce, Ireduce, w)
#undef ARGS
#define ARGS a, b, 3, MPI_INT, MPI_SUM
    FORMS(Allreduce, Iallreduce, w)
    FORMS(Scan, Iscan, w)
    FORMS(Exscan, Iexscan, w)
#undef ARGS
#define ARGS a, b, 1, MPI_INT, MPI_SUM
    FORMS(Reduce_scatter_block, Ireduce_scatter_block, w)
#undef ARGS
#undef LARGE_ARGS
#define ARGS a, b, ones, MPI_INT, MPI_SUM
#define LARGE_ARGS a, b, many, MPI_INT, MPI_SUM
    FORMS(Reduce_scatter, Ireduce_scatter, w)
#undef ARGS
#undef LARGE_ARGS
    X(Allreduce, (MPI_IN_PLACE, b, 3, MPI_INT, MPI_SUM, w));
    KEEP(b);
    X(Op_commutative, (MPI_SUM, &ones[0]));
    X(Reduce_local, (a, b, 3, MPI_INT, MPI_SUM));
    KEEP(b);
    (void)op;
}

static void exchanges(MPI_Comm comm) {
    int ones[8], displs[8];
    MPI_Aint bytes[8];
    MPI_Datatype types[8];
    for (int i = 0; i < 8; i++) {
        ones[i] = 1;
        displs[i] = i;
        bytes[i] = 4 * i;
        types[i] = MPI_INT;
    }
#if MPI_VERSION >= 4
    MPI_Count many[8];
    MPI_Aint at[8];
    for (int i = 0; i < 8; i++) {
        many[i] = 1;
        at[i] = i;
    }
#endif
    memset(b, 0, sizeof b);
#define ARGS a, 1, MPI_INT, b, 1, MPI_INT
#define LARGE_ARGS ARGS
    FORMS(Neighbor_allgather, Ineighbor_allgather, comm)
    FORMS(Neighbor_alltoall, Ineighbor_alltoall, comm)
#undef ARGS
#undef LARGE_ARGS
#define ARGS a, 1, MPI_INT, b, ones, displs, MPI_INT
#define LARGE_ARGS a, 1, MPI_INT, b, many, at, MPI_INT
    FORMS(Neighbor_allgatherv, Ineighbor_allgatherv, comm)
#undef ARGS
#undef LARGE_ARGS
#define ARGS a, ones, displs, MPI_INT, b, ones, displs, MPI_INT
#define LARGE_ARGS a, many, at, MPI_INT, b, many, at, MPI_INT
    FORMS(Neighbor_alltoallv, Ineighbor_alltoallv, comm)
#undef ARGS
#undef LARGE_ARGS
#define ARGS a, ones, bytes, types, b, ones, bytes, types
#define LARGE_ARGS a, many, bytes, types, b, many, bytes, types
    FORMS(Neighbor_alltoallw, Ineighbor_alltoallw, comm)
#undef ARGS
#undef LARGE_ARGS
}

void topologies(void) {
    int dims[2] = {0, 0}, periods[2] = {1, 0}, coords[2], remain[2] = {1, 0}, rank, ndims, source, dest, kind, counts[2], weighted;
    int index[8], edges[16], list[8], more[8], weights[8];
    MPI_Comm cart, sub, graph, dist;
    X(Dims_create, (n, 2, dims));
    X(Cart_create, (w, 2, dims, periods, 0, &cart));
    X(Cartdim_get, (cart, &ndims));
    X(Cart_get, (cart, 2, dims, periods, coords));
    X(Cart_rank, (cart, coords, &rank));
    X(Cart_coords, (cart, rank, 2, coords));
    X(Cart_shift, (cart, 0, 1, &source, &dest));
    KEEP(source);
    X(Cart_map, (w, 2, dims, periods, &rank));
    X(Cart_sub, (cart, remain, &sub));
    X(Topo_test, (cart, &kind));
    exchanges(cart);
    X(Comm_free, (&sub));
    X(Comm_free, (&cart));
    for (int i = 0; i < n; i++) { /* a ring */
        index[i] = 2 * (i + 1);
        edges[2 * i] = (i + n - 1) % n;
        edges[2 * i + 1] = (i + 1) % n;
    }
    X(Graph_create, (w, n, index, edges, 0, &graph));
    X(Graphdims_get, (graph, &counts[0], &counts[1]));
    X(Graph_get, (graph, n, 2 * n, index, edges));
    X(Graph_neighbors_count, (graph, me, &counts[0]));
    X(Graph_neighbors, (graph, me, counts[0], list));
    KEEP(counts[0]);
    X(Graph_map, (w, n, index, edges, &rank));
    exchanges(graph);
    X(Comm_free, (&graph));
    int from = (me + n - 1) % n, to = (me + 1) % n, one = 1;
    X(Dist_graph_create_adjacent, (w, 1, &from, &one, 1, &to, &one, MPI_INFO_NULL, 0, &dist));
    X(Dist_graph_neighbors_count, (dist, &counts[0], &counts[1], &weighted));
    X(Dist_graph_neighbors, (dist, 1, list, weights, 1, more, weights));
    KEEP(weighted);
    exchanges(dist);
    X(Comm_free, (&dist));
    X(Dist_graph_create, (w, 1, &me, &one, &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &dist));
    exchanges(dist);
    X(Comm_free, (&dist));
}
