/* One-sided operations: every rank reaches the memory of the next one, in a ring, and completes that in one of four ways. All that
 * an execution needs is timed: opening the epoch, the operation, completing it. */
#include "bench.h"
#include "operations.h"

/* As in operations.go: number = ONE_SIDED + WAYS * what + way; a fence with nothing to complete follows. */
enum what { PUT, GET, ACCUMULATE, NOTHING };
enum way { FENCE, START_COMPLETE, LOCK, FLUSH };

static enum what what(long number) { return (enum what)((number - ONE_SIDED) / WAYS); }
static enum way way(long number) { return (enum way)((number - ONE_SIDED) % WAYS); }

int onesided_reduces(long number) { return number >= ONE_SIDED && what(number) == ACCUMULATE; }

void onesided_begin(struct operation *op)
{
	int before = (bench_rank + bench_ranks - 1) % bench_ranks;
	void *memory;
	MPI_Group world;
	op->target = (bench_rank + 1) % bench_ranks;
	MPI_Win_allocate((MPI_Aint)(op->size > 0 ? op->size : 1), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &op->window);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, &op->target, &op->to);
	MPI_Group_incl(world, 1, &before, &op->from);
	MPI_Group_free(&world);
	if (way(op->number) == FLUSH)
		MPI_Win_lock_all(0, op->window);
	else if (way(op->number) == FENCE)
		MPI_Win_fence(0, op->window);
}

void onesided_end(struct operation *op)
{
	if (way(op->number) == FLUSH)
		MPI_Win_unlock_all(op->window);
	MPI_Group_free(&op->to);
	MPI_Group_free(&op->from);
	MPI_Win_free(&op->window);
}

static void access_target(struct operation *op)
{
	int n = op->count, to = op->target;
	switch (what(op->number)) {
	case PUT: MPI_Put(op->send, n, MPI_BYTE, to, 0, n, MPI_BYTE, op->window); break;
	case GET: MPI_Get(op->receive, n, MPI_BYTE, to, 0, n, MPI_BYTE, op->window); break;
	case ACCUMULATE: MPI_Accumulate(op->send, n, MPI_DOUBLE, to, 0, n, MPI_DOUBLE, MPI_SUM, op->window); break;
	case NOTHING: break;
	}
}

void onesided_run(struct operation *op)
{
	switch (way(op->number)) {
	case FENCE:
		access_target(op);
		MPI_Win_fence(0, op->window);
		break;
	case START_COMPLETE:
		MPI_Win_post(op->from, 0, op->window);
		MPI_Win_start(op->to, 0, op->window);
		access_target(op);
		MPI_Win_complete(op->window);
		MPI_Win_wait(op->window);
		break;
	case LOCK:
		MPI_Win_lock(MPI_LOCK_SHARED, op->target, 0, op->window);
		access_target(op);
		MPI_Win_unlock(op->target, op->window);
		break;
	case FLUSH:
		access_target(op);
		MPI_Win_flush(op->target, op->window);
		break;
	}
}
