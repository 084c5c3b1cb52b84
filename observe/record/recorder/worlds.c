/* Worlds: processes that MPI_Comm_spawn starts have a world of their own, whose ranks are numbered after those of the worlds before it.
 *
 * Nothing is communicated between worlds, for the others may not be recorded. Members of another world are known by the remote group of the
 * intercommunicator that first joined both, and by their rank in it; the collector finds which world that is: by the name of the port, by the
 * process that has started it, or else by the times. */
#include "worlds.h"
#include "comms.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int sl_base;
MPI_Comm sl_world = MPI_COMM_NULL;

enum { MOST_GROUPS = 1000, MOST_RANKS = 1 << 20, FAR = 1 << 30 };
static MPI_Group world, groups[MOST_GROUPS];
static uint32_t group_count;

void sl_worlds_start(void) {
    PMPI_Comm_group(sl_world, &world);
}

/* translate fills in the ranks of those members of a group that are not known yet. */
static void translate(MPI_Group group, int n, const int *local, int *there, int32_t *global, MPI_Group of, int32_t first) {
    PMPI_Group_translate_ranks(group, n, local, of, there);
    for (int i = 0; i < n; i++)
        if (global[i] < 0 && there[i] != MPI_UNDEFINED) global[i] = first + there[i];
}

/* sl_members stores the ranks of the members of a group, two to a word; -1: not known. If they are the remote group of an intercommunicator
 * with members of which nothing was known, it becomes known by a number, which is returned. */
uint32_t sl_members(MPI_Group group, int n, uint64_t *words, bool remote) {
    int *local = calloc((size_t)n * 3 + 1, sizeof *local);
    if (local == NULL) abort();
    int *there = local + n;
    int32_t *global = there + n;
    uint32_t made = 0;
    bool unknown = false;
    for (int i = 0; i < n; i++) {
        local[i] = i;
        global[i] = -1;
    }
    translate(group, n, local, there, global, world, sl_base);
    for (int pass = 0; pass < 2; pass++) {
        unknown = false;
        for (int i = 0; i < n; i++) unknown = unknown || global[i] < 0;
        if (!unknown) break;
        if (pass == 1) {
            if (!remote || group_count == MOST_GROUPS || n >= MOST_RANKS) break;
            PMPI_Group_union(group, MPI_GROUP_EMPTY, &groups[group_count]);
            made = ++group_count;
        }
        for (uint32_t k = pass == 1 ? made - 1 : 0; k < group_count; k++)
            translate(group, n, local, there, global, groups[k], FAR | (int32_t)(k + 1) * MOST_RANKS);
    }
    for (int i = 0; i < n; i++) words[i / 2] |= (uint64_t)(uint32_t)global[i] << (i % 2 * 32);
    free(local);
    return made;
}

/* The process that started others, as a number. Open MPI gives them a port of it, whose name begins with its own; 0: not known. */
static uint64_t spawner(const char *name, size_t length) { return name == NULL || length == 0 ? 0 : sl_hash(name, length); }

uint64_t sl_spawner_own(void) {
    const char *job = getenv("PMIX_NAMESPACE"), *rank = getenv("PMIX_RANK");
    char name[300];
    if (job == NULL || rank == NULL) return 0;
    int n = snprintf(name, sizeof name, "%s.%s", job, rank);
    return n < (int)sizeof name ? spawner(name, (size_t)n) : 0;
}

uint64_t sl_spawner(void) {
    const char *port = getenv("OMPI_PARENT_PORT");
    return port == NULL ? 0 : spawner(port, strcspn(port, ":"));
}

/* end_of reads where the ranks of a world end; it may be just being written. */
static int end_of(const char *path) {
    int base = 0, n = 0;
    for (int tries = 0; tries < 2000; tries++) {
        FILE *f = fopen(path, "r");
        int got = f == NULL ? 0 : fscanf(f, "%d %d;", &base, &n);
        if (f != NULL) fclose(f);
        if (got == 2) return base + n;
        usleep(1000);
    }
    return -1;
}

/* take_place numbers this world and returns its first rank; -1 if that is not possible. */
static int take_place(int n, bool first) {
    char path[1200], before[1200] = "";
    for (int k = 0; k < 100000; k++, memcpy(before, path, sizeof before)) {
        snprintf(path, sizeof path, "%s/world-%d", sl_settings.directory, k);
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && (errno != EEXIST || first)) return first ? 0 : -1;
        if (fd < 0) continue;
        int base = k == 0 ? 0 : end_of(before);
        if (base >= 0) dprintf(fd, "%d %d;\n", base, n);
        close(fd);
        return base;
    }
    return -1;
}

/* sl_worlds_number gives this process its rank among those of all worlds; false if it cannot have one. */
bool sl_worlds_number(MPI_Comm parent) {
    int rank = 0, n = 0, base = 0;
    if (sl_world == MPI_COMM_NULL) sl_world = MPI_COMM_WORLD;
    PMPI_Comm_rank(sl_world, &rank);
    PMPI_Comm_size(sl_world, &n);
    if (rank == 0) base = take_place(n, parent == MPI_COMM_NULL);
    if (parent != MPI_COMM_NULL) PMPI_Bcast(&base, 1, MPI_INT, 0, sl_world);
    if (base < 0) return false;
    sl_base = base;
    sl_rank = base + rank;
    sl_ranks = base + n;
    return true;
}
