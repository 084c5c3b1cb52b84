/* One-sided communication in which planted is late on rank 2 by 5 x 30 ms: before a fence, before a window is made or freed, before
 * MPI_Win_post, before MPI_Win_complete, or while it holds a lock. The argument says where. */
#include <mpi.h>
#include <string.h>
#include <unistd.h>

void work(void) { usleep(5000); }
void planted(void) { usleep(30000); }

/* The group of all ranks but one. */
static MPI_Group without(int rank)
{
	MPI_Group all, rest;
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_excl(all, 1, &rank, &rest);
	MPI_Group_free(&all);
	return rest;
}

static MPI_Group only(int rank)
{
	MPI_Group all, one;
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, 1, &rank, &one);
	MPI_Group_free(&all);
	return one;
}

int main(int argc, char **argv)
{
	int rank, size, x = 1, *memory;
	const char *how = argv[1];
	MPI_Win win, other;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Win_allocate((MPI_Aint)(size * sizeof(int)), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	MPI_Win_fence(0, win);
	for (int k = 0; k < 5; k++) {
		if (strcmp(how, "fence") == 0) {
			work();
			MPI_Put(&x, 1, MPI_INT, (rank + 1) % size, rank, 1, MPI_INT, win);
			if (rank == 2)
				planted();
			MPI_Win_fence(0, win);
		} else if (strcmp(how, "create") == 0) {
			work();
			if (rank == 2)
				planted();
			MPI_Win_create(memory, sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other);
			MPI_Win_free(&other);
		} else if (strcmp(how, "free") == 0) {
			MPI_Win_create(memory, sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other);
			work();
			if (rank == 2)
				planted();
			MPI_Win_free(&other);
		} else if (strcmp(how, "post") == 0) {
			MPI_Group g = rank == 2 ? without(2) : only(2);
			work();
			if (rank == 2) {
				planted();
				MPI_Win_post(g, 0, win);
				MPI_Win_wait(win);
			} else {
				MPI_Win_start(g, 0, win);
				MPI_Put(&x, 1, MPI_INT, 2, rank, 1, MPI_INT, win);
				MPI_Win_complete(win);
			}
			MPI_Group_free(&g);
		} else if (strcmp(how, "complete") == 0) {
			MPI_Group g = rank == 0 ? without(0) : only(0);
			if (rank == 0) {
				MPI_Win_post(g, 0, win);
				MPI_Win_wait(win);
			} else {
				MPI_Win_start(g, 0, win);
				MPI_Put(&x, 1, MPI_INT, 0, rank, 1, MPI_INT, win);
				if (rank == 2)
					planted();
				MPI_Win_complete(win);
			}
			MPI_Group_free(&g);
		} else if (strcmp(how, "lock") == 0) {
			MPI_Barrier(MPI_COMM_WORLD);
			if (rank % 2 == 1)
				work();
			if (rank != 0) {
				MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
				MPI_Put(&x, 1, MPI_INT, 0, rank, 1, MPI_INT, win);
				MPI_Win_flush(0, win); /* it has the lock */
				if (rank == 2)
					planted();
				MPI_Win_unlock(0, win);
			}
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
