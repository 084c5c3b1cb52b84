/* Makes communicators in every way that has a parent and uses them. The functions below are found before those of the MPI
 * library: they see what is called underneath the program. A call with another parent (for groups: another tag) than that of
 * the program's own call, or outside of such a call, comes into the order of calls that libraries with several threads
 * keep. Prints how many calls were seen, and how many of them were such ones. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static MPI_Comm asked = MPI_COMM_NULL; /* the parent in the program's call */
static int asked_tag, seen, others;

static void *next(const char *name, MPI_Comm parent, int tag) {
    seen++;
    others += parent != asked || tag != asked_tag;
    return dlsym(RTLD_NEXT, name);
}

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *made) {
    return ((int (*)(MPI_Comm, MPI_Comm *))next("PMPI_Comm_dup", comm, 0))(comm, made);
}
int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *made) {
    return ((int (*)(MPI_Comm, MPI_Info, MPI_Comm *))next("PMPI_Comm_dup_with_info", comm, 0))(comm, info, made);
}
int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm *made, MPI_Request *r) {
    return ((int (*)(MPI_Comm, MPI_Comm *, MPI_Request *))next("PMPI_Comm_idup", comm, 0))(comm, made, r);
}
int PMPI_Comm_split(MPI_Comm comm, int color, int order, MPI_Comm *made) {
    return ((int (*)(MPI_Comm, int, int, MPI_Comm *))next("PMPI_Comm_split", comm, 0))(comm, color, order, made);
}
int PMPI_Comm_split_type(MPI_Comm comm, int type, int order, MPI_Info info, MPI_Comm *made) {
    return ((int (*)(MPI_Comm, int, int, MPI_Info, MPI_Comm *))next("PMPI_Comm_split_type", comm, 0))(comm, type, order, info, made);
}
int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *made) {
    return ((int (*)(MPI_Comm, MPI_Group, MPI_Comm *))next("PMPI_Comm_create", comm, 0))(comm, group, made);
}
int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made) {
    return ((int (*)(MPI_Comm, MPI_Group, int, MPI_Comm *))next("PMPI_Comm_create_group", comm, tag))(comm, group, tag, made);
}

static int me, ranks, total;

/* use may make nothing: another thread of the program could be making a communicator. */
static void use(MPI_Comm *comm) {
    asked = MPI_COMM_NULL;
    asked_tag = 0;
    if (*comm == MPI_COMM_NULL) return;
    int sum, all[16];
    MPI_Request r;
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, *comm);
    MPI_Allgather(&me, 1, MPI_INT, all, 1, MPI_INT, *comm);
    MPI_Ibcast(&sum, 1, MPI_INT, 0, *comm, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    total = 3 * total + sum + all[0];
    MPI_Comm_free(comm);
}

static MPI_Comm from(MPI_Comm parent, int tag) {
    asked = parent;
    asked_tag = tag;
    return parent;
}

int main(int argc, char **argv) {
    int provided, first[1] = {0};
    MPI_Comm c, base;
    MPI_Group world, most;
    MPI_Request r;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    seen = others = 0; /* no thread of the program makes communicators before */
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_excl(world, 1, first, &most);
    MPI_Comm_dup(from(MPI_COMM_WORLD, 0), &base);
    for (int i = 0; i < 2; i++) {
        MPI_Comm_dup(from(base, 0), &c), use(&c);
        MPI_Comm_dup_with_info(from(base, 0), MPI_INFO_NULL, &c), use(&c);
        MPI_Comm_split(from(base, 0), me == 1 ? MPI_UNDEFINED : 1, -me, &c), use(&c);
        MPI_Comm_split_type(from(base, 0), MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, &c), use(&c);
        MPI_Comm_create(from(base, 0), most, &c), use(&c);
        if (me > 0) MPI_Comm_create_group(from(MPI_COMM_WORLD, 17), most, 17, &c), use(&c);
        MPI_Comm_idup(from(base, 0), &c, &r), MPI_Wait(&r, MPI_STATUS_IGNORE), use(&c);
    }
    MPI_Comm_free(&base);
    MPI_Group_free(&most);
    MPI_Group_free(&world);
    printf("rank %d: total %d; %d calls, %d with other parents\n", me, total, seen, others);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
