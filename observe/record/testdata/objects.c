/* Calls on windows and files, of two ranks; objects.F90 makes the same ones. The argument is the name of a file. */
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv) {
    int me, one, a[8] = {0}, b[8] = {0}, c[8] = {0}, *memory, flag;
    MPI_Win w, v;
    MPI_Group all, peer;
    MPI_Request r[3];
    MPI_File f;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    one = 1 - me;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &one, &peer);

    MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &w);
    memset(memory, 0, 64);
    MPI_Win_fence(0, w);
    MPI_Put(a, 4, MPI_INT, one, 0, 4, MPI_INT, w);
    MPI_Get(b, 2, MPI_INT, one, 4, 2, MPI_INT, w);
    MPI_Put(a, 4, MPI_INT, MPI_PROC_NULL, 0, 4, MPI_INT, w);
    MPI_Win_fence(0, w);
    MPI_Accumulate(a, 3, MPI_INT, one, 0, 3, MPI_INT, MPI_SUM, w);
    MPI_Win_fence(0, w);

    MPI_Win_create(c, sizeof c, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &v);
    MPI_Win_lock(MPI_LOCK_SHARED, one, 0, v);
    MPI_Rput(a, 1, MPI_INT, one, 0, 1, MPI_INT, v, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Win_flush(one, v);
    MPI_Fetch_and_op(a, b, MPI_INT, one, 1, MPI_SUM, v);
    MPI_Compare_and_swap(a, b, b + 1, MPI_INT, one, 2, v);
    MPI_Win_unlock(one, v);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, v);
    MPI_Win_unlock(1, v);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, v);
    MPI_Get_accumulate(a, 2, MPI_INT, b, 2, MPI_INT, one, 0, 2, MPI_INT, MPI_NO_OP, v);
    MPI_Win_flush_all(v);
    MPI_Win_flush_local(one, v);
    MPI_Win_flush_local_all(v);
    MPI_Rget(b, 2, MPI_INT, one, 0, 2, MPI_INT, v, &r[0]);
    MPI_Raccumulate(a, 1, MPI_INT, one, 0, 1, MPI_INT, MPI_SUM, v, &r[1]);
    MPI_Rget_accumulate(a, 1, MPI_INT, b + 2, 1, MPI_INT, one, 0, 1, MPI_INT, MPI_SUM, v, &r[2]);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    MPI_Win_unlock_all(v);
    MPI_Barrier(MPI_COMM_WORLD);

    if (me == 0) {
        MPI_Win_post(peer, 0, v);
        for (flag = 0; !flag;) MPI_Win_test(v, &flag);
        MPI_Win_post(peer, 0, v);
        MPI_Win_wait(v);
    } else {
        for (int i = 0; i < 2; i++) {
            MPI_Win_start(peer, 0, v);
            MPI_Put(a, 1, MPI_INT, one, 0, 1, MPI_INT, v);
            MPI_Win_complete(v);
        }
    }
    MPI_Win_free(&v);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &v);
    MPI_Win_free(&v);
    MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &v);
    MPI_Win_free(&v);
    MPI_Win_free(&w);
    MPI_Group_free(&peer);
    MPI_Group_free(&all);

    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_write_at_all(f, me * 8, a, 8, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_at_all_begin(f, me * 8, a, 4, MPI_INT);
    MPI_File_write_at_all_end(f, a, MPI_STATUS_IGNORE);
    MPI_File_iwrite_at_all(f, me * 8, a, 2, MPI_INT, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
    MPI_File_write_ordered(f, a, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_set_size(f, 64);
    MPI_File_sync(f);
    MPI_File_read_at(f, 0, b, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_seek(f, 0, MPI_SEEK_SET);
    MPI_File_read_all(f, b, 3, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&f);
    MPI_Finalize();
    return 0;
}
