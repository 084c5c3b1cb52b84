/* A program with a planted cause: every rank solves for 5 ms and passes a value to its neighbor;
 * rank 2 needs 10 ms more in each step for a fixup. Who waits, and what causes it?
 *
 *   mpicc -O2 -g late.c -o late
 *   slackline record -- mpirun -n 4 ./late
 *   slackline waits late.slt
 */
#include <mpi.h>
#include <unistd.h>

enum { STEPS = 20, SOLVE_US = 5000, FIXUP_US = 10000 };

static void solve(void)
{
	usleep(SOLVE_US);
}

static void fixup(void)
{
	usleep(FIXUP_US);
}

static double exchange(double mine, int rank, int size)
{
	double other;
	MPI_Sendrecv(&mine, 1, MPI_DOUBLE, (rank + 1) % size, 0,
		     &other, 1, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return other;
}

static double step(double value, int rank, int size)
{
	double sum;
	solve();
	if (rank == 2)
		fixup();
	value = exchange(value, rank, size);
	MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return sum / size;
}

int main(int argc, char **argv)
{
	int rank, size;
	double value;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	value = rank;
	for (int i = 0; i < STEPS; i++)
		value = step(value, rank, size);
	MPI_Finalize();
	return 0;
}
