/* A serial section at the root of a broadcast, which is rank 2. */
#include <mpi.h>
#include <unistd.h>

void work(void) { usleep(5000); }
void planted(void) { usleep(20000); }

int main(int argc, char **argv)
{
	int rank, x = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int k = 0; k < 10; k++) {
		work();
		if (rank == 2)
			planted();
		MPI_Bcast(&x, 1, MPI_INT, 2, MPI_COMM_WORLD);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
