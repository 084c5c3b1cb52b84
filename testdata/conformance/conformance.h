/* What the parts of the conformance program share. Each call is counted by its name, and what it gives is part of a digest. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern int me, n;
extern MPI_Comm w; /* of all ranks */
extern char scratch[256]; /* a name for files that all ranks share */

void counted(const char *name);
void failed(const char *name, int code);
void keep(const char *name, const void *data, size_t bytes);
void wait_for(const char *name, MPI_Request *r);
void cycle(const char *name, MPI_Request *r); /* starts a persistent request, waits and frees it */

/* X makes a call. */
#define X(f, a) X_(f, a)
#define X_(f, a) do { counted(#f); int code_ = MPI_##f a; if (code_ != MPI_SUCCESS) failed(#f, code_); } while (0)
/* Y is a call that may refuse what is asked of it. */
#define Y(f, a) do { counted(#f); (void)MPI_##f a; } while (0)
#define KEEP(x) keep(#x, &(x), sizeof(x))

void messages(void);
void messages_large(void);
void collectives(void);
void groups_and_communicators(void);
void between_groups(void);
void topologies(void);
void types(void);
void attributes(void);
void one_sided(void);
void files(void);
void partitioned(void);
void large_forms(void);
void handles(void);
void tools(void);
void sessions(void);
void worlds(const char *program, const char *prefix);
int child(MPI_Comm parent, const char *prefix, int number); /* what a process does that MPI_Comm_spawn has started */
void write_counts(const char *prefix, int number);
