/* Ten parallel regions of two threads with a barrier in each; thread 1 works three times as long before it. */
#include <mpi.h>
#include <omp.h>

static volatile double sink;

static void work(long n) {
    double x = 0;
    for (long i = 0; i < n; i++) x += (double)i * 0.5;
    sink = x;
}

__attribute__((noinline)) static void kernel(void) {
#pragma omp parallel num_threads(2)
    {
        work(omp_get_thread_num() == 1 ? 9000000 : 3000000);
#pragma omp barrier
        work(omp_get_thread_num() == 0 ? 3000000 : 0);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 10; i++) kernel();
    MPI_Finalize();
    return 0;
}
