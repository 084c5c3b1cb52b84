/* Starts collectives while communicators are being duplicated. The functions below are found before those of the MPI library:
 * they see whether a start makes MPI go on with other work, and print how often. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int starting, looks;

static void *next(const char *name) {
    looks += starting;
    return dlsym(RTLD_NEXT, name);
}

int PMPI_Test(MPI_Request *r, int *flag, MPI_Status *s) { return ((int (*)(MPI_Request *, int *, MPI_Status *))next("PMPI_Test"))(r, flag, s); }
int PMPI_Testall(int n, MPI_Request r[], int *flag, MPI_Status *s) {
    return ((int (*)(int, MPI_Request *, int *, MPI_Status *))next("PMPI_Testall"))(n, r, flag, s);
}
int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *s) {
    return ((int (*)(int, int, MPI_Comm, int *, MPI_Status *))next("PMPI_Iprobe"))(source, tag, comm, flag, s);
}

enum { N = 8 };

int main(int argc, char **argv) {
    int me, out[N], all[N], root[N];
    MPI_Comm made[N];
    MPI_Request r[4 * N];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    starting = 1;
    for (int i = 0; i < N; i++) {
        out[i] = 10 * me + i;
        root[i] = me == 0 ? 100 + i : 0;
        MPI_Comm_idup(MPI_COMM_WORLD, &made[i], &r[i]);
        MPI_Iallreduce(&out[i], &all[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[N + i]);
        MPI_Ibcast(&root[i], 1, MPI_INT, 0, MPI_COMM_WORLD, &r[2 * N + i]);
        MPI_Ibarrier(MPI_COMM_WORLD, &r[3 * N + i]);
    }
    starting = 0;
    MPI_Waitall(4 * N, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++) {
        int sum;
        MPI_Allreduce(&all[i], &sum, 1, MPI_INT, MPI_SUM, made[i]);
        printf("rank %d: %d %d %d\n", me, all[i], root[i], sum);
        MPI_Comm_free(&made[i]);
    }
    printf("rank %d is done; %d looks\n", me, looks);
    MPI_Finalize();
    return 0;
}
