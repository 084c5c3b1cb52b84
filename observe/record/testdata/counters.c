/* What two threads of each rank count between their calls of MPI is known: each touches a number of fresh pages, which depends on the
 * rank and the thread. The first also waits for more requests than a record has room for, and by many tests. Then a child process and a
 * thread that comes after the other one. */
#define _GNU_SOURCE
#include <dirent.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS = 50, REQUESTS = 100 };

static int rank;

__attribute__((noinline)) void touch(int pages) {
    size_t bytes = (size_t)pages * 4096;
    volatile char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise((void *)p, bytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < bytes; i += 4096) p[i] = 1;
    munmap((void *)p, bytes);
}

static void *other(void *comm) {
    for (int i = 0; i < STEPS; i++) {
        MPI_Barrier(*(MPI_Comm *)comm);
        touch(400 + 100 * rank);
        MPI_Barrier(*(MPI_Comm *)comm);
    }
    return NULL;
}

/* descriptors counts the open ones up to where the recorder keeps its own, or above. */
static int descriptors(void) {
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm comm;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    pthread_t thread;
    for (int again = 0; again < 2; again++) { /* the second one takes the place of the first */
        pthread_create(&thread, NULL, other, &comm);
        pthread_join(thread, NULL);
    }
    static MPI_Request requests[2 * REQUESTS];
    static char sent[REQUESTS], got[REQUESTS];
    for (int i = 0; i < STEPS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        touch(200 + 100 * rank);
        for (int k = 0; k < REQUESTS; k++) MPI_Irecv(&got[k], 1, MPI_CHAR, 1 - rank, k, MPI_COMM_WORLD, &requests[k]);
        for (int k = 0; k < REQUESTS; k++) MPI_Isend(&sent[k], 1, MPI_CHAR, 1 - rank, k, MPI_COMM_WORLD, &requests[REQUESTS + k]);
        MPI_Waitall(2 * REQUESTS, requests, MPI_STATUSES_IGNORE);
        int done = 0;
        MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
        if (rank == 1) touch(100); /* the other one tests for longer */
        while (!done) MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
    }
    if (argc > 1) { /* what a child has of the recorder's descriptors: none */
        pid_t child = fork();
        if (child == 0) {
            printf("rank %d child has %d\n", rank, descriptors());
            fflush(stdout);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    MPI_Comm_free(&comm);
    MPI_Finalize();
    if (argc > 1) printf("rank %d has %d\n", rank, descriptors());
    return 0;
}
