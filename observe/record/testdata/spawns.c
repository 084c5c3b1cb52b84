/* A process starts A and then B; A starts C while B is being started. Each sends a message to the one that started it, with its own tag. */
#include <mpi.h>

static void start(char *program, char *name, MPI_Comm *child) {
    char *arguments[2] = {name, NULL};
    MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, child, MPI_ERRCODES_IGNORE);
}

static void take(int tag, MPI_Comm *child) {
    int x;
    MPI_Recv(&x, 1, MPI_INT, 0, tag, *child, MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(child);
}

int main(int argc, char **argv) {
    MPI_Comm parent, a, b;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    char me = parent == MPI_COMM_NULL ? '-' : argv[1][0];
    if (me == '-') {
        start(argv[0], "A", &a);
        start(argv[0], "B", &b);
        take(1, &a);
        take(2, &b);
    } else {
        int x = 0;
        if (me == 'A') {
            start(argv[0], "C", &b);
            take(3, &b);
        }
        MPI_Send(&x, 1, MPI_INT, 0, me - 'A' + 1, parent);
        MPI_Comm_disconnect(&parent);
    }
    MPI_Finalize();
    return 0;
}
