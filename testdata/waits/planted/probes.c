/* Receivers that look for a message first; planted makes its sender, rank 2, late by 5 x 30 ms. The argument says how they look. */
#include <mpi.h>
#include <string.h>
#include <unistd.h>

void work(void) { usleep(5000); }
void planted(void) { usleep(30000); }

int main(int argc, char **argv)
{
	int rank, size, x = 1;
	const char *how = argv[1];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int k = 0; k < 5; k++) {
		work();
		if (rank == 2) {
			MPI_Request r[8];
			MPI_Status done[8];
			planted();
			for (int i = 0; i < size; i++)
				MPI_Isend(&x, 1, MPI_INT, i, k, MPI_COMM_WORLD, &r[i]);
			MPI_Recv(&x, 1, MPI_INT, 2, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Waitall(size, r, done);
		} else {
			MPI_Status s;
			MPI_Message m = MPI_MESSAGE_NULL;
			int found = 0;
			if (strcmp(how, "probe") == 0)
				MPI_Probe(MPI_ANY_SOURCE, k, MPI_COMM_WORLD, &s);
			if (strcmp(how, "iprobe") == 0)
				while (!found)
					MPI_Iprobe(MPI_ANY_SOURCE, k, MPI_COMM_WORLD, &found, &s);
			if (strcmp(how, "sleep") == 0)
				for (; !found; usleep(200))
					MPI_Iprobe(2, k, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
			if (strcmp(how, "mprobe") == 0)
				MPI_Mprobe(MPI_ANY_SOURCE, k, MPI_COMM_WORLD, &m, &s);
			if (strcmp(how, "improbe") == 0)
				while (!found)
					MPI_Improbe(2, MPI_ANY_TAG, MPI_COMM_WORLD, &found, &m, &s);
			if (m == MPI_MESSAGE_NULL)
				MPI_Recv(&x, 1, MPI_INT, 2, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			else
				MPI_Mrecv(&x, 1, MPI_INT, &m, MPI_STATUS_IGNORE);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
