/* A program with the structure of the CESM sea ice model, MPI with OpenMP: kernels run on all threads, halos are exchanged
 * by the first thread of each rank, and on rank 1, which has the most ice, the kernel dyn_evp takes longer. All work
 * is sleep, so that times are the same on a busy machine.
 *
 *   mpicc -O2 -g -fopenmp -finstrument-functions seaice.c -o seaice
 *   OMP_NUM_THREADS=4 OMP_WAIT_POLICY=passive slackline record -- mpirun -n 4 ./seaice
 *   slackline waits seaice.slt
 */
#include <mpi.h>
#include <unistd.h>

enum { STEPS = 6, EVP_US = 20000, MORE_ICE_US = 40000, TRANSPORT_US = 16000, PACK_US = 10000, CELLS = 64 };

static int rank, size;
static double halo[2][CELLS];

static void dyn_evp(void)
{
	usleep(rank == 1 ? EVP_US + MORE_ICE_US : EVP_US);
}

static void transport(void)
{
	usleep(TRANSPORT_US);
}

static void pack(void)
{
	usleep(PACK_US);
}

/* haloupdate packs and exchanges with both neighbors; the other threads are idle meanwhile. */
static void haloupdate(void)
{
	int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
	int right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
	MPI_Request requests[2];

	pack();
	MPI_Isend(halo[0], CELLS, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[0]);
	MPI_Isend(halo[0], CELLS, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[1]);
	MPI_Recv(halo[1], CELLS, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Recv(halo[1], CELLS, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void step(void)
{
#pragma omp parallel
	dyn_evp();
	haloupdate();
#pragma omp parallel
	transport();
	haloupdate();
}

int main(int argc, char **argv)
{
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Barrier(MPI_COMM_WORLD); /* all start together */
	for (int i = 0; i < STEPS; i++)
		step();
	MPI_Finalize();
	return 0;
}
