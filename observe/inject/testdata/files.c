/* Writes and reads a file by nonblocking calls, and completes them in every way, alone and together with messages and a
 * collective. Prints what was read. The argument is the name of the file. */
#include <mpi.h>
#include <stdio.h>

enum { WAYS = 8, MANY = 3 };

/* complete ends the three requests by one kind of call. */
static void complete(int way, MPI_Request r[MANY]) {
    MPI_Status s[MANY];
    int flag = 0, index, n, indices[MANY], left = MANY;
    switch (way) {
    case 0:
        for (int i = 0; i < MANY; i++) MPI_Wait(&r[i], &s[i]);
        break;
    case 1:
        for (int i = 0; i < MANY; i++)
            for (flag = 0; !flag;) MPI_Test(&r[i], &flag, &s[i]);
        break;
    case 2:
        MPI_Waitall(MANY, r, s);
        break;
    case 3: /* MPICH 4.0 fails if it is tested again after the file's one is complete */
        MPI_Waitall(MANY - 1, r + 1, s);
        while (!flag) MPI_Testall(MANY, r, &flag, s);
        break;
    case 4:
        for (; left > 0; left--) MPI_Waitany(MANY, r, &index, s);
        break;
    case 5:
        while (left > 0) {
            MPI_Testany(MANY, r, &index, &flag, s);
            left -= flag;
        }
        break;
    case 6:
        for (; left > 0; left -= n) MPI_Waitsome(MANY, r, &n, indices, s);
        break;
    default:
        for (; left > 0; left -= n) MPI_Testsome(MANY, r, &n, indices, s);
    }
}

int main(int argc, char **argv) {
    MPI_File f;
    int me, ranks, index;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
    for (int way = 0; way < WAYS; way++) {
        int out[2] = {10 * me + way, 100 + way}, in[2] = {-1, -1}, got = -1, sum = -1;
        MPI_Offset at = 8 * (way * ranks + me);
        MPI_Request r[MANY];
        MPI_File_iwrite_at(f, at, out, 2, MPI_INT, &r[0]);
        MPI_Irecv(&got, 1, MPI_INT, (me + ranks - 1) % ranks, way, MPI_COMM_WORLD, &r[1]);
        MPI_Iallreduce(&out[0], &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[2]);
        MPI_Send(&out[0], 1, MPI_INT, (me + 1) % ranks, way, MPI_COMM_WORLD);
        complete(way, r);
        MPI_File_iread_at(f, at, in, 2, MPI_INT, &r[0]);
        r[1] = MPI_REQUEST_NULL;
        r[2] = MPI_REQUEST_NULL;
        if (way < 2) complete(way, r);
        else MPI_Waitany(MANY, r, &index, MPI_STATUS_IGNORE);
        printf("rank %d way %d: %d %d, got %d, sum %d\n", me, way, in[0], in[1], got, sum);
    }
    MPI_File_close(&f);
    MPI_Finalize();
    return 0;
}
