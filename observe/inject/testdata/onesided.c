/* One-sided operations of rank 0 on rank 1, completed in every way, and with MPI-4 persistent collectives and MPI_Isendrecv: prints
 * what was computed, or with an argument the shortest time of each way in nanoseconds, from its start on rank 0 to its end on a rank. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TIMES = 8, N = 16 };
static int rank, ranks, timed;
static MPI_Win win;
static int *memory, got[N];
static MPI_Group peer;

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void say(const char *what, int64_t shortest) {
    int sum = 0;
    PMPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) sum = sum * 7 + memory[i] + 3 * got[i];
    if (timed) printf("%s %d %lld\n", what, rank, (long long)shortest);
    else printf("rank %d %s: %d\n", rank, what, sum);
    fflush(stdout);
    PMPI_Barrier(MPI_COMM_WORLD);
}

static void run(const char *what, void (*way)(int)) {
    int64_t shortest = INT64_MAX;
    for (int i = 0; i < TIMES; i++) {
        PMPI_Barrier(MPI_COMM_WORLD);
        int64_t start = now();
        way(i);
        int64_t took = now();
        PMPI_Bcast(&start, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
        took -= start;
        if (took < shortest) shortest = took;
    }
    say(what, shortest);
}

static int data[N];
static void fill(int i) { for (int k = 0; k < N; k++) data[k] = 100 * i + k + rank; }

static void fence(int i) {
    fill(i);
    if (rank == 0) MPI_Put(data, N, MPI_INT, 1, 0, N, MPI_INT, win);
    MPI_Win_fence(0, win);
}
static void empty_fence(int i) { (void)i; MPI_Win_fence(0, win); }
static void fence_get(int i) {
    (void)i;
    if (rank == 0) MPI_Get(got, N, MPI_INT, 1, 0, N, MPI_INT, win);
    MPI_Win_fence(0, win);
}
static void lock_put(int i) {
    fill(i);
    if (rank != 0) return;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Put(data, N, MPI_INT, 1, 0, N, MPI_INT, win);
    MPI_Win_unlock(1, win);
}
static void flush_put(int i) {
    fill(i);
    if (rank != 0) return;
    MPI_Put(data, N, MPI_INT, 1, 0, N, MPI_INT, win);
    MPI_Win_flush(1, win);
}
static void flush_local(int i) {
    fill(i);
    if (rank != 0) return;
    MPI_Accumulate(data, N, MPI_INT, 1, 0, N, MPI_INT, MPI_SUM, win);
    MPI_Win_flush_local(1, win);
}
static void fetch(int i) {
    int one = i;
    if (rank != 0) return;
    MPI_Fetch_and_op(&one, &got[1], MPI_INT, 1, 2, MPI_SUM, win);
    MPI_Win_flush_all(win);
}
static void rget(int i) {
    MPI_Request r;
    (void)i;
    if (rank != 0) return;
    MPI_Rget(got, N, MPI_INT, 1, 0, N, MPI_INT, win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}
static void rput_test(int i) {
    MPI_Request r;
    int flag = 0;
    fill(i);
    if (rank != 0) return;
    MPI_Rput(data, N, MPI_INT, 1, 0, N, MPI_INT, win, &r);
    while (!flag) MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
}
static void epochs(int i) {
    fill(i);
    if (rank == 0) {
        MPI_Win_start(peer, 0, win);
        MPI_Put(data, N, MPI_INT, 1, 0, N, MPI_INT, win);
        MPI_Win_complete(win);
    } else if (rank == 1) {
        MPI_Win_post(peer, 0, win);
        if (i % 2 == 0) {
            MPI_Win_wait(win);
        } else {
            int flag = 0;
            while (!flag) MPI_Win_test(win, &flag);
        }
    }
}
static void make_and_free(int i) {
    MPI_Win other;
    int *own;
    (void)i;
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &other);
    MPI_Win_free(&other);
}

#if MPI_VERSION >= 4
static MPI_Request bcast, sum;
static void persistent(int i) {
    fill(i);
    MPI_Start(&bcast);
    MPI_Wait(&bcast, MPI_STATUS_IGNORE);
    for (int k = 0; k < N; k++) memory[k] = data[k];
}
static void two_persistent(int i) { /* started in different orders */
    fill(i);
    MPI_Start(rank == 0 ? &bcast : &sum);
    MPI_Start(rank == 0 ? &sum : &bcast);
    MPI_Wait(&bcast, MPI_STATUS_IGNORE);
    MPI_Wait(&sum, MPI_STATUS_IGNORE);
}
static void exchange(int i) {
    MPI_Request r;
    int other = 1 - rank;
    fill(i);
    if (rank > 1) return;
    MPI_Isendrecv(data, N, MPI_INT, other, i, got, N, MPI_INT, other, MPI_ANY_TAG, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Isendrecv_replace(data, N, MPI_INT, other, i, other, i, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    memory[i] = data[i];
}
#endif

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    timed = argc > 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Group all;
    int other = 1 - rank;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    if (rank < 2) MPI_Group_incl(all, 1, &other, &peer);
    MPI_Win_allocate(N * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    for (int i = 0; i < N; i++) memory[i] = i;
    MPI_Win_fence(0, win);
    run("fence", fence);
    run("empty-fence", empty_fence);
    run("fence-get", fence_get);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    run("epochs", epochs);
    run("lock", lock_put);
    MPI_Win_lock_all(0, win);
    run("flush", flush_put);
    run("flush-local", flush_local);
    run("fetch", fetch);
    run("rget", rget);
    run("rput", rput_test);
    MPI_Win_unlock_all(win);
    run("make", make_and_free);
#if MPI_VERSION >= 4
    MPI_Bcast_init(data, N, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &bcast);
    MPI_Allreduce_init(memory, got, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &sum);
    run("persistent", persistent);
    if (!timed) run("two-persistent", two_persistent);
    run("exchange", exchange);
    MPI_Request_free(&bcast);
    MPI_Request_free(&sum);
#endif
    if (rank < 2) MPI_Group_free(&peer);
    MPI_Group_free(&all);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
