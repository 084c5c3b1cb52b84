/* A function that is late on one rank: planted costs the others 10 x 20 ms each, in MPI_Allreduce. */
#include <mpi.h>
#include <unistd.h>

void work(void) { usleep(5000); }
void planted(void) { usleep(20000); }

int main(int argc, char **argv)
{
	int rank, x = 0, y;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int k = 0; k < 10; k++) {
		work();
		if (rank == 2)
			planted();
		MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
