/* Calls every function of MPI-3.1, and of MPI-4.0 if the library has it, at least once: conformance PREFIX writes how often each was called
 * into PREFIX.RANK, and prints a digest of the results, which must not depend on who watches. Those that it starts itself do little. */
#include "conformance.h"

int me, n;
MPI_Comm w;
char scratch[256];

static struct { const char *name; long calls; } table[2000];
static int names;
static uint64_t digest = 14695981039346656037u;

void counted(const char *name) {
    if (getenv("CONFORMANCE_STEPS") != NULL) fprintf(stderr, "%d %s\n", me, name);
    int i = 0;
    while (i < names && strcmp(table[i].name, name) != 0) i++;
    if (i == names) table[names++].name = name;
    table[i].calls++;
}

void failed(const char *name, int code) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    PMPI_Error_string(code, text, &length);
    printf("rank %d: MPI_%s: %s\n", me, name, text);
}

void keep(const char *name, const void *data, size_t bytes) {
    const unsigned char *p = data;
    for (size_t i = 0; i < bytes; i++) digest = (digest ^ p[i]) * 1099511628211u;
    if (getenv("CONFORMANCE_STEPS") != NULL) fprintf(stderr, "%d %s %016llx\n", me, name, (unsigned long long)digest);
}

void wait_for(const char *name, MPI_Request *r) {
    (void)name;
    X(Wait, (r, MPI_STATUS_IGNORE));
}

void cycle(const char *name, MPI_Request *r) {
    X(Start, (r)); /* once: MPICH 4.0 fails at the second start of MPI_Gather_init with 4 ranks */
    wait_for(name, r);
    X(Request_free, (r));
}

void write_counts(const char *prefix, int number) {
    char path[300];
    snprintf(path, sizeof path, "%s.%d", prefix, number);
    FILE *f = fopen(path, "w");
    for (int i = 0; f != NULL && i < names; i++) fprintf(f, "MPI_%s %ld\n", table[i].name, table[i].calls);
    if (f != NULL) fclose(f);
}

int main(int argc, char **argv) {
    MPI_Comm parent;
    int flag, provided, major, minor, length, class, code;
    char text[MPI_MAX_ERROR_STRING], version[MPI_MAX_LIBRARY_VERSION_STRING];
    X(Initialized, (&flag));
    KEEP(flag);
    X(Init_thread, (&argc, &argv, MPI_THREAD_SERIALIZED, &provided));
    X(Query_thread, (&provided));
    X(Is_thread_main, (&flag));
    KEEP(flag);
    w = MPI_COMM_WORLD;
    X(Comm_get_parent, (&parent));
    if (parent != MPI_COMM_NULL) return child(parent, argv[1], atoi(argv[2]));
    X(Comm_rank, (w, &me));
    X(Comm_size, (w, &n));
    X(Get_version, (&major, &minor));
    X(Get_library_version, (version, &length));
    X(Get_processor_name, (text, &length));
    counted("Wtime");
    counted("Wtick");
    if (MPI_Wtime() < 0 || MPI_Wtick() <= 0) failed("Wtime", MPI_ERR_OTHER);
    X(Add_error_class, (&class));
    X(Add_error_code, (class, &code));
    X(Add_error_string, (code, "odd"));
    X(Error_string, (code, text, &length));
    keep("text", text, 3);
    X(Error_class, (code, &flag));
    Y(Pcontrol, (1));
    snprintf(scratch, sizeof scratch, "%s.file", argv[1]);
    messages();
    collectives();
    groups_and_communicators();
    between_groups();
    topologies();
    types();
    attributes();
    one_sided();
    files();
#if MPI_VERSION >= 4
    messages_large();
    partitioned();
    large_forms();
    sessions();
#endif
    handles();
    tools();
    worlds(argv[0], argv[1]);
    X(Barrier, (w));
    counted("Finalize");
    counted("Finalized");
    write_counts(argv[1], me);
    MPI_Finalize();
    MPI_Finalized(&flag);
    printf("rank %d of %d: %016llx %d\n", me, n, (unsigned long long)digest, flag);
    return 0;
}
