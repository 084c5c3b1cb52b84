/* Two ranks compute and exchange; rank 0 prints how long the loop took, in ns. */
#include <mpi.h>
#include <stdio.h>

enum { STEPS = 300, WORDS = 512, WORK = 400000 };

static volatile double sink;

static void compute(void)
{
	double x = 1;
	for (int i = 0; i < WORK; i++)
		x = x * 0.999999 + 0.5;
	sink = x;
}

int main(int argc, char **argv)
{
	static double out[WORDS], in[WORDS];
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	double start = MPI_Wtime();
	for (int i = 0; i < STEPS; i++) {
		double mine = i, sum;
		compute();
		MPI_Sendrecv(out, WORDS, MPI_DOUBLE, 1 - rank, 0, in, WORDS, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (i % 10 == 0)
			MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	if (rank == 0)
		printf("%.0f\n", (MPI_Wtime() - start) * 1e9);
	MPI_Finalize();
	return 0;
}
