/* Measures what recording adds to calls of MPI that do little: ns of CPU time per call, the minimum of short batches of MPI_... less
 * that of PMPI_..., which is not recorded, in turn; then the time of PMPI_... itself. Writing of full buffers is left out: "buffer" is
 * what it adds to a call of MPI_Send, whose record has 64 bytes.
 * The argument is the number of rounds, or the name of a kind of calls that alone is made, and not measured. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int x, y, flag, ends[2], from[2], one[] = {1, 1}, none[] = {0, 0}, places[] = {0, 1};
static MPI_Aint far[] = {0, sizeof(int)};
static MPI_Datatype types[2];
static MPI_Request r[2], again[2];
#if MPI_VERSION >= 4
static MPI_Request parts[2], exchange;
#endif
static MPI_Message m;
static MPI_Comm ring;
static MPI_Group self;
static MPI_Win open, shut, fenced, posted;
static MPI_File file;

enum { CALLS = 1000, BUFFER = 1 << 20, RECORD = 64 };
#define KIND(name, calls, ...) {#name, calls},
static const struct { const char *name; int calls; } kinds[] = {
#include "costs.h"
};
#undef KIND
enum { KINDS = sizeof kinds / sizeof kinds[0] };

#define KIND(name, calls, ...) \
    if (kind == at++) for (int i = 0; i < CALLS / calls; i++) { __VA_ARGS__; }
#define C(f) MPI_##f
static __attribute__((noinline)) void recorded(int kind) {
    int at = 0;
#include "costs.h"
}
#undef C
#define C(f) PMPI_##f
static __attribute__((noinline)) void plain(int kind) {
    int at = 0;
#include "costs.h"
}

static double time_of(void (*batch)(int), int kind) {
    struct timespec begin, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    batch(kind);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / CALLS;
}

/* window is the least mean of so many times in a row. */
static double window(const double *times, int n, int length) {
    double sum = 0, least = 1e30;
    for (int i = 0; i < n; i++) {
        sum += times[i] - (i >= length ? times[i - length] : 0);
        if (i >= length - 1 && sum < least) least = sum;
    }
    return least / length;
}

static void all(int rounds) {
    enum { LENGTH = 2 * BUFFER / RECORD / CALLS };
    double *with = calloc((size_t)rounds, sizeof *with), *without = calloc((size_t)rounds, sizeof *without);
    for (int k = 0; k < KINDS; k++) {
        for (int i = 0; i < rounds; i++) {
            with[i] = time_of(recorded, k);
            without[i] = time_of(plain, k);
        }
        double least = window(with, rounds, 1);
        printf("%s %.1f %.1f\n", kinds[k].name, least - window(without, rounds, 1), window(without, rounds, 1));
        if (k == 0) printf("buffer %.1f 0\n", window(with, rounds, LENGTH) - least);
    }
    free(with);
    free(without);
}

static void prepare(void) {
    int *memory;
    char name[] = "/tmp/slackline-cost-XXXXXX";
    types[0] = types[1] = MPI_INT;
    MPI_Cart_create(MPI_COMM_SELF, 1, one, one, 0, &ring); /* it is its own neighbor on both sides */
    MPI_Send_init(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &again[0]);
    MPI_Recv_init(&y, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &again[1]);
    MPI_Win *windows[] = {&open, &shut, &fenced, &posted};
    for (int i = 0; i < 4; i++) MPI_Win_allocate(sizeof x, 1, MPI_INFO_NULL, MPI_COMM_SELF, &memory, windows[i]);
    MPI_Win_lock_all(0, open);
    MPI_Comm_group(MPI_COMM_SELF, &self);
    if (mkstemp(name) < 0) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
#if MPI_VERSION >= 4
    MPI_Alltoallv_init(&x, one, none, MPI_INT, &y, one, none, MPI_INT, MPI_COMM_SELF, MPI_INFO_NULL, &exchange);
    MPI_Psend_init(from, 2, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &parts[0]);
    MPI_Precv_init(ends, 2, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &parts[1]);
#endif
}

static void finish(void) {
    MPI_File_close(&file);
    MPI_Win_unlock_all(open);
    MPI_Win *windows[] = {&open, &shut, &fenced, &posted};
    for (int i = 0; i < 4; i++) MPI_Win_free(windows[i]);
    for (int i = 0; i < 2; i++) MPI_Request_free(&again[i]);
#if MPI_VERSION >= 4
    for (int i = 0; i < 2; i++) MPI_Request_free(&parts[i]);
    MPI_Request_free(&exchange);
#endif
    MPI_Group_free(&self);
    MPI_Comm_free(&ring);
}

static void deep(int n, const char *what) {
    volatile int keep = n;
    if (n > 0) {
        deep(n - 1, what);
        keep = n;
        return;
    }
    (void)keep;
    for (int k = 0; k < KINDS; k++)
        if (strcmp(kinds[k].name, what) == 0) {
            recorded(k);
            return;
        }
    prepare();
    all(atoi(what));
    finish();
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    deep(10, argc > 1 ? argv[1] : "200");
    MPI_Finalize();
    return 0;
}
