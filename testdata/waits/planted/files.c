/* Collective operations on a file, to which planted is late on rank 2 by 5 x 30 ms. Arguments: which ones, and the name of the file. */
#include <mpi.h>
#include <string.h>
#include <unistd.h>

void work(void) { usleep(5000); }
void planted(void) { usleep(30000); }

int main(int argc, char **argv)
{
	int rank, x[16] = {0};
	const char *how = argv[1];
	MPI_File f;
	MPI_Request r;
	MPI_Status s;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
	for (int k = 0; k < 5; k++) {
		MPI_Offset at = (MPI_Offset)(rank * sizeof x);
		work();
		if (rank == 2)
			planted();
		if (strcmp(how, "write") == 0) {
			MPI_File_write_at_all(f, at, x, 16, MPI_INT, &s);
		} else if (strcmp(how, "split") == 0) {
			MPI_File_write_at_all_begin(f, at, x, 16, MPI_INT);
			MPI_File_write_at_all_end(f, x, &s);
		} else if (strcmp(how, "wait") == 0) {
			MPI_File_iwrite_at_all(f, at, x, 16, MPI_INT, &r);
			MPI_Wait(&r, &s);
		} else if (strcmp(how, "open") == 0) {
			MPI_File other;
			MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_RDWR, MPI_INFO_NULL, &other);
			MPI_File_close(&other);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_File_close(&f);
	MPI_Finalize();
	return 0;
}
