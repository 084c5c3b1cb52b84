/* What runs inside an MPI job to measure it: timed loops and stamps, nothing else. Rank 0 reads
 * orders, one line each, from its standard input, all ranks carry them out, and rank 0 prints the
 * stamps, one line for each order. All times are ns of CLOCK_MONOTONIC. */
#include "bench.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int bench_rank, bench_ranks;
int bench_crowded;
int bench_hooked;

long long bench_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

void bench_spin(long long ns)
{
	long long end = bench_now() + ns;
	while (bench_now() < end)
		;
}

char *bench_room(size_t size)
{
	static char *buffer;
	static size_t have;
	if (size > have) {
		free(buffer);
		buffer = malloc(size);
		if (buffer == NULL) {
			fprintf(stderr, "slackline: rank %d: no memory for a message of %zu bytes\n", bench_rank, size);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
		memset(buffer, 1, size);
		have = size;
	}
	return buffer;
}

long long *bench_array(long n)
{
	long long *a = calloc((size_t)(n > 0 ? n : 1), sizeof *a);
	if (a == NULL) {
		fprintf(stderr, "slackline: rank %d: no memory for %ld numbers\n", bench_rank, n);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return a;
}

int bench_take(void *to, long size, int from, int tag)
{
	MPI_Status status;
	if (!bench_crowded) {
		MPI_Recv(to, (int)size, MPI_BYTE, from, tag, MPI_COMM_WORLD, &status);
		return status.MPI_TAG;
	}
	MPI_Request request;
	int done = 0;
	MPI_Irecv(to, (int)size, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request);
	for (;;) {
		MPI_Test(&request, &done, &status);
		if (done)
			return status.MPI_TAG;
		sched_yield();
	}
}

static void count_neighbours(void)
{
	MPI_Comm node;
	int ranks = 1;
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	MPI_Comm_size(node, &ranks);
	MPI_Comm_free(&node);
	bench_crowded = ranks > sysconf(_SC_NPROCESSORS_ONLN);
}

void bench_print(const long long *values, long n)
{
	printf("slackline %ld", n);
	for (long i = 0; i < n; i++)
		printf(" %lld", values[i]);
	printf("\n");
	fflush(stdout);
}

/* The stamps of rank from, at rank 0. */
void bench_collect(long long *values, long n, int from)
{
	if (from == 0)
		return;
	if (bench_rank == from)
		MPI_Send(values, (int)n, MPI_LONG_LONG, 0, BENCH_CONTROL, MPI_COMM_WORLD);
	else if (bench_rank == 0)
		MPI_Recv(values, (int)n, MPI_LONG_LONG, from, BENCH_CONTROL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Ranks that have no part in an order wait in the broadcast of the next one. Where there are more
 * ranks than CPUs they must not take the CPU of those that are timed. Between two moments of a
 * measurement over hours no rank keeps its CPU busy. */
static void next_order(struct bench_order *o)
{
	const double eager = 0.02; /* seconds */
	MPI_Request request;
	int done = 0;
	double start = MPI_Wtime();
	MPI_Ibcast(o, sizeof *o, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
	MPI_Test(&request, &done, MPI_STATUS_IGNORE);
	while (!done) {
		if (bench_rank > 1 || bench_crowded || MPI_Wtime() - start > eager)
			usleep(200);
		MPI_Test(&request, &done, MPI_STATUS_IGNORE);
	}
}

static int read_order(struct bench_order *o)
{
	char line[256];
	memset(o, 0, sizeof *o);
	if (fgets(line, sizeof line, stdin) == NULL)
		return 0;
	return sscanf(line, "%15s %ld %ld %ld %lld %ld %ld", o->what, &o->n, &o->size, &o->repeat, &o->pause, &o->a, &o->b) >= 1;
}

/* The version that the library reports, on one line. */
static void version(void)
{
	static char text[MPI_MAX_LIBRARY_VERSION_STRING + 1];
	int length = 0;
	MPI_Get_library_version(text, &length);
	for (char *c = text; *c != 0; c++)
		if ((unsigned char)*c < ' ')
			*c = ' ';
	if (bench_rank == 0)
		printf("slackline-version %s\n", text);
}

static void hosts(void)
{
	char name[MPI_MAX_PROCESSOR_NAME] = "", *all = NULL;
	int length = 0;
	MPI_Get_processor_name(name, &length);
	if (bench_rank == 0)
		all = malloc((size_t)bench_ranks * sizeof name);
	MPI_Gather(name, sizeof name, MPI_CHAR, all, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
	if (bench_rank == 0) {
		printf("slackline-hosts");
		for (int i = 0; i < bench_ranks; i++)
			printf(" %s", all + (size_t)i * sizeof name);
		printf("\n");
		fflush(stdout);
		free(all);
	}
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &bench_rank);
	MPI_Comm_size(MPI_COMM_WORLD, &bench_ranks);
	count_neighbours();
	version();
	hosts();
	for (;;) {
		struct bench_order o;
		memset(&o, 0, sizeof o);
		if (bench_rank == 0 && !read_order(&o))
			strcpy(o.what, "end");
		next_order(&o);
		if (strcmp(o.what, "end") == 0)
			break;
		if (!bench_link(&o) && !bench_clocks(&o) && !bench_sources(&o) && !bench_collectives(&o) && !bench_memory(&o)) {
			if (bench_rank == 0)
				fprintf(stderr, "slackline: unknown order %s\n", o.what);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
	}
	MPI_Finalize();
	return 0;
}
