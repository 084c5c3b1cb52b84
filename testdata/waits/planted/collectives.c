/* Collectives, neighbourhoods, communicators and messages of MPI-4, one case after the other. In each one rank is late by LATE, in planted(),
 * and others wait for it; a barrier ends it. cli/planted_collectives_test.go has for each case the kind of wait, the rank, and how many
 * wait. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LATE = 100000 }; /* us */

__attribute__((noinline)) void planted(void) { usleep(LATE); }

static int me, n;

static void together(void) { MPI_Barrier(MPI_COMM_WORLD); }

static void late(int rank) {
    if (me == rank) planted();
}

static void reduce(void) { /* the root waits for rank 2; others pass */
    double x = me, sum = 0;
    together();
    late(2);
    MPI_Reduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void gather(void) {
    int x = me, *all = calloc((size_t)n, sizeof *all);
    together();
    late(1);
    MPI_Gather(&x, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    free(all);
}

/* exchange: rank 3 sends to rank 0 alone, rank 1 to rank 2. */
static int peers[2][2] = {{3, 0}, {1, 2}};
static void lists(int *out, int *in) {
    memset(out, 0, (size_t)n * sizeof *out);
    memset(in, 0, (size_t)n * sizeof *in);
    for (int k = 0; k < 2; k++) {
        if (me == peers[k][0]) out[peers[k][1]] = 4;
        if (me == peers[k][1]) in[peers[k][0]] = 4;
    }
}

static void alltoallv(void) {
    int out[8], in[8], zero[8] = {0}, a[4] = {0}, b[4] = {0};
    lists(out, in);
    together();
    late(3);
    MPI_Alltoallv(a, out, zero, MPI_INT, b, in, zero, MPI_INT, MPI_COMM_WORLD);
}

static void ialltoallw(void) {
    int out[8], in[8], zero[8] = {0}, a[4] = {0}, b[4] = {0};
    MPI_Datatype types[8];
    MPI_Request r;
    lists(out, in);
    for (int i = 0; i < 8; i++) types[i] = MPI_INT;
    together();
    late(3);
    MPI_Ialltoallw(a, out, zero, types, b, in, zero, types, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void line(void) { /* rank 1 is late; 0 and 2 are its neighbours */
    int dims[1] = {0}, periods[1] = {0}, a[2] = {0}, b[2] = {0};
    MPI_Comm row;
    MPI_Dims_create(n, 1, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &row);
    together();
    late(1);
    MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, row);
    MPI_Comm_free(&row);
}

static void graph(void) { /* a ring: each receives from the one before it; 3 is late for 0 */
    int from = (me + n - 1) % n, to = (me + 1) % n, a = me, b = 0, one = 1, zero = 0;
    MPI_Comm ring;
    MPI_Request r;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
    together();
    late(3);
    MPI_Ineighbor_alltoallv(&a, &one, &zero, MPI_INT, &b, &one, &zero, MPI_INT, ring, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Comm_free(&ring);
}

static void split(void) {
    MPI_Comm half;
    together();
    late(2);
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
    MPI_Comm_free(&half);
}

static void create_group(void) { /* of ranks 1 to n-1 */
    MPI_Group world, rest;
    MPI_Comm part = MPI_COMM_NULL;
    int zero = 0;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_excl(world, 1, &zero, &rest);
    together();
    late(2);
    if (me > 0) MPI_Comm_create_group(MPI_COMM_WORLD, rest, 7, &part);
    if (me > 0) MPI_Comm_free(&part);
    MPI_Group_free(&rest);
    MPI_Group_free(&world);
}

static void idup(void) {
    MPI_Comm other;
    MPI_Request r;
    together();
    late(1);
    MPI_Comm_idup(MPI_COMM_WORLD, &other, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Barrier(other);
    MPI_Comm_free(&other);
}

static void between(MPI_Comm *half, MPI_Comm *both) {
    MPI_Comm_split(MPI_COMM_WORLD, me < n / 2, me, half);
    MPI_Intercomm_create(*half, 0, MPI_COMM_WORLD, me < n / 2 ? n / 2 : 0, 3, both);
}

static void intercomm(void) { /* rank 3 of the second group is late for the root, rank 1, of the first */
    MPI_Comm half, both;
    double x = me, sum = 0;
    between(&half, &both);
    together();
    late(3);
    MPI_Reduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, me >= n / 2 ? 1 : me == 1 ? MPI_ROOT : MPI_PROC_NULL, both);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

static void interbarrier(void) { /* rank 0 is late: the other group waits */
    MPI_Comm half, both;
    between(&half, &both);
    together();
    late(0);
    MPI_Barrier(both);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

static void intercreate(void) { /* rank 2 is late: the other group waits in MPI_Intercomm_create */
    MPI_Comm half, both;
    MPI_Comm_split(MPI_COMM_WORLD, me < n / 2, me, &half);
    together();
    late(2);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, me < n / 2 ? n / 2 : 0, 3, &both);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

#if MPI_VERSION >= 4
static void partitioned(void) { /* rank 0 makes its last partition ready late; an ordinary message has the same tag */
    int a[8] = {0}, b[8] = {0}, x = 0;
    MPI_Request r;
    together();
    if (me > 1) return;
    if (me == 0) MPI_Psend_init(a, 4, 2, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    else MPI_Precv_init(b, 4, 2, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    MPI_Start(&r);
    if (me == 0) {
        MPI_Send(&x, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
        MPI_Pready(3, r);
        MPI_Pready_range(0, 1, r);
        planted();
        MPI_Pready_list(1, (int[]){2}, r);
    } else {
        MPI_Recv(&x, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        int flag = 0;
        MPI_Parrived(r, 0, &flag);
    }
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
}

static void persistent(void) { /* an alltoallv that is started twice; late the second time */
    int out[8], in[8], zero[8] = {0}, a[4] = {0}, b[4] = {0};
    MPI_Request r;
    lists(out, in);
    MPI_Alltoallv_init(a, out, zero, MPI_INT, b, in, zero, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    together();
    late(3);
    MPI_Startall(1, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
}

static void persistent_neighbors(void) {
    int dims[1] = {0}, periods[1] = {1}, a[2] = {0}, b[2] = {0}, counts[2] = {1, 1};
    MPI_Aint displs[2] = {0, 4};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Comm row;
    MPI_Request r;
    MPI_Dims_create(n, 1, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &row);
    MPI_Neighbor_alltoallw_init(a, counts, displs, types, b, counts, displs, types, row, MPI_INFO_NULL, &r);
    together();
    late(1);
    MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
    MPI_Comm_free(&row);
}

static void isendrecv(void) { /* rank 0 is late; rank 1 waits for its message */
    int a = me, b = 0, other = 1 - me;
    MPI_Request r;
    together();
    if (me > 1) return;
    late(0);
    MPI_Isendrecv(&a, 1, MPI_INT, other, 4, &b, 1, MPI_INT, other, 4, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Isendrecv_replace_c(&a, 1, MPI_INT, me == 0 ? 1 : MPI_PROC_NULL, 4, me == 1 ? 0 : MPI_PROC_NULL, 4, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}
#endif

#define CASE(name) name(); together();

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    CASE(reduce)
    CASE(gather)
    CASE(alltoallv)
    CASE(ialltoallw)
    CASE(line)
    CASE(graph)
    CASE(split)
    CASE(create_group)
    CASE(idup)
    CASE(intercomm)
    CASE(interbarrier)
    CASE(intercreate)
#if MPI_VERSION >= 4
    CASE(partitioned)
    CASE(persistent)
    CASE(persistent_neighbors)
    CASE(isendrecv)
#endif
    MPI_Finalize();
    return 0;
}
