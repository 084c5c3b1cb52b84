/* Messages received in the wrong order: rank 0 waits for the late message of rank 2 although that of rank 1 is there. */
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
		if (rank == 1 || rank == 2)
			MPI_Send(&x, 1, MPI_INT, 0, rank, MPI_COMM_WORLD);
		if (rank == 0) {
			MPI_Recv(&x, 1, MPI_INT, 2, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Recv(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
