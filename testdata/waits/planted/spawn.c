/* Two ranks start two processes and merge with them; rank 2, the first new one, is late by 100 ms in planted. With an argument the ranks
 * connect two halves of their own through a port instead, and rank 2 is late to connect. */
#include <mpi.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) void planted(void) { usleep(100000); }

static void spawn(char *self) {
	MPI_Comm parent, between, all;
	int me, one = 1, sum;
	MPI_Comm_get_parent(&parent);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	if (parent == MPI_COMM_NULL)
		MPI_Comm_spawn(self, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE);
	else
		between = parent;
	MPI_Barrier(between);
	if (parent != MPI_COMM_NULL && me == 0)
		planted();
	MPI_Intercomm_merge(between, parent != MPI_COMM_NULL, &all);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
	MPI_Comm_free(&all);
	MPI_Comm_disconnect(&between);
}

static void through_port(void) {
	char port[MPI_MAX_PORT_NAME];
	MPI_Comm half, both;
	int me;
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_split(MPI_COMM_WORLD, me / 2, me, &half);
	if (me == 0)
		MPI_Open_port(MPI_INFO_NULL, port);
	MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
	if (me == 2)
		planted();
	if (me < 2)
		MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &both);
	else
		MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &both);
	MPI_Barrier(both);
	MPI_Comm_disconnect(&both);
	if (me == 0)
		MPI_Close_port(port);
	MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	if (argc > 1 && strcmp(argv[1], "port") == 0)
		through_port();
	else
		spawn(argv[0]);
	MPI_Finalize();
	return 0;
}
