/* Every rank works the same time on a CPU; with more ranks than CPUs each of them has none for much of the run. */
#include <mpi.h>
#include <time.h>

static double cpu(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

__attribute__((noinline)) void work(double seconds) {
    double end = cpu() + seconds;
    while (cpu() < end) {}
}

int main(int argc, char **argv) {
    double in = 1, out;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 10; i++) {
        work(0.01);
        MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
