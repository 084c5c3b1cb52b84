/* A chain of late senders: rank 2 is late, so rank 3 is late for rank 0, and so on. */
#include <mpi.h>
#include <unistd.h>

void work(void) { usleep(5000); }
void planted(void) { usleep(30000); }

int main(int argc, char **argv)
{
	int rank, size, x = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int place = (rank + size - 2) % size; /* in the chain, which begins at rank 2 */
	for (int k = 0; k < 5; k++) {
		work();
		if (place == 0)
			planted();
		if (place > 0)
			MPI_Recv(&x, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (place < size - 1)
			MPI_Send(&x, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
