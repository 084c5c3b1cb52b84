/* A program with sessions: alone, inside of MPI_Init and MPI_Finalize, around them, or two after each other; the argument says which. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static MPI_Session open_one(MPI_Comm *c, const char *tag) {
    MPI_Session s;
    MPI_Group g;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s);
    MPI_Group_from_session_pset(s, "mpi://WORLD", &g);
    MPI_Comm_create_from_group(g, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, c);
    MPI_Group_free(&g);
    return s;
}

static int sum_of(MPI_Comm c) {
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c);
    return sum;
}

int main(int argc, char **argv) {
    MPI_Comm c, d;
    MPI_Session s, t;
    const char *how = argv[1];
    int world = strcmp(how, "inside") == 0 || strcmp(how, "around") == 0, sum = 0;
    if (strcmp(how, "inside") == 0) MPI_Init(&argc, &argv);
    s = open_one(&c, "first");
    if (strcmp(how, "around") == 0) MPI_Init(&argc, &argv);
    if (strcmp(how, "two") == 0) {
        t = open_one(&d, "second");
        sum += sum_of(d);
        MPI_Comm_free(&d);
        MPI_Session_finalize(&t);
    }
    if (world) sum += sum_of(MPI_COMM_WORLD);
    sum += sum_of(c);
    if (strcmp(how, "around") == 0) MPI_Finalize();
    MPI_Comm_free(&c);
    MPI_Session_finalize(&s);
    if (strcmp(how, "inside") == 0) MPI_Finalize();
    printf("%d\n", sum);
    return 0;
}
