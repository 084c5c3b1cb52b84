/* Times calls of MPI that hardly do anything, in ns of the thread's CPU time per call; the minimum of several batches.
 * With an argument, only those of MPI_Send. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#define BATCH 20000
#define MEASURE(name, call) do { \
        double least = 1e30; \
        for (int b = 0; b < 9; b++) { \
            double begin = now(); \
            for (int i = 0; i < BATCH; i++) call; \
            double per = (now() - begin) / BATCH; \
            if (per < least) least = per; \
        } \
        printf("%s %.1f\n", name, least); \
    } while (0)

static void deep(int n, int all) {
    int x = 0, y = 0;
    volatile int keep = n;
    if (n > 0) {
        deep(n - 1, all);
        keep = n;
        return;
    }
    (void)keep;
    MEASURE("send", MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    if (!all) return;
    MEASURE("recv", MPI_Recv(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI_Request r;
    MEASURE("isend+wait", (MPI_Isend(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &r), MPI_Recv(&y, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE), MPI_Wait(&r, MPI_STATUS_IGNORE)));
    MEASURE("barrier", MPI_Barrier(MPI_COMM_SELF));
    MPI_Comm alone;
    int ends[2] = {0, 0}, one[1] = {1}, none[1] = {0}; /* a grid of one rank has no neighbours */
    MPI_Cart_create(MPI_COMM_SELF, 1, one, none, 0, &alone);
    MEASURE("neighbors", MPI_Neighbor_alltoallv(ends, ends, ends, MPI_INT, ends, ends, ends, MPI_INT, alone));
    MEASURE("alltoallv", MPI_Alltoallv(&x, one, none, MPI_INT, &y, one, none, MPI_INT, MPI_COMM_SELF));
    MPI_Comm_free(&alone);
#if MPI_VERSION >= 4
    MPI_Alltoallv_init(&x, one, none, MPI_INT, &y, one, none, MPI_INT, MPI_COMM_SELF, MPI_INFO_NULL, &r);
    MEASURE("start+wait", (MPI_Start(&r), MPI_Wait(&r, MPI_STATUS_IGNORE)));
    MPI_Request_free(&r);
#endif
    MEASURE("iprobe", MPI_Iprobe(0, 0, MPI_COMM_SELF, &y, MPI_STATUS_IGNORE));
    MPI_Win w;
    int *memory;
    MPI_Win_allocate(sizeof x, 1, MPI_INFO_NULL, MPI_COMM_SELF, &memory, &w);
    MPI_Win_lock_all(0, w);
    MEASURE("put", MPI_Put(&y, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w));
    MEASURE("put-self", MPI_Put(&y, 1, MPI_INT, 0, 0, 1, MPI_INT, w));
    MEASURE("fetch_and_op", MPI_Fetch_and_op(&y, &y, MPI_INT, 0, 0, MPI_SUM, w));
    MEASURE("flush", MPI_Win_flush(0, w));
    MPI_Win_unlock_all(w);
    MEASURE("fence", MPI_Win_fence(0, w));
    MPI_Group g;
    MPI_Comm_group(MPI_COMM_SELF, &g);
    MEASURE("epochs", (MPI_Win_post(g, 0, w), MPI_Win_start(g, 0, w), MPI_Win_complete(w), MPI_Win_wait(w)));
    MPI_Win_free(&w);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    deep(10, argc == 1);
    MPI_Finalize();
    return 0;
}
