/* A small ocean on a grid of processes, with a planted cause. In every step all ranks compute the
 * dynamics (6 ms) and exchange their halos; then a solver smooths the pressure in three sweeps,
 * each with a halo exchange and a global residual. Two ranks in the middle of the grid also mix the
 * water of a convection cell: 9 ms and 4 ms more. Who waits, and whose fault is it?
 *
 *   mpicc -O -g ocean.c -o ocean
 *   slackline record -- mpirun -n 16 ./ocean
 *   slackline waits ocean.slt --explain
 *
 * Work is time asleep, so that it takes as long as it should where there are fewer cores than ranks.
 */
#include <mpi.h>
#include <unistd.h>

enum { STEPS = 40, SWEEPS = 3, LAYERS = 4096, SURFACE = 256 };

static MPI_Comm grid;
static int north, south, east, west, row, column;
static double out[4][LAYERS], in[4][LAYERS];

static void dynamics(void)
{
	usleep(6000);
}

static void convection(void)
{
	if (row == 1 && column == 1)
		usleep(9000);
	else if (row == 1 && column == 2)
		usleep(4000);
}

static void smooth(void)
{
	usleep(800);
}

static void halo(int count)
{
	MPI_Request r[8];

	MPI_Irecv(in[0], count, MPI_DOUBLE, north, 0, grid, &r[0]);
	MPI_Irecv(in[1], count, MPI_DOUBLE, south, 0, grid, &r[1]);
	MPI_Irecv(in[2], count, MPI_DOUBLE, west, 0, grid, &r[2]);
	MPI_Irecv(in[3], count, MPI_DOUBLE, east, 0, grid, &r[3]);
	MPI_Isend(out[0], count, MPI_DOUBLE, north, 0, grid, &r[4]);
	MPI_Isend(out[1], count, MPI_DOUBLE, south, 0, grid, &r[5]);
	MPI_Isend(out[2], count, MPI_DOUBLE, west, 0, grid, &r[6]);
	MPI_Isend(out[3], count, MPI_DOUBLE, east, 0, grid, &r[7]);
	MPI_Waitall(8, r, MPI_STATUSES_IGNORE);
}

static double residual(double mine)
{
	double all;

	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, grid);
	return all;
}

static double pressure(void)
{
	double rest = 0;

	for (int i = 0; i < SWEEPS; i++) {
		smooth();
		halo(SURFACE);
		rest = residual(1.0 / (i + 1));
	}
	return rest;
}

static void step(void)
{
	dynamics();
	convection();
	halo(LAYERS);
	pressure();
}

int main(int argc, char **argv)
{
	int size, rank, dims[2] = {0, 0}, periods[2] = {0, 0}, at[2];

	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Dims_create(size, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
	MPI_Comm_rank(grid, &rank);
	MPI_Cart_coords(grid, rank, 2, at);
	row = at[0];
	column = at[1];
	MPI_Cart_shift(grid, 0, 1, &north, &south);
	MPI_Cart_shift(grid, 1, 1, &west, &east);
	for (int i = 0; i < STEPS; i++)
		step();
	MPI_Finalize();
	return 0;
}
