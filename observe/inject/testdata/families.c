/* Every family of calls that the library replaces, with data of every kind and size. Each rank prints, for each family, a
 * number made of all that it received: the same without and with injection. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;
static uint64_t sum;

static void mix(uint64_t x) { sum = (sum ^ x) * 0x9e3779b97f4a7c15u; sum ^= sum >> 29; }
static void mix_bytes(const void *p, size_t n) { for (size_t i = 0; i < n; i++) mix(((const unsigned char *)p)[i]); }
static void mix_ints(const int *p, int n) { for (int i = 0; i < n; i++) mix((uint64_t)(uint32_t)p[i]); }
static void say(const char *family) { printf("%d %s %016llx\n", rank, family, (unsigned long long)sum); fflush(stdout); sum = 1; }
static unsigned seed = 12345;
static int draw(int n) { seed = seed * 1103515245u + 12345u; return (int)(seed >> 8) % n; } /* the same on all ranks */
static int value(int from, int i) { return from * 1000003 + i * 7919 + 17; }
static void fill(int *p, int n, int from) { for (int i = 0; i < n; i++) p[i] = value(from, i); }
static void mix_status(MPI_Status *s, MPI_Datatype type) {
    int n = -1, m = -1, cancelled = -1;
    MPI_Get_count(s, type, &n);
    MPI_Get_elements(s, type, &m);
    MPI_Test_cancelled(s, &cancelled);
    mix((uint64_t)(s->MPI_SOURCE + 10)); mix((uint64_t)(s->MPI_TAG + 10)); mix((uint64_t)n); mix((uint64_t)m); mix((uint64_t)cancelled);
}

enum { BIG = 100000 };
static int out[BIG], in[8][BIG];
static const int sizes[] = {0, 1, 3, 64, 1000, 8191, 8192, 20000, BIG};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void blocking(void) {
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    MPI_Status st;
    for (int k = 0; k < SIZES; k++) {
        int n = sizes[k];
        fill(out, n, rank + k);
        for (int mode = 0; mode < 3; mode++) {
            MPI_Request r;
            if (mode == 0) { MPI_Irecv(in[0], BIG, MPI_INT, left, k, MPI_COMM_WORLD, &r); MPI_Send(out, n, MPI_INT, right, k, MPI_COMM_WORLD); MPI_Wait(&r, &st); }
            if (mode == 1) { MPI_Irecv(in[0], BIG, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r); MPI_Ssend(out, n, MPI_INT, right, k, MPI_COMM_WORLD); MPI_Wait(&r, &st); }
            if (mode == 2) { MPI_Sendrecv(out, n, MPI_INT, right, k, in[0], n, MPI_INT, left, k, MPI_COMM_WORLD, &st); }
            mix_status(&st, MPI_INT);
            mix_ints(in[0], n);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        memcpy(in[1], out, sizeof(int) * (size_t)n);
        MPI_Sendrecv_replace(in[1], n, MPI_INT, right, 5, left, 5, MPI_COMM_WORLD, &st);
        mix_status(&st, MPI_INT);
        mix_ints(in[1], n);
        if (rank % 2 == 0 && rank + 1 < ranks) MPI_Send(out, n, MPI_INT, rank + 1, 7, MPI_COMM_WORLD);
        if (rank % 2 == 1) { MPI_Recv(in[2], n, MPI_INT, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); mix_ints(in[2], n); }
    }
    MPI_Recv(in[0], 5, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &st);
    mix_status(&st, MPI_INT);
    MPI_Send(out, 5, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
    MPI_Sendrecv(out, 4, MPI_INT, MPI_PROC_NULL, 3, in[0], 4, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &st);
    mix_status(&st, MPI_INT);
    MPI_Sendrecv(out, 4, MPI_INT, rank, 3, in[0], 4, MPI_INT, rank, 3, MPI_COMM_WORLD, &st);
    mix_status(&st, MPI_INT);
    say("blocking");
}

static void buffered(void) {
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks, size;
    MPI_Pack_size(3000, MPI_INT, MPI_COMM_WORLD, &size);
    size = 3 * (size + MPI_BSEND_OVERHEAD);
    void *buffer = malloc((size_t)size), *back;
    MPI_Buffer_attach(buffer, size);
    for (int round = 0; round < 5; round++) {
        MPI_Request r, p;
        fill(out, 3000, rank + round);
        MPI_Bsend(out, 3000, MPI_INT, right, 1, MPI_COMM_WORLD);
        MPI_Ibsend(out, 3000, MPI_INT, right, 2, MPI_COMM_WORLD, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Bsend_init(out, 3000, MPI_INT, right, 3, MPI_COMM_WORLD, &p);
        MPI_Start(&p);
        MPI_Wait(&p, MPI_STATUS_IGNORE);
        memset(out, 0, sizeof(int) * 3000);
        for (int k = 1; k <= 3; k++) { MPI_Recv(in[0], 3000, MPI_INT, left, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE); mix_ints(in[0], 3000); }
        MPI_Request_free(&p);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    int n;
    MPI_Buffer_detach(&back, &n);
    mix(back == buffer); mix((uint64_t)(n == size));
    free(buffer);
    say("buffered");
}

static void waits(void) {
    MPI_Request r[16];
    MPI_Status st[16];
    for (int round = 0; round < 14; round++) {
        int n = 0, flag = 0, index, count, list[16], size = sizes[draw(SIZES)];
        for (int i = 0; i < 4; i++) MPI_Irecv(in[i], size, MPI_INT, (rank + ranks - 1) % ranks, i, MPI_COMM_WORLD, &r[n++]);
        fill(out, size, rank);
        for (int i = 3; i >= 0; i--) {
            MPI_Request *to = &r[n++];
            if (i == 0) MPI_Issend(out, size, MPI_INT, (rank + 1) % ranks, i, MPI_COMM_WORLD, to);
            else MPI_Isend(out, size, MPI_INT, (rank + 1) % ranks, i, MPI_COMM_WORLD, to);
        }
        r[n++] = MPI_REQUEST_NULL;
        memset(st, 0, sizeof st);
        uint64_t all = 0;
        switch (round % 7) {
        case 0: MPI_Waitall(n, r, st); for (int i = 0; i < 4; i++) mix_status(&st[i], MPI_INT); break;
        case 1: while (!flag) MPI_Testall(n, r, &flag, st); for (int i = 0; i < 4; i++) mix_status(&st[i], MPI_INT); break;
        case 2:
            for (int i = 0; i < n - 1; i++) { MPI_Waitany(n, r, &index, st); all += (uint64_t)(index + 1); if (index < 4) all += (uint64_t)st[0].MPI_TAG * 100; }
            MPI_Waitany(n, r, &index, st); mix(index == MPI_UNDEFINED); mix_status(&st[0], MPI_INT); break;
        case 3:
            for (int i = 0; i < n - 1;) { MPI_Testany(n, r, &index, &flag, st); if (flag) { i++; all += (uint64_t)(index + 1); } }
            MPI_Testany(n, r, &index, &flag, st); mix((uint64_t)flag); mix(index == MPI_UNDEFINED); break;
        case 4:
            for (int i = 0; i < n - 1;) { MPI_Waitsome(n, r, &count, list, st); i += count; for (int k = 0; k < count; k++) all += (uint64_t)(list[k] + 1); }
            MPI_Waitsome(n, r, &count, list, st); mix(count == MPI_UNDEFINED); break;
        case 5:
            for (int i = 0; i < n - 1;) { MPI_Testsome(n, r, &count, list, MPI_STATUSES_IGNORE); i += count; for (int k = 0; k < count; k++) all += (uint64_t)(list[k] + 1); }
            MPI_Testsome(n, r, &count, list, st); mix(count == MPI_UNDEFINED); break;
        case 6:
            while (!flag) MPI_Request_get_status(r[2], &flag, st);
            mix_status(st, MPI_INT);
            for (int i = 0; i < n; i++) { flag = 0; while (!flag) MPI_Test(&r[i], &flag, i % 2 ? MPI_STATUS_IGNORE : st); if (i % 2 == 0 && i < 4) mix_status(st, MPI_INT); }
        }
        mix(all);
        for (int i = 0; i < n; i++) mix(r[i] == MPI_REQUEST_NULL);
        for (int i = 0; i < 4; i++) mix_ints(in[i], size);
    }
    say("waits");
}

/* Several receives of the same source and tag, completed in another order; wildcards in any order. */
static void order(void) {
    MPI_Request r[8], s[8];
    MPI_Status st;
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    for (int i = 0; i < 8; i++) MPI_Irecv(in[i], 100, MPI_INT, i % 2 ? left : MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &r[i]);
    for (int i = 0; i < 8; i++) { out[i * 100] = rank * 8 + i; MPI_Isend(out + i * 100, i + 1, MPI_INT, right, 9, MPI_COMM_WORLD, &s[i]); }
    for (int i = 7; i >= 0; i--) { MPI_Wait(&r[i], &st); mix_status(&st, MPI_INT); mix_ints(in[i], 1); }
    MPI_Waitall(8, s, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    uint64_t all = 0;
    if (rank == 0) {
        for (int i = 0; i < 3 * (ranks - 1); i++) { MPI_Recv(in[0], 10, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st); all += (uint64_t)(in[0][0] * (st.MPI_SOURCE + 1) + st.MPI_TAG); }
    } else {
        for (int i = 0; i < 3; i++) { out[0] = rank * 100 + i; MPI_Send(out, 1, MPI_INT, 0, i, MPI_COMM_WORLD); }
    }
    mix(all);
    MPI_Barrier(MPI_COMM_WORLD);
    say("order");
}

static void persistent(void) {
    MPI_Request r[4];
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks, index, flag;
    MPI_Status st[4];
    MPI_Send_init(out, 500, MPI_INT, right, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Recv_init(in[0], 600, MPI_INT, left, MPI_ANY_TAG, MPI_COMM_WORLD, &r[1]);
    MPI_Ssend_init(out + 500, 9000, MPI_INT, right, 2, MPI_COMM_WORLD, &r[2]);
    MPI_Recv_init(in[1], 9000, MPI_INT, left, 2, MPI_COMM_WORLD, &r[3]);
    MPI_Waitany(4, r, &index, st); /* none is active */
    mix(index == MPI_UNDEFINED);
    MPI_Testall(4, r, &flag, st);
    mix((uint64_t)flag);
    for (int round = 0; round < 6; round++) {
        fill(out, 9500, rank + round);
        if (round % 2) { MPI_Start(&r[1]); MPI_Start(&r[3]); MPI_Start(&r[0]); MPI_Start(&r[2]); }
        else { MPI_Startall(2, r); MPI_Startall(2, r + 2); }
        if (round % 3 == 0) MPI_Waitall(4, r, st);
        else if (round % 3 == 1) { for (int i = 0; i < 4; i++) MPI_Wait(&r[i], &st[i]); }
        else { int left_over = 4; while (left_over > 0) { MPI_Status one; MPI_Waitany(4, r, &index, &one); st[index] = one; left_over--; } }
        mix_status(&st[1], MPI_INT); mix_status(&st[3], MPI_INT);
        mix_ints(in[0], 500); mix_ints(in[1], 9000);
        for (int i = 0; i < 4; i++) mix(r[i] != MPI_REQUEST_NULL);
    }
    for (int i = 0; i < 4; i++) MPI_Request_free(&r[i]);
    say("persistent");
}

static void probes(void) {
    MPI_Status st;
    MPI_Message m;
    MPI_Request r;
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks, flag = 0, n;
    for (int k = 0; k < SIZES; k++) {
        fill(out, sizes[k], rank + k);
        MPI_Isend(out, sizes[k], MPI_INT, right, 20 + k, MPI_COMM_WORLD, &r);
        switch (k % 4) {
        case 0: MPI_Probe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &st); break;
        case 1: for (flag = 0; !flag;) MPI_Iprobe(MPI_ANY_SOURCE, 20 + k, MPI_COMM_WORLD, &flag, &st); break;
        case 2: MPI_Mprobe(left, 20 + k, MPI_COMM_WORLD, &m, &st); break;
        case 3: for (flag = 0; !flag;) MPI_Improbe(left, 20 + k, MPI_COMM_WORLD, &flag, &m, &st); break;
        }
        mix_status(&st, MPI_INT);
        MPI_Get_count(&st, MPI_INT, &n);
        if (k % 4 < 2) MPI_Recv(in[0], n, MPI_INT, left, st.MPI_TAG, MPI_COMM_WORLD, &st);
        else if (k % 4 == 2) MPI_Mrecv(in[0], n, MPI_INT, &m, &st);
        else { MPI_Request q; MPI_Imrecv(in[0], n, MPI_INT, &m, &q); MPI_Wait(&q, &st); }
        mix_status(&st, MPI_INT);
        mix_ints(in[0], n);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &m, &st);
    MPI_Mrecv(in[0], 1, MPI_INT, &m, &st);
    mix_status(&st, MPI_INT);
    say("probes");
}

/* Types made by calls with large counts, which the calls with small ones refuse to describe. */
static void large_types(void) {
#if MPI_VERSION >= 4
    MPI_Datatype ten;
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    MPI_Type_contiguous_c(10, MPI_INT, &ten);
    MPI_Type_commit(&ten);
    fill(out, 100, rank);
    MPI_Sendrecv_c(out, 10, ten, right, 1, in[0], 10, ten, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    mix_ints(in[0], 100);
    MPI_Bcast(in[0], 5, ten, 0, MPI_COMM_WORLD);
    mix_ints(in[0], 50);
    MPI_Type_free(&ten);
#endif
    say("large types");
}

static void types(void) {
    MPI_Datatype column, pair[3], odd;
    MPI_Type_vector(50, 3, 10, MPI_INT, &column);
    MPI_Type_commit(&column);
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    MPI_Status st;
    MPI_Request r;
    memset(in, 0, sizeof in);
    fill(out, 5000, rank);
    MPI_Irecv(in[0], 2, column, left, 1, MPI_COMM_WORLD, &r);
    MPI_Send(out, 2, column, right, 1, MPI_COMM_WORLD);
    MPI_Type_free(&column);
    MPI_Wait(&r, &st);
    mix_status(&st, MPI_INT);
    mix_ints(in[0], 1500);
    int n, m;
    MPI_Type_contiguous(4, MPI_INT, &odd); /* an incomplete element at the end */
    MPI_Type_commit(&odd);
    MPI_Sendrecv(out, 10, MPI_INT, right, 2, in[1], 5, odd, left, 2, MPI_COMM_WORLD, &st);
    MPI_Get_count(&st, odd, &n); MPI_Get_elements(&st, odd, &m);
    mix(n == MPI_UNDEFINED); mix((uint64_t)m); mix_ints(in[1], 10);
    MPI_Type_free(&odd);
    struct { double a; int b; } di[4] = {{1.5 * rank, 3}, {2, rank}, {0, 0}, {0, 0}}, gi[4] = {{0, 0}};
    MPI_Sendrecv(di, 2, MPI_DOUBLE_INT, right, 3, gi, 4, MPI_DOUBLE_INT, left, 3, MPI_COMM_WORLD, &st);
    mix_status(&st, MPI_DOUBLE_INT);
    mix((uint64_t)(gi[0].a * 10)); mix((uint64_t)gi[1].b);
    MPI_Aint places[2];
    int lengths[2] = {3, 5};
    MPI_Get_address(out + 100, &places[0]); MPI_Get_address(out + 900, &places[1]);
    MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &pair[0]);
    MPI_Type_commit(&pair[0]);
    MPI_Sendrecv(MPI_BOTTOM, 1, pair[0], right, 4, in[2], 8, MPI_INT, left, 4, MPI_COMM_WORLD, &st);
    mix_status(&st, MPI_INT); mix_ints(in[2], 8);
    char packed[200];
    int at = 0;
    MPI_Pack(out, 20, MPI_INT, packed, sizeof packed, &at, MPI_COMM_WORLD);
    MPI_Sendrecv_replace(packed, at, MPI_PACKED, right, 5, left, 5, MPI_COMM_WORLD, &st);
    at = 0;
    MPI_Unpack(packed, sizeof packed, &at, in[3], 20, MPI_INT, MPI_COMM_WORLD);
    mix_status(&st, MPI_PACKED); mix_ints(in[3], 20);
    MPI_Type_free(&pair[0]);
    say("types");
}

static void errors(void) {
    MPI_Status st;
    MPI_Request r;
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks, class, e, flag;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    fill(out, 100, rank);
    in[0][10] = 77;
    MPI_Isend(out, 100, MPI_INT, right, 1, MPI_COMM_WORLD, &r);
    e = MPI_Recv(in[0], 10, MPI_INT, left, 1, MPI_COMM_WORLD, &st);
    MPI_Error_class(e, &class);
    mix(class == MPI_ERR_TRUNCATE); mix_ints(in[0] + 10, 1);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    e = MPI_Send(out, -1, MPI_INT, right, 1, MPI_COMM_WORLD); MPI_Error_class(e, &class); mix(class == MPI_ERR_COUNT);
    e = MPI_Send(out, 1, MPI_INT, ranks + 5, 1, MPI_COMM_WORLD); MPI_Error_class(e, &class); mix(class == MPI_ERR_RANK);
    e = MPI_Send(out, 1, MPI_DATATYPE_NULL, right, 1, MPI_COMM_WORLD); MPI_Error_class(e, &class); mix(class == MPI_ERR_TYPE);
    e = MPI_Bcast(out, 1, MPI_INT, ranks + 1, MPI_COMM_WORLD); MPI_Error_class(e, &class); mix(class == MPI_ERR_ROOT);
    MPI_Irecv(in[0], 10, MPI_INT, left, 99, MPI_COMM_WORLD, &r);
    MPI_Cancel(&r);
    MPI_Wait(&r, &st);
    MPI_Test_cancelled(&st, &flag);
    mix((uint64_t)flag);
    MPI_Irecv(in[1], 100, MPI_INT, left, 98, MPI_COMM_WORLD, &r); /* freed before it is complete */
    MPI_Request_free(&r);
    mix(r == MPI_REQUEST_NULL);
    MPI_Isend(out, 100, MPI_INT, right, 98, MPI_COMM_WORLD, &r);
    MPI_Request_free(&r);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Sendrecv(out, 1, MPI_INT, right, 97, in[2], 1, MPI_INT, left, 97, MPI_COMM_WORLD, &st);
    mix_ints(in[1], 100);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    say("errors");
}

/* 2x2 matrices of remainders do not commute. */
static int rest(int x) { return (x % 1009 + 1009) % 1009; }
static void multiply(void *a, void *b, int *n, MPI_Datatype *type) {
    int *x = a, *y = b;
    (void)type;
    for (int i = 0; i < *n; i++, x += 4, y += 4) {
        int z[4];
        for (int k = 0; k < 4; k++) z[k] = rest(rest(x[k / 2 * 2]) * rest(y[k % 2]) + rest(x[k / 2 * 2 + 1]) * rest(y[k % 2 + 2]));
        memcpy(y, z, sizeof z);
    }
}

static void collectives(MPI_Comm comm, const char *name, int later) {
    int p, r, counts[16], places[16], out_counts[16], out_places[16];
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &r);
    MPI_Request q;
    MPI_Datatype matrix, odd[16], even[16];
    MPI_Op op;
    MPI_Type_contiguous(4, MPI_INT, &matrix);
    MPI_Type_commit(&matrix);
    MPI_Op_create(multiply, 0, &op);
#define DO(call, icall) do { if (later) { icall; MPI_Wait(&q, MPI_STATUS_IGNORE); } else { call; } } while (0)
    DO(MPI_Barrier(comm), MPI_Ibarrier(comm, &q));
    for (int k = 0; k < 5; k++) {
        int n = (int[]){0, 1, 7, 3000, 17000}[k], root = (k + 1) % p, total = 0;
        for (int i = 0; i < p; i++) { counts[i] = n / 2 + i; places[i] = total + i; total += counts[i] + i; }
        fill(out, n, rank + k);
        memcpy(in[0], out, sizeof(int) * (size_t)n);
        DO(MPI_Bcast(in[0], n, MPI_INT, root, comm), MPI_Ibcast(in[0], n, MPI_INT, root, comm, &q));
        mix_ints(in[0], n);
        memset(in, 0, sizeof in);
        int *all = in[0]; /* spans several rows */
        DO(MPI_Gather(out, n, MPI_INT, all, n, MPI_INT, root, comm), MPI_Igather(out, n, MPI_INT, all, n, MPI_INT, root, comm, &q));
        mix_ints(all, n * p);
        if (r == root) { memset(in, 0, sizeof in); fill(all + root * n, n, rank); }
        DO(MPI_Gather(r == root ? MPI_IN_PLACE : out, n, MPI_INT, all, n, MPI_INT, root, comm), MPI_Igather(r == root ? MPI_IN_PLACE : out, n, MPI_INT, all, n, MPI_INT, root, comm, &q));
        mix_ints(all, n * p);
        memset(in, 0, sizeof in);
        DO(MPI_Gatherv(out, counts[r], MPI_INT, all, counts, places, MPI_INT, root, comm), MPI_Igatherv(out, counts[r], MPI_INT, all, counts, places, MPI_INT, root, comm, &q));
        mix_ints(all, total);
        fill(all, total + n * p, rank);
        int *part = in[5];
        DO(MPI_Scatter(all, n, MPI_INT, part, n, MPI_INT, root, comm), MPI_Iscatter(all, n, MPI_INT, part, n, MPI_INT, root, comm, &q));
        mix_ints(part, n);
        DO(MPI_Scatter(all, n, MPI_INT, r == root ? MPI_IN_PLACE : part, n, MPI_INT, root, comm), MPI_Iscatter(all, n, MPI_INT, r == root ? MPI_IN_PLACE : part, n, MPI_INT, root, comm, &q));
        mix_ints(part, n);
        DO(MPI_Scatterv(all, counts, places, MPI_INT, part, counts[r], MPI_INT, root, comm), MPI_Iscatterv(all, counts, places, MPI_INT, part, counts[r], MPI_INT, root, comm, &q));
        mix_ints(part, counts[r]);
        memset(in, 0, sizeof in);
        DO(MPI_Allgather(out, n, MPI_INT, all, n, MPI_INT, comm), MPI_Iallgather(out, n, MPI_INT, all, n, MPI_INT, comm, &q));
        mix_ints(all, n * p);
        memset(in, 0, sizeof in);
        fill(all + r * n, n, rank + 5);
        DO(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, n, MPI_INT, comm), MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, n, MPI_INT, comm, &q));
        mix_ints(all, n * p);
        memset(in, 0, sizeof in);
        DO(MPI_Allgatherv(out, counts[r], MPI_INT, all, counts, places, MPI_INT, comm), MPI_Iallgatherv(out, counts[r], MPI_INT, all, counts, places, MPI_INT, comm, &q));
        mix_ints(all, total);
        fill(all, n * p, rank);
        int *got = in[4];
        DO(MPI_Alltoall(all, n, MPI_INT, got, n, MPI_INT, comm), MPI_Ialltoall(all, n, MPI_INT, got, n, MPI_INT, comm, &q));
        mix_ints(got, n * p);
        DO(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, got, n, MPI_INT, comm), MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_INT, got, n, MPI_INT, comm, &q));
        mix_ints(got, n * p);
        for (int i = 0; i < p; i++) { out_counts[i] = counts[r]; out_places[i] = i * (counts[r] + 1); }
        memset(in[4], 0, 4 * sizeof in[4]);
        DO(MPI_Alltoallv(all, out_counts, out_places, MPI_INT, got, counts, places, MPI_INT, comm), MPI_Ialltoallv(all, out_counts, out_places, MPI_INT, got, counts, places, MPI_INT, comm, &q));
        mix_ints(got, total);
        for (int i = 0; i < p; i++) { odd[i] = MPI_INT; even[i] = MPI_INT; out_places[i] *= 4; places[i] *= 4; }
        memset(in[4], 0, 4 * sizeof in[4]);
        DO(MPI_Alltoallw(all, out_counts, out_places, odd, got, counts, places, even, comm), MPI_Ialltoallw(all, out_counts, out_places, odd, got, counts, places, even, comm, &q));
        mix_ints(got, total);
        int m = n / 4;
        int *result = in[2];
        for (int way = 0; way < 2; way++) {
            MPI_Op with = way ? op : MPI_SUM;
            MPI_Datatype type = way ? matrix : MPI_INT;
            int c = way ? m : n;
            memset(in, 0, sizeof in);
            DO(MPI_Reduce(out, result, c, type, with, root, comm), MPI_Ireduce(out, result, c, type, with, root, comm, &q));
            mix_ints(result, n);
            fill(result, n, rank + 3);
            if (n <= 7) /* MPICH 4.0.2 by itself fails for more */
            DO(MPI_Reduce(r == root ? MPI_IN_PLACE : out, result, c, type, with, root, comm), MPI_Ireduce(r == root ? MPI_IN_PLACE : out, result, c, type, with, root, comm, &q));
            mix_ints(result, n);
            DO(MPI_Allreduce(out, result, c, type, with, comm), MPI_Iallreduce(out, result, c, type, with, comm, &q));
            mix_ints(result, n);
            fill(result, n, rank + 3);
            DO(MPI_Allreduce(MPI_IN_PLACE, result, c, type, with, comm), MPI_Iallreduce(MPI_IN_PLACE, result, c, type, with, comm, &q));
            mix_ints(result, n);
            memset(result, 0, sizeof in[2]);
            DO(MPI_Scan(out, result, c, type, with, comm), MPI_Iscan(out, result, c, type, with, comm, &q));
            mix_ints(result, n);
            fill(result, n, rank + 3);
            DO(MPI_Scan(MPI_IN_PLACE, result, c, type, with, comm), MPI_Iscan(MPI_IN_PLACE, result, c, type, with, comm, &q));
            mix_ints(result, n);
            memset(result, 0, sizeof in[2]);
            DO(MPI_Exscan(out, result, c, type, with, comm), MPI_Iexscan(out, result, c, type, with, comm, &q));
            if (r > 0) mix_ints(result, n);
            int block = c / p;
            memset(result, 0, sizeof in[2]);
            DO(MPI_Reduce_scatter_block(out, result, block, type, with, comm), MPI_Ireduce_scatter_block(out, result, block, type, with, comm, &q));
            mix_ints(result, n);
            for (int i = 0; i < p; i++) counts[i] = i + 1 < p ? block / 2 : c - (p - 1) * (block / 2);
            memset(result, 0, sizeof in[2]);
            DO(MPI_Reduce_scatter(out, result, counts, type, with, comm), MPI_Ireduce_scatter(out, result, counts, type, with, comm, &q));
            mix_ints(result, n);
        }
    }
    MPI_Type_free(&matrix);
    MPI_Op_free(&op);
    say(name);
}

/* Collectives that go on while messages are exchanged, in different orders. */
static void overlap(void) {
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Request q[5];
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks, a = rank + 1, b = 0, c[4] = {rank, 2, 3, 4}, d[16];
    MPI_Iallreduce(&a, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q[0]);
    MPI_Ibcast(c, 4, MPI_INT, ranks - 1, other, &q[1]);
    MPI_Iallgather(&a, 1, MPI_INT, d, 1, MPI_INT, MPI_COMM_WORLD, &q[2]);
    MPI_Ibarrier(other, &q[3]);
    MPI_Irecv(in[0], 10, MPI_INT, left, 1, other, &q[4]);
    fill(out, 20000, rank);
    if (rank % 2 == 0) { MPI_Send(out, 20000, MPI_INT, right, 2, other); MPI_Recv(in[1], 20000, MPI_INT, left, 2, other, MPI_STATUS_IGNORE); }
    else { MPI_Recv(in[1], 20000, MPI_INT, left, 2, other, MPI_STATUS_IGNORE); MPI_Send(out, 20000, MPI_INT, right, 2, other); }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(out, 10, MPI_INT, right, 1, other);
    MPI_Comm third;
    MPI_Comm_split(other, rank % 2, -rank, &third);
    int left_over = 5;
    while (left_over > 0) { int index; MPI_Waitany(5, q, &index, MPI_STATUS_IGNORE); mix(index == MPI_UNDEFINED); left_over--; }
    mix((uint64_t)b); mix_ints(c, 4); mix_ints(d, ranks); mix_ints(in[0], 10); mix_ints(in[1], 20000);
    int sum_of_some = 0;
    MPI_Allreduce(&a, &sum_of_some, 1, MPI_INT, MPI_SUM, third);
    mix((uint64_t)sum_of_some);
    MPI_Comm_free(&third);
    MPI_Comm_free(&other);
    say("overlap");
}

static void comms(void) {
    MPI_Comm cart, row, reversed, inter = MPI_COMM_NULL;
    int dims[2] = {ranks % 2 == 0 ? 2 : 1, ranks % 2 == 0 ? ranks / 2 : ranks}, periods[2] = {1, 1}, keep[2] = {0, 1}, up, down, x = rank + 1, y = 0;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
    MPI_Cart_shift(cart, 1, 1, &up, &down);
    MPI_Sendrecv(&x, 1, MPI_INT, down, 1, &y, 1, MPI_INT, up, 1, cart, MPI_STATUS_IGNORE);
    mix((uint64_t)y);
    MPI_Cart_sub(cart, keep, &row);
    MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, row);
    mix((uint64_t)y);
    int around[4];
    MPI_Neighbor_allgather(&x, 1, MPI_INT, around, 1, MPI_INT, cart);
    mix_ints(around, 4);
    MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, &reversed);
    y = x;
    MPI_Bcast(&y, 1, MPI_INT, 0, reversed);
    mix((uint64_t)y);
    collectives(reversed, "reversed", 0);
    if (ranks > 1) { /* two groups */
        MPI_Comm half;
        MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 5, &inter);
        if (rank == 0) { for (int i = 0; i < ranks - 1; i++) MPI_Send(&x, 1, MPI_INT, i, 3, inter); }
        else { MPI_Recv(&y, 1, MPI_INT, 0, 3, inter, MPI_STATUS_IGNORE); mix((uint64_t)y); }
        MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, inter);
        mix((uint64_t)y);
        MPI_Comm merged;
        MPI_Intercomm_merge(inter, rank > 0, &merged);
        MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, merged);
        mix((uint64_t)y);
        MPI_Comm_free(&merged);
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
    }
    MPI_Win win;
    static int source, *cell;
    source = x;
    MPI_Win_allocate(sizeof *cell, sizeof *cell, MPI_INFO_NULL, MPI_COMM_WORLD, &cell, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&source, 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Comm_free(&reversed);
    MPI_Comm_free(&row);
    MPI_Comm_free(&cart);
    say("comms");
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    sum = 1;
    blocking();
    buffered();
    waits();
    order();
    persistent();
    probes();
    types();
    large_types();
    errors();
    collectives(MPI_COMM_WORLD, "collectives", 0);
    collectives(MPI_COMM_WORLD, "icollectives", 1);
    overlap();
    comms();
    MPI_Finalize();
    return argc > 1 ? atoi(argv[1]) : 0;
}
