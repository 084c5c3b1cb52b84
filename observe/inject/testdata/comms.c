/* Makes communicators in every way, and uses each: messages, collectives, collectives that go on. Prints what they give.
 * With arguments, several threads of each rank do so at once, by groups as often as the second one says. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 6, ROUNDS = 4 };
static int me, ranks, by_groups;

/* use does a bit of everything on a communicator. */
static void use(const char *name, MPI_Comm comm) {
    int rank, size, inter, sum = -1, in = -1, later = -1, out;
    if (comm == MPI_COMM_NULL) {
        printf("rank %d %s: none\n", me, name);
        return;
    }
    MPI_Comm_test_inter(comm, &inter);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    out = 10 * me + 1;
    MPI_Allreduce(&out, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (!inter) {
        MPI_Request r[3];
        MPI_Iallreduce(&out, &later, 1, MPI_INT, MPI_MAX, comm, &r[0]);
        MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, 3, comm, &r[1]);
        MPI_Isend(&out, 1, MPI_INT, (rank + 1) % size, 3, comm, &r[2]);
        MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
        MPI_Barrier(comm);
    } else if (rank == 0) {
        MPI_Sendrecv(&out, 1, MPI_INT, 0, 4, &in, 1, MPI_INT, 0, 4, comm, MPI_STATUS_IGNORE);
    }
    printf("rank %d %s: rank %d of %d, sum %d, in %d, later %d\n", me, name, rank, size, sum, in, later);
}

static int copies;
static int copied(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag) {
    (void)comm, (void)key, (void)extra;
    *(void **)out = in;
    *flag = 1;
    copies++;
    return MPI_SUCCESS;
}

/* Communicators that are not there when the call returns. */
static void later(MPI_Comm base, const char *name) {
    MPI_Comm first = MPI_COMM_NULL, second = MPI_COMM_NULL, third;
    MPI_Request r[2];
    int token = 1, flag = 0;
    char text[80];
    /* Only who has been told by rank 0, which has waited for the communicator before, waits for it. */
    MPI_Comm_idup(base, &first, &r[0]);
    if (me == 0) {
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        for (int i = 1; i < ranks; i++) MPI_Send(&token, 1, MPI_INT, i, 9, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&token, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        while (!flag) MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
    }
    snprintf(text, sizeof text, "idup %s", name);
    use(text, first);
    /* Two at a time, one of which comes from the other's parent, and one made meanwhile. */
    MPI_Comm_idup(base, &second, &r[0]);
    MPI_Comm_dup(first, &third);
    MPI_Waitall(1, r, MPI_STATUSES_IGNORE);
    snprintf(text, sizeof text, "idup and dup %s", name);
    use(text, third);
    use(text, second);
    MPI_Comm_free(&third);
    MPI_Comm_free(&second);
    MPI_Comm_idup(first, &second, &r[0]);
    MPI_Comm_idup(base, &third, &r[1]);
    if (me % 2 == 0) {
        MPI_Wait(&r[1], MPI_STATUS_IGNORE);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    } else {
        for (int n = 0, index; n < 2; n++) MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE);
    }
    snprintf(text, sizeof text, "two idups %s", name);
    use(text, second);
    use(text, third);
    for (flag = 0, MPI_Comm_free(&second), MPI_Comm_idup(third, &second, &r[0]); !flag;) MPI_Request_get_status(r[0], &flag, MPI_STATUS_IGNORE);
    use(text, second);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    use(text, second);
#if MPI_VERSION >= 4
    MPI_Comm_free(&second);
    MPI_Comm_idup_with_info(base, MPI_INFO_NULL, &second, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    snprintf(text, sizeof text, "idup_with_info %s", name);
    use("idup_with_info", second);
#endif
    MPI_Comm_free(&first);
    MPI_Comm_free(&second);
    MPI_Comm_free(&third);
}

static void all(void) {
    MPI_Comm c, half, inter;
    MPI_Group world, part;
    int key, value = 5, dims[1] = {0}, yes[1] = {1}, range[1][3] = {{0, 0, 1}}, found;
    void *held;
    MPI_Comm_create_keyval(copied, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value);
    MPI_Comm_dup(MPI_COMM_WORLD, &c), use("dup", c), later(c, "of a dup"), MPI_Comm_free(&c);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &c), use("dup_with_info", c);
    MPI_Comm_get_attr(c, key, &held, &found), MPI_Comm_free(&c);
    later(MPI_COMM_WORLD, "of the world");
    printf("rank %d: attribute %d, copied %d times\n", me, found, copies);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -me, MPI_INFO_NULL, &c), use("split_type", c), MPI_Comm_free(&c);
    MPI_Comm_split(MPI_COMM_WORLD, me == 0 ? MPI_UNDEFINED : 1, 0, &c), use("split with one left out", c);
    if (c != MPI_COMM_NULL) MPI_Comm_free(&c);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_excl(world, 1, range, &part);
    MPI_Comm_create(MPI_COMM_WORLD, part, &c), use("create", c);
    if (c != MPI_COMM_NULL) MPI_Comm_free(&c);
    if (me > 0) MPI_Comm_create_group(MPI_COMM_WORLD, part, 17, &c), use("create_group", c), MPI_Comm_free(&c);
    MPI_Group_free(&part);
    MPI_Group_free(&world);
    MPI_Dims_create(ranks, 1, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, yes, 0, &c), use("cart", c);
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, 0, &half);
    use("half", half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - me % 2, 18, &inter);
    use("intercomm", inter);
    MPI_Comm_free(&c);
    MPI_Comm_dup(inter, &c), use("dup of an intercomm", c), MPI_Comm_free(&c);
    MPI_Request r;
    MPI_Comm_idup(inter, &c, &r), MPI_Wait(&r, MPI_STATUS_IGNORE), use("idup of an intercomm", c), MPI_Comm_free(&c);
    MPI_Intercomm_merge(inter, me % 2, &c), use("merged", c), MPI_Comm_free(&c);
    MPI_Comm_split(inter, me / 2 == 0, me, &c), use("split of an intercomm", c);
    if (c != MPI_COMM_NULL) MPI_Comm_free(&c);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* One of several threads of a rank: each has a communicator of its own, and makes more from it while the others do. */
static MPI_Comm own[THREADS];
static MPI_Group everybody, most;

static long try(MPI_Comm comm, int out) {
    int rank, sum, in;
    MPI_Comm_rank(comm, &rank);
    MPI_Allreduce(&out, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % ranks, 1, &in, 1, MPI_INT, (rank + ranks - 1) % ranks, 1, comm, MPI_STATUS_IGNORE);
    return sum + in;
}

static void *of_own(void *at) {
    int number = (int)(long)at;
    long total = 0;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm made[3];
        MPI_Request r;
        MPI_Comm_dup(own[number], &made[0]);
        MPI_Comm_split(own[number], 0, -me, &made[1]);
        MPI_Comm_idup(own[number], &made[2], &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        for (int k = 0; k < 3; k++) total = 3 * total + try(made[k], me + number);
        for (int k = 0; k < 3; k++) MPI_Comm_free(&made[k]);
    }
    printf("rank %d thread %d: %ld\n", me, number, total);
    return NULL;
}

/* Libraries bring such calls of several threads into an order; a call of ours in between may disturb it. */
static void *of_groups(void *at) {
    int number = (int)(long)at;
    long total = 0;
    for (int i = 0; i < by_groups; i++) {
        MPI_Comm made;
        if (me < ranks - 1) {
            MPI_Comm_create_group(MPI_COMM_WORLD, most, number, &made);
            MPI_Barrier(made);
            MPI_Comm_free(&made);
        }
        MPI_Comm_create_group(MPI_COMM_WORLD, everybody, number, &made);
        total = 3 * total + try(made, me + number);
        MPI_Comm_free(&made);
    }
    printf("rank %d thread %d of groups: %ld\n", me, number, total);
    return NULL;
}

static void threads(void *(*what)(void *)) {
    pthread_t t[THREADS];
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = 0; i < THREADS; i++) pthread_create(&t[i], NULL, what, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc == 1) {
        all();
    } else {
        int last[1] = {ranks - 1};
        MPI_Comm_group(MPI_COMM_WORLD, &everybody);
        MPI_Group_excl(everybody, 1, last, &most);
        for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
        by_groups = atoi(argv[2]);
        threads(of_own);
        threads(of_groups);
        for (int i = 0; i < THREADS; i++) MPI_Comm_free(&own[i]);
        MPI_Group_free(&everybody);
        MPI_Group_free(&most);
    }
    printf("rank %d is done\n", me);
    MPI_Finalize();
    return 0;
}
