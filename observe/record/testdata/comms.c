/* Two ranks make communicators of the same members in different orders, as far as MPI allows it, and send one message in each, whose tag
 * tells which one it is. */
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

enum { ROUNDS = 20 };
static MPI_Comm parents[2];
static int me;

static void message(MPI_Comm c, int tag) {
    int x = tag, inter, other;
    MPI_Comm_test_inter(c, &inter);
    other = inter ? 0 : 1 - me;
    if (me == 0) MPI_Send(&x, 1, MPI_INT, other, tag, c);
    else MPI_Recv(&x, 1, MPI_INT, other, tag, c, MPI_STATUS_IGNORE);
}

/* Each thread has a parent of its own. */
static void *work(void *number) {
    int k = *(int *)number;
    MPI_Comm c, inter, both;
    if (k == me) usleep(2000);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm_dup(parents[k], &c);
        message(c, 100 * (k + 1) + i);
        MPI_Comm_free(&c);
    }
    MPI_Comm_split(parents[k], me, 0, &c);
    MPI_Intercomm_create(c, 0, parents[k], 1 - me, 7, &inter);
    message(inter, 100 * (k + 1) + 50);
    MPI_Intercomm_merge(inter, me, &both);
    message(both, 100 * (k + 1) + 51);
    MPI_Comm_free(&both);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&c);
    return NULL;
}

int main(int argc, char **argv) {
    int level, numbers[2] = {0, 1};
    MPI_Comm made[2], group;
    MPI_Request requests[2];
    MPI_Group all;
    pthread_t threads[2];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (int k = 0; k < 2; k++) MPI_Comm_dup(MPI_COMM_WORLD, &parents[k]);

    for (int k = 0; k < 2; k++) MPI_Comm_idup(parents[k ^ me], &made[k ^ me], &requests[k]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int k = 0; k < 2; k++) {
        message(made[k], 1 + k);
        MPI_Comm_free(&made[k]);
    }

    if (me == 0) MPI_Comm_create_group(MPI_COMM_WORLD, all, 5, &group);
    MPI_Comm_idup(MPI_COMM_WORLD, &made[0], &requests[0]);
    if (me == 1) MPI_Comm_create_group(MPI_COMM_WORLD, all, 5, &group);
    for (int done = 0; !done;) MPI_Request_get_status(requests[0], &done, MPI_STATUS_IGNORE);
    message(made[0], 4);
    message(group, 3);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Comm_free(&group);
    MPI_Comm_free(&made[0]);
    MPI_Group_free(&all);

    for (int k = 0; k < 2 && level == MPI_THREAD_MULTIPLE; k++) pthread_create(&threads[k], NULL, work, &numbers[k]);
    for (int k = 0; k < 2 && level == MPI_THREAD_MULTIPLE; k++) pthread_join(threads[k], NULL);
    for (int k = 0; k < 2; k++) MPI_Comm_free(&parents[k]);
    MPI_Finalize();
    return 0;
}
