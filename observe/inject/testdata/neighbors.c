/* Collectives between neighbours, on grids, graphs and directed graphs, blocking and not: prints what is not as the standard
 * wants it, which is much if several neighbours are the same rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, BLOCK = 3 };

static int rank, ranks;

/* A neighbour that sends: its rank, and which of its neighbours this rank is. */
struct from { int rank, index; };

/* value is an element of a block that a rank sends. */
static int value(struct from f, int block, int element) { return 1000 * (f.rank + 1) + BLOCK * block + element; }

/* check compares what came from a neighbour with what it should have sent: elements first, first + step ... of a block. */
static void check(const char *what, const int *got, struct from f, int block, int first, int step) {
    for (int e = 0; e < BLOCK; e++) {
        int want = f.rank != MPI_PROC_NULL && e >= first && (e - first) % step == 0 ? value(f, block, e) : 0;
        if (got[e] != want) printf("rank %d: %s from %d: element %d is %d, want %d\n", rank, what, f.rank, e, got[e], want);
    }
}

/* all does all collectives with so many neighbours; later: the non-blocking ones, several at once. */
static void all(MPI_Comm comm, int in, const struct from *from, int later) {
    static int source[MOST * BLOCK], got[5][MOST * BLOCK];
    int two[MOST], one[MOST], places[MOST];
    MPI_Aint bytes[MOST];
    MPI_Datatype types[MOST], strided;
    MPI_Request r[5];
    MPI_Type_vector(2, 1, 2, MPI_INT, &strided); /* the first and the last of a block */
    MPI_Type_commit(&strided);
    memset(got, 0, sizeof got);
    for (int i = 0; i < MOST * BLOCK; i++) source[i] = value((struct from){rank, 0}, 0, i);
    for (int i = 0; i < MOST; i++) {
        two[i] = 2;
        one[i] = 1;
        places[i] = BLOCK * i + 1;
        bytes[i] = (MPI_Aint)sizeof(int) * BLOCK * i;
        types[i] = strided;
    }
    if (later) {
        MPI_Ineighbor_allgather(source, BLOCK, MPI_INT, got[0], BLOCK, MPI_INT, comm, &r[0]);
        MPI_Ineighbor_allgatherv(source + 1, 2, MPI_INT, got[1], two, places, MPI_INT, comm, &r[1]);
        MPI_Ineighbor_alltoall(source, BLOCK, MPI_INT, got[2], BLOCK, MPI_INT, comm, &r[2]);
        MPI_Ineighbor_alltoallv(source, two, places, MPI_INT, got[3], two, places, MPI_INT, comm, &r[3]);
        MPI_Ineighbor_alltoallw(source, one, bytes, types, got[4], one, bytes, types, comm, &r[4]);
        MPI_Waitall(5, r, MPI_STATUSES_IGNORE);
    } else {
        MPI_Neighbor_allgather(source, BLOCK, MPI_INT, got[0], BLOCK, MPI_INT, comm);
        MPI_Neighbor_allgatherv(source + 1, 2, MPI_INT, got[1], two, places, MPI_INT, comm);
        MPI_Neighbor_alltoall(source, BLOCK, MPI_INT, got[2], BLOCK, MPI_INT, comm);
        MPI_Neighbor_alltoallv(source, two, places, MPI_INT, got[3], two, places, MPI_INT, comm);
        MPI_Neighbor_alltoallw(source, one, bytes, types, got[4], one, bytes, types, comm);
    }
    for (int i = 0; i < in; i++) {
        check("allgather", got[0] + BLOCK * i, from[i], 0, 0, 1);
        check("allgatherv", got[1] + BLOCK * i, from[i], 0, 1, 1);
        check("alltoall", got[2] + BLOCK * i, from[i], from[i].index, 0, 1);
        check("alltoallv", got[3] + BLOCK * i, from[i], from[i].index, 1, 1);
        check("alltoallw", got[4] + BLOCK * i, from[i], from[i].index, 0, 2);
    }
    MPI_Type_free(&strided);
}

static void both(MPI_Comm comm, int in, const struct from *from) {
    all(comm, in, from, 0);
    all(comm, in, from, 1);
    MPI_Comm_free(&comm);
}

/* grid: what a neighbour below sends upwards comes from below. */
static void grid(int dimensions, const int *dims, const int *periods) {
    MPI_Comm comm;
    struct from from[MOST];
    MPI_Cart_create(MPI_COMM_WORLD, dimensions, dims, periods, 0, &comm);
    for (int d = 0; d < dimensions; d++) {
        MPI_Cart_shift(comm, d, 1, &from[2 * d].rank, &from[2 * d + 1].rank);
        from[2 * d].index = 2 * d + 1;
        from[2 * d + 1].index = 2 * d;
    }
    both(comm, 2 * dimensions, from);
}

int main(int argc, char **argv) {
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int plane[2] = {ranks % 2 ? 1 : 2, ranks % 2 ? ranks : ranks / 2}, open[1] = {0}, closed[2] = {1, 1};
    grid(1, &ranks, open);
    grid(1, &ranks, closed);
    grid(2, plane, closed);
    /* everybody sends to the next rank, and rank 0 to all */
    int sources[2], targets[MOST], in = 0, out = 0;
    struct from from[2] = {{(rank + ranks - 1) % ranks, 0}, {0, rank}};
    sources[in++] = from[0].rank;
    if (rank != 0) sources[in++] = 0;
    targets[out++] = (rank + 1) % ranks;
    for (int i = 1; rank == 0 && i < ranks; i++) targets[out++] = i;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources, MPI_UNWEIGHTED, out, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    both(comm, in, from);
    /* a chain, as an old graph */
    int index[MOST], edges[2 * MOST], n = 0;
    for (int i = 0; i < ranks; i++) {
        if (i > 0) edges[n++] = i - 1;
        if (i + 1 < ranks) edges[n++] = i + 1;
        index[i] = n;
    }
    MPI_Graph_create(MPI_COMM_WORLD, ranks, index, edges, 0, &comm);
    in = 0;
    if (rank > 0) from[in++] = (struct from){rank - 1, rank - 1 > 0};
    if (rank + 1 < ranks) from[in++] = (struct from){rank + 1, 0};
    both(comm, in, from);
    printf("rank %d is done\n", rank);
    MPI_Finalize();
    return 0;
}
