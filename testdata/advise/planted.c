/* Programs with a planted cause, and what they are without it: planted CASE before|after. Work is sleep, so that ranks do not need a
 * CPU each; all of them take 4 ranks and 10 to 20 steps of tens of milliseconds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, size, fixed;
static char *buffer;
enum { large = 1 << 20, steps = 12 };

static void __attribute__((no_instrument_function)) nap(double ms)
{
	struct timespec t = {(time_t)(ms / 1000), (long)(ms * 1e6) % 1000000000L};
	nanosleep(&t, NULL);
}

void solve(double ms) { nap(ms); }
void prepare(double ms) { nap(ms); }
void process(double ms) { nap(ms); }
void output(double ms) { nap(ms); }

static void reduce(void)
{
	double x = 1, y;
	MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void exchange(void)
{
	int right = (rank + 1) % size, left = (rank + size - 1) % size;
	MPI_Sendrecv(buffer, 64, MPI_CHAR, right, 1, buffer + 64, 64, MPI_CHAR, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* One rank has more to do in a function, and all meet in a reduction. */
void imbalance(int k) { (void)k; solve(fixed ? 15 : rank == 2 ? 30 : 10); reduce(); }

/* The same, but neighbors wait for each other. */
void neighbors(int k) { (void)k; solve(fixed ? 20 : rank == 1 ? 50 : 10); exchange(); }

/* Half of the ranks have more. */
void halves(int k) { (void)k; solve(fixed ? 20 : rank < 2 ? 30 : 10); reduce(); }

/* A function that only rank 0 calls. */
void serial(int k) { (void)k; if (fixed) process(15); else { process(10); if (rank == 0) prepare(20); } MPI_Bcast(buffer, 64, MPI_CHAR, 0, MPI_COMM_WORLD); reduce(); }

/* One rank is late at a barrier that is needed. */
void late_at_barrier(int k) { (void)k; solve(fixed ? 12 : rank == 3 ? 24 : 8); MPI_Barrier(MPI_COMM_WORLD); }

/* Two functions; one of them is balanced. */
void two_functions(int k) { (void)k; process(10); solve(fixed ? 10 : rank == 0 ? 25 : 5); reduce(); }

/* Rank 0 takes messages in the order of ranks, and that of rank 1 comes last. */
void order(int k)
{
	(void)k;
	if (rank == 0) {
		for (int i = 1; i < size; i++) {
			MPI_Status s;
			MPI_Recv(buffer, 64, MPI_CHAR, fixed ? MPI_ANY_SOURCE : i, 3, MPI_COMM_WORLD, &s);
			process(15);
		}
	} else {
		prepare(rank == 1 ? 40 : 5);
		MPI_Send(buffer, 64, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
	}
	reduce();
}

/* Every rank works on the data before it passes it on. */
void relay(int k)
{
	(void)k;
	if (rank > 0)
		MPI_Recv(buffer, 64, MPI_CHAR, rank - 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (!fixed)
		process(10);
	if (rank < size - 1)
		MPI_Send(buffer, 64, MPI_CHAR, rank + 1, 4, MPI_COMM_WORLD);
	if (fixed)
		process(10);
	reduce();
}

/* The same around the ring, with the result back at rank 0. */
void ring(int k)
{
	(void)k;
	if (rank > 0)
		MPI_Recv(buffer, 64, MPI_CHAR, rank - 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (!fixed)
		process(8);
	MPI_Send(buffer, 64, MPI_CHAR, (rank + 1) % size, 5, MPI_COMM_WORLD);
	if (fixed)
		process(8);
	if (rank == 0)
		MPI_Recv(buffer, 64, MPI_CHAR, size - 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The ranks take turns with the output, and wait for each other without need. */
void barrier(int k)
{
	process(5);
	if (k % size == rank)
		output(20);
	if (!fixed)
		MPI_Barrier(MPI_COMM_WORLD);
}

/* The same beside an exchange in pairs that is needed. */
void barrier_pairs(int k)
{
	process(5);
	if (k % size / 2 == rank / 2 && k % 2 == rank % 2)
		output(20);
	MPI_Sendrecv(buffer, 64, MPI_CHAR, rank ^ 1, 6, buffer + 64, 64, MPI_CHAR, rank ^ 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (!fixed)
		MPI_Barrier(MPI_COMM_WORLD);
}

/* A large message waits for its receiver, and so does its sender. */
void stall(int k)
{
	(void)k;
	MPI_Request r;
	if (rank % 2 == 0) {
		if (fixed) {
			MPI_Isend(buffer, large, MPI_CHAR, rank + 1, 7, MPI_COMM_WORLD, &r);
			process(20);
			MPI_Wait(&r, MPI_STATUS_IGNORE);
		} else {
			MPI_Send(buffer, large, MPI_CHAR, rank + 1, 7, MPI_COMM_WORLD);
			process(20);
		}
	} else {
		process(20);
		MPI_Recv(buffer, large, MPI_CHAR, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	reduce();
}

/* A rank waits for a late message before it takes a large one, whose sender waits. */
void late_receive(int k)
{
	(void)k;
	MPI_Request r;
	switch (rank) {
	case 0:
		MPI_Send(buffer, large, MPI_CHAR, 1, 8, MPI_COMM_WORLD);
		process(20);
		break;
	case 1:
		if (fixed)
			MPI_Irecv(buffer, large, MPI_CHAR, 0, 8, MPI_COMM_WORLD, &r);
		MPI_Recv(buffer + large, 64, MPI_CHAR, 2, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (fixed)
			MPI_Wait(&r, MPI_STATUS_IGNORE);
		else
			MPI_Recv(buffer, large, MPI_CHAR, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		break;
	case 2:
		process(20);
		MPI_Send(buffer, 64, MPI_CHAR, 1, 8, MPI_COMM_WORLD);
		break;
	default:
		process(20);
	}
	reduce();
}

/* Repetitions that are disturbed now and then. */
void noise(int k)
{
	double ms = 10;
	if (!fixed && (k * k + 3 * rank) % 7 == 1)
		ms = 40;
	process(ms);
	reduce();
}

/* Many small messages. */
void small(int k)
{
	(void)k;
	enum { n = 3000 };
	process(2);
	if (rank % 2 == 0) {
		if (fixed)
			MPI_Send(buffer, 8 * n, MPI_CHAR, rank + 1, 9, MPI_COMM_WORLD);
		else
			for (int i = 0; i < n; i++)
				MPI_Send(buffer + 8 * i, 8, MPI_CHAR, rank + 1, 9, MPI_COMM_WORLD);
	} else {
		if (fixed)
			MPI_Recv(buffer, 8 * n, MPI_CHAR, rank - 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		else
			for (int i = 0; i < n; i++)
				MPI_Recv(buffer + 8 * i, 8, MPI_CHAR, rank - 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	reduce();
}

/* A loop of messages instead of a broadcast. */
void loop(int k)
{
	(void)k;
	if (fixed)
		MPI_Bcast(buffer, large, MPI_CHAR, 0, MPI_COMM_WORLD);
	else if (rank == 0)
		for (int i = 1; i < size; i++)
			MPI_Send(buffer, large, MPI_CHAR, i, 10, MPI_COMM_WORLD);
	else
		MPI_Recv(buffer, large, MPI_CHAR, 0, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Nothing to gain. */
void balanced(int k) { (void)k; solve(20); reduce(); }

static const struct { const char *name; void (*step)(int k); } cases[] = {
	{"imbalance", imbalance}, {"neighbors", neighbors}, {"halves", halves}, {"serial", serial}, {"late_at_barrier", late_at_barrier},
	{"two_functions", two_functions}, {"order", order}, {"relay", relay}, {"ring", ring}, {"barrier", barrier},
	{"barrier_pairs", barrier_pairs}, {"stall", stall}, {"late_receive", late_receive}, {"noise", noise}, {"small", small}, {"loop", loop},
	{"balanced", balanced},
};

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	fixed = argc > 2 && strcmp(argv[2], "after") == 0;
	buffer = calloc(1, 2 * large);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (argc > 1 && strcmp(argv[1], cases[i].name) == 0) {
			for (int k = 0; k < steps; k++)
				cases[i].step(k);
			MPI_Finalize();
			return 0;
		}
	fprintf(stderr, "no such case\n");
	MPI_Abort(MPI_COMM_WORLD, 1);
}
