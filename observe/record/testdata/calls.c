/* Calls every family of MPI functions and writes, for each rank to a file, how often it called each. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct { const char *name; long n; } calls[300];
static int kinds, me, ranks;

static void count(const char *name) {
    int i = 0;
    while (i < kinds && strcmp(calls[i].name, name) != 0) i++;
    if (i == kinds) calls[kinds++].name = name;
    calls[i].n++;
}

#define C(name, args) (count("MPI_" #name), MPI_##name args)

static void messages(void) {
    int next = (me + 1) % ranks, before = (me + ranks - 1) % ranks, data[64] = {0}, got[64], flag = 0, n;
    MPI_Status status;
    MPI_Request r[4];
    char room[100000];
    void *address;
    C(Buffer_attach, (room, sizeof room));
    if (me % 2 == 0) {
        C(Send, (data, 8, MPI_INT, next, 1, MPI_COMM_WORLD));
        C(Recv, (got, 8, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        C(Ssend, (data, 4, MPI_INT, next, 2, MPI_COMM_WORLD));
        C(Recv, (got, 8, MPI_INT, before, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    } else {
        C(Recv, (got, 8, MPI_INT, before, 1, MPI_COMM_WORLD, &status));
        C(Send, (data, 8, MPI_INT, next, 1, MPI_COMM_WORLD));
        C(Recv, (got, 8, MPI_INT, before, 2, MPI_COMM_WORLD, &status));
        C(Ssend, (data, 4, MPI_INT, next, 2, MPI_COMM_WORLD));
    }
    C(Bsend, (data, 16, MPI_INT, next, 3, MPI_COMM_WORLD));
    C(Probe, (before, 3, MPI_COMM_WORLD, &status));
    MPI_Get_count(&status, MPI_INT, &n);
    C(Recv, (got, n, MPI_INT, before, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    C(Send, (data, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD));
    C(Recv, (got, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    C(Sendrecv, (data, 4, MPI_INT, next, 4, got, 4, MPI_INT, before, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    C(Sendrecv_replace, (data, 4, MPI_INT, next, 5, before, 5, MPI_COMM_WORLD, &status));

    C(Irecv, (got, 8, MPI_INT, before, 6, MPI_COMM_WORLD, &r[0]));
    C(Isend, (data, 8, MPI_INT, next, 6, MPI_COMM_WORLD, &r[1]));
    C(Waitall, (2, r, MPI_STATUSES_IGNORE));
    C(Irecv, (got, 8, MPI_INT, before, 7, MPI_COMM_WORLD, &r[0]));
    C(Issend, (data, 8, MPI_INT, next, 7, MPI_COMM_WORLD, &r[1]));
    C(Waitany, (2, r, &n, MPI_STATUS_IGNORE));
    C(Waitany, (2, r, &n, &status));
    C(Irecv, (got, 8, MPI_INT, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &r[0]));
    C(Barrier, (MPI_COMM_WORLD));
    C(Irsend, (data, 8, MPI_INT, next, 8, MPI_COMM_WORLD, &r[1]));
    for (int left = 2; left > 0; left -= n) {
        int which[2];
        MPI_Status some[2];
        C(Waitsome, (2, r, &n, which, some));
    }
    C(Irecv, (got, 8, MPI_INT, before, 9, MPI_COMM_WORLD, &r[0]));
    C(Ibsend, (data, 8, MPI_INT, next, 9, MPI_COMM_WORLD, &r[1]));
    do C(Test, (&r[0], &flag, &status)); while (!flag);
    C(Wait, (&r[1], MPI_STATUS_IGNORE));
    C(Irecv, (got, 8, MPI_INT, before, 10, MPI_COMM_WORLD, &r[0]));
    C(Isend, (data, 8, MPI_INT, next, 10, MPI_COMM_WORLD, &r[1]));
    do C(Testall, (2, r, &flag, MPI_STATUSES_IGNORE)); while (!flag);
    C(Irecv, (got, 8, MPI_INT, before, 11, MPI_COMM_WORLD, &r[0]));
    C(Isend, (data, 8, MPI_INT, next, 11, MPI_COMM_WORLD, &r[1]));
    for (int left = 2; left > 0; left -= flag != 0) C(Testany, (2, r, &n, &flag, MPI_STATUS_IGNORE));
    C(Irecv, (got, 8, MPI_INT, before, 12, MPI_COMM_WORLD, &r[0]));
    C(Isend, (data, 8, MPI_INT, next, 12, MPI_COMM_WORLD, &r[1]));
    for (int left = 2, which[2]; left > 0; left -= n) C(Testsome, (2, r, &n, which, MPI_STATUSES_IGNORE));

    C(Rsend, (data, 0, MPI_INT, MPI_PROC_NULL, 13, MPI_COMM_WORLD));
    C(Isend, (data, 8, MPI_INT, next, 14, MPI_COMM_WORLD, &r[0]));
    do C(Iprobe, (before, 14, MPI_COMM_WORLD, &flag, &status)); while (!flag);
    C(Recv, (got, 8, MPI_INT, before, 14, MPI_COMM_WORLD, &status));
    C(Wait, (&r[0], &status));
    MPI_Message m;
    C(Isend, (data, 8, MPI_INT, next, 15, MPI_COMM_WORLD, &r[0]));
    C(Mprobe, (before, 15, MPI_COMM_WORLD, &m, &status));
    C(Mrecv, (got, 8, MPI_INT, &m, &status));
    C(Wait, (&r[0], &status));
    C(Isend, (data, 8, MPI_INT, next, 16, MPI_COMM_WORLD, &r[0]));
    do C(Improbe, (MPI_ANY_SOURCE, 16, MPI_COMM_WORLD, &flag, &m, MPI_STATUS_IGNORE)); while (!flag);
    C(Imrecv, (got, 8, MPI_INT, &m, &r[1]));
    C(Waitall, (2, r, MPI_STATUSES_IGNORE));

    C(Irecv, (got, 8, MPI_INT, before, 17, MPI_COMM_WORLD, &r[0])); /* never sent */
    C(Cancel, (&r[0]));
    C(Wait, (&r[0], &status));
    C(Isend, (data, 1, MPI_INT, next, 18, MPI_COMM_WORLD, &r[0]));
    C(Recv, (got, 1, MPI_INT, before, 18, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    C(Request_free, (&r[0]));

    C(Recv_init, (got, 8, MPI_INT, before, 19, MPI_COMM_WORLD, &r[0]));
    C(Send_init, (data, 8, MPI_INT, next, 19, MPI_COMM_WORLD, &r[1]));
    C(Ssend_init, (data, 8, MPI_INT, next, 20, MPI_COMM_WORLD, &r[2]));
    C(Recv_init, (got + 8, 8, MPI_INT, before, 20, MPI_COMM_WORLD, &r[3]));
    for (int i = 0; i < 3; i++) {
        C(Startall, (2, r));
        C(Start, (&r[2]));
        C(Start, (&r[3]));
        C(Waitall, (4, r, MPI_STATUSES_IGNORE));
    }
    for (int i = 0; i < 4; i++) C(Request_free, (&r[i]));
    C(Buffer_detach, (&address, &n));
}

static void collectives(MPI_Comm comm) {
    int size, rank;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    int *a = calloc((size_t)size * 8, sizeof *a), *b = calloc((size_t)size * 8, sizeof *b);
    int *counts = calloc((size_t)size, sizeof *counts), *places = calloc((size_t)size, sizeof *places);
    MPI_Datatype *types = malloc((size_t)size * sizeof *types);
    for (int i = 0; i < size; i++) {
        counts[i] = 1 + (i + rank) % 1 + 2;
        places[i] = 4 * i;
        types[i] = MPI_INT;
    }
    C(Barrier, (comm));
    C(Bcast, (a, 5, MPI_INT, size - 1, comm));
    C(Gather, (a, 2, MPI_INT, b, 2, MPI_INT, 0, comm));
    if (rank == 0) C(Gather, (MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 2, MPI_INT, 0, comm));
    else C(Gather, (a, 2, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, 0, comm));
    C(Gatherv, (a, 3, MPI_INT, b, rank == 0 ? counts : NULL, rank == 0 ? places : NULL, MPI_INT, 0, comm));
    C(Scatter, (a, 2, MPI_INT, b, 2, MPI_INT, 0, comm));
    C(Scatterv, (a, rank == 0 ? counts : NULL, places, MPI_INT, b, 3, MPI_INT, 0, comm));
    C(Allgather, (MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 3, MPI_INT, comm));
    C(Allgatherv, (a, 3, MPI_INT, b, counts, places, MPI_INT, comm));
    C(Alltoall, (a, 2, MPI_INT, b, 2, MPI_INT, comm));
    C(Alltoallv, (a, counts, places, MPI_INT, b, counts, places, MPI_INT, comm));
    for (int i = 0; i < size; i++) places[i] *= (int)sizeof(int);
    C(Alltoallw, (a, counts, places, types, b, counts, places, types, comm));
    C(Reduce, (a, b, 4, MPI_INT, MPI_SUM, 0, comm));
    C(Allreduce, (a, b, 4, MPI_INT, MPI_SUM, comm));
    C(Allreduce, (MPI_IN_PLACE, b, 4, MPI_INT, MPI_SUM, comm));
    C(Reduce_scatter, (a, b, counts, MPI_INT, MPI_SUM, comm));
    C(Reduce_scatter_block, (a, b, 2, MPI_INT, MPI_SUM, comm));
    C(Scan, (a, b, 2, MPI_INT, MPI_SUM, comm));
    C(Exscan, (a, b, 2, MPI_INT, MPI_SUM, comm));
    MPI_Request r[5];
    C(Ibarrier, (comm, &r[0]));
    C(Ibcast, (a, 5, MPI_INT, 0, comm, &r[1]));
    C(Iallreduce, (a, b, 4, MPI_INT, MPI_SUM, comm, &r[2]));
    C(Waitall, (3, r, MPI_STATUSES_IGNORE));
    C(Iallgather, (a, 2, MPI_INT, b, 2, MPI_INT, comm, &r[0]));
    C(Wait, (&r[0], MPI_STATUS_IGNORE));
    C(Ireduce, (a, b, 2, MPI_INT, MPI_MAX, 0, comm, &r[0]));
    C(Wait, (&r[0], MPI_STATUS_IGNORE));
    C(Ialltoallv, (a, counts, counts, MPI_INT, b, counts, counts, MPI_INT, comm, &r[0]));
    C(Wait, (&r[0], MPI_STATUS_IGNORE));
    free(a), free(b), free(counts), free(places), free(types);
}

static void communicators(void) {
    MPI_Comm half, copy, grid, line, group, inter, merged;
    MPI_Group world, odd;
    C(Comm_split, (MPI_COMM_WORLD, me % 2, -me, &half)); /* reversed order */
    collectives(half);
    int rank, size, x = 0, y = 0, half_ranks[64];
    MPI_Comm_rank(half, &rank);
    MPI_Comm_size(half, &size);
    C(Sendrecv, (&x, 1, MPI_INT, (rank + 1) % size, 1, &y, 1, MPI_INT, (rank + size - 1) % size, 1, half, MPI_STATUS_IGNORE));
    C(Comm_dup, (MPI_COMM_WORLD, &copy));
    C(Barrier, (copy));
    C(Comm_free, (&copy));
    int dims[2] = {2, ranks / 2}, periods[2] = {0, 1}, keep[2] = {0, 1}, far, near;
    C(Cart_create, (MPI_COMM_WORLD, 2, dims, periods, 0, &grid));
    MPI_Cart_shift(grid, 1, 1, &near, &far);
    C(Sendrecv, (&x, 1, MPI_INT, far, 1, &y, 1, MPI_INT, near, 1, grid, MPI_STATUS_IGNORE));
    int out[4] = {0}, in[4];
    C(Neighbor_alltoall, (out, 1, MPI_INT, in, 1, MPI_INT, grid));
    C(Cart_sub, (grid, keep, &line));
    C(Barrier, (line));
    C(Comm_group, (MPI_COMM_WORLD, &world));
    for (int i = 0; i < ranks / 2; i++) half_ranks[i] = 2 * i + 1;
    C(Group_incl, (world, ranks / 2, half_ranks, &odd));
    C(Comm_create, (MPI_COMM_WORLD, odd, &group));
    if (group != MPI_COMM_NULL) {
        C(Barrier, (group));
        C(Comm_free, (&group));
    }
    C(Intercomm_create, (half, 0, MPI_COMM_WORLD, me % 2 == 0 ? ranks - 1 : ranks - 2, 5, &inter));
    C(Barrier, (inter));
    if (rank < size) {
        C(Isend, (&x, 1, MPI_INT, rank, 3, inter, &(MPI_Request){0} ));
        C(Recv, (&y, 1, MPI_INT, rank, 3, inter, MPI_STATUS_IGNORE));
    }
    C(Intercomm_merge, (inter, me % 2, &merged));
    C(Barrier, (merged));
    C(Group_free, (&odd));
    C(Group_free, (&world));
    C(Comm_free, (&merged));
    C(Comm_free, (&inter));
    C(Comm_free, (&line));
    C(Comm_free, (&grid));
    C(Comm_free, (&half));
}

static void windows(void) {
    int next = (me + 1) % ranks, before = (me + ranks - 1) % ranks, memory[8] = {0}, a[8] = {0}, b[8] = {0}, c[8] = {0}, *given, flag = 0;
    MPI_Win w, v;
    MPI_Group all, to, from;
    MPI_Request r[4];
    C(Win_create, (memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &w));
    C(Win_fence, (0, w));
    C(Put, (a, 1, MPI_INT, next, 0, 1, MPI_INT, w));
    C(Get, (b, 1, MPI_INT, next, 1, 1, MPI_INT, w));
    C(Put, (a, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w));
    C(Accumulate, (a, 1, MPI_INT, next, 2, 1, MPI_INT, MPI_SUM, w));
    C(Win_fence, (0, w));
    C(Comm_group, (MPI_COMM_WORLD, &all));
    C(Group_incl, (all, 1, &next, &to));
    C(Group_incl, (all, 1, &before, &from));
    for (int i = 0; i < 2; i++) {
        C(Win_post, (from, 0, w));
        C(Win_start, (to, 0, w));
        C(Win_complete, (w));
        if (i == 0) C(Win_wait, (w));
    }
    while (!flag) C(Win_test, (w, &flag));
    C(Group_free, (&from));
    C(Group_free, (&to));
    C(Group_free, (&all));
    C(Win_lock, (MPI_LOCK_EXCLUSIVE, next, 0, w));
    C(Get_accumulate, (a, 1, MPI_INT, b, 1, MPI_INT, next, 3, 1, MPI_INT, MPI_SUM, w));
    C(Win_flush_local, (next, w));
    C(Fetch_and_op, (a, b + 1, MPI_INT, next, 4, MPI_SUM, w));
    C(Compare_and_swap, (a, a, b + 2, MPI_INT, next, 5, w));
    C(Win_flush, (next, w));
    C(Win_unlock, (next, w));
    C(Win_lock_all, (0, w));
    C(Rput, (a, 1, MPI_INT, next, 6, 1, MPI_INT, w, &r[0]));
    C(Rget, (b + 3, 1, MPI_INT, next, 0, 1, MPI_INT, w, &r[1]));
    C(Raccumulate, (a, 1, MPI_INT, next, 2, 1, MPI_INT, MPI_SUM, w, &r[2]));
    C(Rget_accumulate, (a, 1, MPI_INT, c, 1, MPI_INT, next, 3, 1, MPI_INT, MPI_SUM, w, &r[3]));
    C(Waitall, (4, r, MPI_STATUSES_IGNORE));
    C(Win_flush_local_all, (w));
    C(Win_flush_all, (w));
    C(Win_sync, (w));
    C(Win_unlock_all, (w));
    C(Win_create_dynamic, (MPI_INFO_NULL, MPI_COMM_WORLD, &v));
    C(Win_attach, (v, memory, sizeof memory));
    C(Win_detach, (v, memory));
    C(Win_free, (&v));
    C(Win_allocate, (64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &given, &v));
    C(Win_free, (&v));
    C(Win_allocate_shared, (64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &given, &v));
    C(Win_free, (&v));
    C(Win_free, (&w));
}

static void files(const char *file) {
    int a[4] = {0}, b[4];
    MPI_Offset at = me * 4 * (MPI_Offset)sizeof(int);
    MPI_Status *s = MPI_STATUS_IGNORE;
    MPI_Request r;
    MPI_File f;
    C(File_open, (MPI_COMM_WORLD, file, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    C(File_set_size, (f, 1024));
    C(File_preallocate, (f, 1024));
    C(File_set_view, (f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    C(File_set_atomicity, (f, 0));
    C(File_write_at, (f, at, a, 1, MPI_INT, s));
    C(File_read_at, (f, at, b, 1, MPI_INT, s));
    C(File_write_at_all, (f, at, a, 1, MPI_INT, s));
    C(File_read_at_all, (f, at, b, 1, MPI_INT, s));
    C(File_seek, (f, 0, MPI_SEEK_SET));
    C(File_write, (f, a, 1, MPI_INT, s));
    C(File_read, (f, b, 1, MPI_INT, s));
    C(File_write_all, (f, a, 1, MPI_INT, s));
    C(File_read_all, (f, b, 1, MPI_INT, s));
    C(File_seek_shared, (f, 0, MPI_SEEK_SET));
    C(File_write_shared, (f, a, 1, MPI_INT, s));
    C(File_read_shared, (f, b, 1, MPI_INT, s));
    C(File_write_ordered, (f, a, 1, MPI_INT, s));
    C(File_read_ordered, (f, b, 1, MPI_INT, s));
    C(File_write_at_all_begin, (f, at, a, 1, MPI_INT));
    C(File_write_at_all_end, (f, a, s));
    C(File_read_at_all_begin, (f, at, b, 1, MPI_INT));
    C(File_read_at_all_end, (f, b, s));
    C(File_write_all_begin, (f, a, 1, MPI_INT));
    C(File_write_all_end, (f, a, s));
    C(File_read_all_begin, (f, b, 1, MPI_INT));
    C(File_read_all_end, (f, b, s));
    C(File_write_ordered_begin, (f, a, 1, MPI_INT));
    C(File_write_ordered_end, (f, a, s));
    C(File_read_ordered_begin, (f, b, 1, MPI_INT));
    C(File_read_ordered_end, (f, b, s));
#define LATER(name, args) C(name, args); C(Wait, (&r, s))
    LATER(File_iwrite_at, (f, at, a, 1, MPI_INT, &r));
    LATER(File_iread_at, (f, at, b, 1, MPI_INT, &r));
    LATER(File_iwrite_at_all, (f, at, a, 1, MPI_INT, &r));
    LATER(File_iread_at_all, (f, at, b, 1, MPI_INT, &r));
    LATER(File_iwrite, (f, a, 1, MPI_INT, &r));
    LATER(File_iread, (f, b, 1, MPI_INT, &r));
    LATER(File_iwrite_all, (f, a, 1, MPI_INT, &r));
    LATER(File_iread_all, (f, b, 1, MPI_INT, &r));
    LATER(File_iwrite_shared, (f, a, 1, MPI_INT, &r));
    LATER(File_iread_shared, (f, b, 1, MPI_INT, &r));
    C(File_sync, (f));
    C(File_close, (&f));
    if (me == 0) C(File_delete, (file, MPI_INFO_NULL));
}

int main(int argc, char **argv) {
    int provided;
    if (argc > 2) C(Init_thread, (&argc, &argv, MPI_THREAD_FUNNELED, &provided));
    else C(Init, (&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    messages();
    collectives(MPI_COMM_WORLD);
    communicators();
    windows();
    files(argv[1]);
    C(Finalize, ());
    char name[1000];
    snprintf(name, sizeof name, "%s.%d", argv[1], me);
    FILE *f = fopen(name, "w");
    for (int i = 0; i < kinds; i++) fprintf(f, "%s %ld\n", calls[i].name, calls[i].n);
    fclose(f);
    return 0;
}
