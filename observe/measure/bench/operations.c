/* The collective operations: all of MPI, blocking, non-blocking and persistent, a broadcast of plain messages, and artificial
 * ones that take a known time. Their numbers are those in operations.go; those from ONE_SIDED on are in onesided.c. */
#include "bench.h"
#include "operations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

/* The persistent form of a collective: of MPI 4, or the same as an extension of an older Open MPI. */
#if MPI_VERSION >= 4
#define PERSISTENT(name, ...) MPI_##name##_init(__VA_ARGS__)
#elif defined OMPI_HAVE_MPI_EXT_PCOLLREQ
#define PERSISTENT(name, ...) MPIX_##name##_init(__VA_ARGS__)
#endif

/* As in operations.go, in its order; the non-blocking and the persistent ones follow, in the same order. */
enum number {
	BARRIER, BCAST, REDUCE, ALLREDUCE, GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW,
	REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN,
	NEIGHBOR_ALLGATHER, NEIGHBOR_ALLGATHERV, NEIGHBOR_ALLTOALL, NEIGHBOR_ALLTOALLV, NEIGHBOR_ALLTOALLW,
	NONBLOCKING = 32, TREE = 64, SPIN, SLEEP, PERSISTENT_ONES = 96
};

int operation_persistent(void)
{
#ifdef PERSISTENT
	return 1;
#else
	return 0;
#endif
}

/* The number of the blocking form. */
static long plain_number(long number)
{
	if (number >= PERSISTENT_ONES && number < ONE_SIDED)
		return number - PERSISTENT_ONES;
	return number >= NONBLOCKING && number < TREE ? number - NONBLOCKING : number;
}

static void unknown(const struct operation *op)
{
	fprintf(stderr, "slackline: operation %ld is not known\n", op->number);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void *room(size_t n)
{
	void *p = calloc(n > 0 ? n : 1, 1);
	if (p == NULL) {
		fprintf(stderr, "slackline: rank %d: no memory for %zu bytes\n", bench_rank, n);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	memset(p, 0, n); /* touched before it is timed */
	return p;
}

static int reduces(long number)
{
	return number == REDUCE || number == ALLREDUCE || number == REDUCE_SCATTER || number == REDUCE_SCATTER_BLOCK || number == SCAN || number == EXSCAN ||
	       onesided_reduces(number);
}

/* A ring for the neighborhood operations: two neighbors. */
static void ring(MPI_Comm *comm)
{
	int periodic = 1, ranks = bench_ranks;
	MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, comm);
}

/* Starts a non-blocking operation, or makes the request of a persistent one. */
#ifdef PERSISTENT
#define PREPARE(later, init, ...) \
	(op->number < TREE ? MPI_I##later(__VA_ARGS__, q) : PERSISTENT(init, __VA_ARGS__, MPI_INFO_NULL, q))
#else
#define PREPARE(later, init, ...) (op->number < TREE ? MPI_I##later(__VA_ARGS__, q) : (unknown(op), 0))
#endif

static void prepare(struct operation *op, MPI_Request *q)
{
	void *s = op->send, *r = op->receive;
	int n = op->count, *c = op->counts, *at = op->places;
	MPI_Datatype b = MPI_BYTE, d = MPI_DOUBLE, *t = op->types;
	MPI_Comm w = op->comm;
	MPI_Aint *far = op->far;
	switch (plain_number(op->number)) {
	case BARRIER: PREPARE(barrier, Barrier, w); break;
	case BCAST: PREPARE(bcast, Bcast, s, n, b, 0, w); break;
	case REDUCE: PREPARE(reduce, Reduce, s, r, n, d, MPI_SUM, 0, w); break;
	case ALLREDUCE: PREPARE(allreduce, Allreduce, s, r, n, d, MPI_SUM, w); break;
	case GATHER: PREPARE(gather, Gather, s, n, b, r, n, b, 0, w); break;
	case GATHERV: PREPARE(gatherv, Gatherv, s, n, b, r, c, at, b, 0, w); break;
	case SCATTER: PREPARE(scatter, Scatter, s, n, b, r, n, b, 0, w); break;
	case SCATTERV: PREPARE(scatterv, Scatterv, s, c, at, b, r, n, b, 0, w); break;
	case ALLGATHER: PREPARE(allgather, Allgather, s, n, b, r, n, b, w); break;
	case ALLGATHERV: PREPARE(allgatherv, Allgatherv, s, n, b, r, c, at, b, w); break;
	case ALLTOALL: PREPARE(alltoall, Alltoall, s, n, b, r, n, b, w); break;
	case ALLTOALLV: PREPARE(alltoallv, Alltoallv, s, c, at, b, r, c, at, b, w); break;
	case ALLTOALLW: PREPARE(alltoallw, Alltoallw, s, c, at, t, r, c, at, t, w); break;
	case REDUCE_SCATTER: PREPARE(reduce_scatter, Reduce_scatter, s, r, c, d, MPI_SUM, w); break;
	case REDUCE_SCATTER_BLOCK: PREPARE(reduce_scatter_block, Reduce_scatter_block, s, r, n, d, MPI_SUM, w); break;
	case SCAN: PREPARE(scan, Scan, s, r, n, d, MPI_SUM, w); break;
	case EXSCAN: PREPARE(exscan, Exscan, s, r, n, d, MPI_SUM, w); break;
	case NEIGHBOR_ALLGATHER: PREPARE(neighbor_allgather, Neighbor_allgather, s, n, b, r, n, b, w); break;
	case NEIGHBOR_ALLGATHERV: PREPARE(neighbor_allgatherv, Neighbor_allgatherv, s, n, b, r, c, at, b, w); break;
	case NEIGHBOR_ALLTOALL: PREPARE(neighbor_alltoall, Neighbor_alltoall, s, n, b, r, n, b, w); break;
	case NEIGHBOR_ALLTOALLV: PREPARE(neighbor_alltoallv, Neighbor_alltoallv, s, c, at, b, r, c, at, b, w); break;
	case NEIGHBOR_ALLTOALLW: PREPARE(neighbor_alltoallw, Neighbor_alltoallw, s, c, far, t, r, c, far, t, w); break;
	default: unknown(op);
	}
}

void operation_begin(struct operation *op, long number, long size, long long pause)
{
	size_t blocks = (size_t)(bench_ranks > 2 ? bench_ranks : 2); /* two neighbors even with one rank */
	long plain = plain_number(number);
	memset(op, 0, sizeof *op);
	op->number = number;
	op->size = size;
	op->pause = pause;
	op->count = (int)(reduces(plain) ? size / (long)sizeof(double) : size);
	op->send = room(blocks * (size_t)size);
	op->receive = room(blocks * (size_t)size);
	op->counts = room(blocks * sizeof(int));
	op->places = room(blocks * sizeof(int));
	op->types = room(blocks * sizeof(MPI_Datatype));
	for (size_t i = 0; i < blocks; i++) {
		op->counts[i] = op->count;
		op->places[i] = (int)((long)i * size);
		op->types[i] = MPI_BYTE;
	}
	op->comm = MPI_COMM_WORLD;
	if (plain >= NEIGHBOR_ALLGATHER && plain <= NEIGHBOR_ALLTOALLW)
		ring(&op->comm);
	op->far[1] = size;
	op->request = MPI_REQUEST_NULL;
	if (number >= ONE_SIDED)
		onesided_begin(op);
	else if (number >= PERSISTENT_ONES)
		prepare(op, &op->request);
}

void operation_end(struct operation *op)
{
	if (op->number >= ONE_SIDED)
		onesided_end(op);
	if (op->request != MPI_REQUEST_NULL)
		MPI_Request_free(&op->request);
	if (op->comm != MPI_COMM_WORLD)
		MPI_Comm_free(&op->comm);
	free(op->send);
	free(op->receive);
	free(op->counts);
	free(op->places);
	free(op->types);
}

/* A broadcast along a binary tree: rank r sends to 2r+1 and 2r+2. */
static void tree(struct operation *op)
{
	if (bench_rank > 0)
		bench_take(op->send, op->size, (bench_rank - 1) / 2, BENCH_DATA);
	for (int child = 2 * bench_rank + 1; child <= 2 * bench_rank + 2 && child < bench_ranks; child++)
		MPI_Send(op->send, op->count, MPI_BYTE, child, BENCH_DATA, MPI_COMM_WORLD);
}

/* Rank r of P takes pause (1 + r/P). */
static void artificial(struct operation *op)
{
	long long ns = op->pause + op->pause * bench_rank / bench_ranks;
	if (op->number == SPIN) {
		bench_spin(ns);
	} else {
		struct timespec t = {ns / 1000000000LL, ns % 1000000000LL};
		nanosleep(&t, NULL);
	}
}

static void blocking(struct operation *op)
{
	void *s = op->send, *r = op->receive;
	int n = op->count, *c = op->counts, *at = op->places;
	MPI_Datatype b = MPI_BYTE, d = MPI_DOUBLE;
	MPI_Comm w = op->comm;
	switch (op->number) {
	case BARRIER: MPI_Barrier(w); break;
	case BCAST: MPI_Bcast(s, n, b, 0, w); break;
	case REDUCE: MPI_Reduce(s, r, n, d, MPI_SUM, 0, w); break;
	case ALLREDUCE: MPI_Allreduce(s, r, n, d, MPI_SUM, w); break;
	case GATHER: MPI_Gather(s, n, b, r, n, b, 0, w); break;
	case GATHERV: MPI_Gatherv(s, n, b, r, c, at, b, 0, w); break;
	case SCATTER: MPI_Scatter(s, n, b, r, n, b, 0, w); break;
	case SCATTERV: MPI_Scatterv(s, c, at, b, r, n, b, 0, w); break;
	case ALLGATHER: MPI_Allgather(s, n, b, r, n, b, w); break;
	case ALLGATHERV: MPI_Allgatherv(s, n, b, r, c, at, b, w); break;
	case ALLTOALL: MPI_Alltoall(s, n, b, r, n, b, w); break;
	case ALLTOALLV: MPI_Alltoallv(s, c, at, b, r, c, at, b, w); break;
	case ALLTOALLW: MPI_Alltoallw(s, c, at, op->types, r, c, at, op->types, w); break;
	case REDUCE_SCATTER: MPI_Reduce_scatter(s, r, c, d, MPI_SUM, w); break;
	case REDUCE_SCATTER_BLOCK: MPI_Reduce_scatter_block(s, r, n, d, MPI_SUM, w); break;
	case SCAN: MPI_Scan(s, r, n, d, MPI_SUM, w); break;
	case EXSCAN: MPI_Exscan(s, r, n, d, MPI_SUM, w); break;
	case NEIGHBOR_ALLGATHER: MPI_Neighbor_allgather(s, n, b, r, n, b, w); break;
	case NEIGHBOR_ALLGATHERV: MPI_Neighbor_allgatherv(s, n, b, r, c, at, b, w); break;
	case NEIGHBOR_ALLTOALL: MPI_Neighbor_alltoall(s, n, b, r, n, b, w); break;
	case NEIGHBOR_ALLTOALLV: MPI_Neighbor_alltoallv(s, c, at, b, r, c, at, b, w); break;
	case NEIGHBOR_ALLTOALLW: MPI_Neighbor_alltoallw(s, c, op->far, op->types, r, c, op->far, op->types, w); break;
	case TREE: tree(op); break;
	case SPIN:
	case SLEEP: artificial(op); break;
	default: unknown(op);
	}
}

static void nonblocking(struct operation *op)
{
	MPI_Request q;
	prepare(op, &q);
	if (op->pause > 0)
		bench_spin(op->pause);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
}

static void persistent(struct operation *op)
{
	MPI_Start(&op->request);
	if (op->pause > 0)
		bench_spin(op->pause);
	MPI_Wait(&op->request, MPI_STATUS_IGNORE);
}

void operation_run(struct operation *op)
{
	if (op->number >= ONE_SIDED)
		onesided_run(op);
	else if (op->number >= PERSISTENT_ONES)
		persistent(op);
	else if (op->number >= NONBLOCKING && op->number < TREE)
		nonblocking(op);
	else
		blocking(op);
}
