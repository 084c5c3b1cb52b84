/* Data types: those that are plain bytes, and messages that join a head with data of any type. */
#include "inject.h"
#include "slackline_mpi.h"
#include <limits.h>

/* Plain types have no gaps and are never freed (predefined), so what is known of them stays true. */
enum { KNOWN = 64 };
static struct { _Atomic uintptr_t type; int64_t size; } known[KNOWN];
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

bool inj_plain(MPI_Datatype type, int64_t *size) {
    uintptr_t key = (uintptr_t)type + 1;
    size_t place = (key * 0x9e3779b97f4a7c15u) >> 32;
    for (int i = 0; i < KNOWN; i++) {
        uintptr_t there = atomic_load_explicit(&known[(place + (size_t)i) % KNOWN].type, memory_order_acquire);
        if (there == key) {
            *size = known[(place + (size_t)i) % KNOWN].size;
            return true;
        }
        if (there == 0) break;
    }
    MPI_Aint low, extent;
    MPI_Count bytes;
    if (!sl_predefined(type)) return false;
    if (PMPI_Type_size_x(type, &bytes) != MPI_SUCCESS || PMPI_Type_get_extent(type, &low, &extent) != MPI_SUCCESS) return false;
    if (low != 0 || extent != bytes) return false;
    *size = bytes;
    pthread_mutex_lock(&adding);
    for (int i = 0; i < KNOWN; i++) {
        size_t at = (place + (size_t)i) % KNOWN;
        uintptr_t there = atomic_load(&known[at].type);
        if (there == key) break;
        if (there != 0) continue;
        known[at].size = bytes;
        atomic_store_explicit(&known[at].type, key, memory_order_release);
        break;
    }
    pthread_mutex_unlock(&adding);
    return true;
}

int64_t inj_size(MPI_Count count, MPI_Datatype type) {
    int64_t plain;
    MPI_Count size = 0;
    if (inj_plain(type, &plain)) return count * plain;
    PMPI_Type_size_x(type, &size);
    return count * size;
}

/* uncommitted reports whether a type is not to be communicated: MPI is asked with a message to no rank, which reads nothing. */
static bool uncommitted(MPI_Datatype type) {
    int64_t size;
    if (inj_plain(type, &size) || inj_own == MPI_COMM_NULL) return false;
    return RAW(Send)(&size, 1, type, MPI_PROC_NULL, 0, inj_own) != MPI_SUCCESS;
}

/* inj_bad finds what MPI refuses, so that MPI reports it. */
bool inj_bad(MPI_Count count, MPI_Datatype type) { return count < 0 || type == MPI_DATATYPE_NULL || (count > 0 && uncommitted(type)); }

bool inj_no_aliases;

/* inj_aliased reports whether MPI refuses a collective because it reads and writes the same memory; it reports that itself. */
bool inj_aliased(const void *from, MPI_Count count, MPI_Datatype type, const void *to, MPI_Count to_count, MPI_Datatype to_type) {
    int64_t size;
    return inj_no_aliases && from == to && count == to_count && count > 0 && type == to_type && inj_plain(type, &size);
}

/* inj_joined makes the type of a message with its head, to be used with MPI_BOTTOM. */
int inj_joined(struct head *h, const void *buffer, MPI_Count count, MPI_Datatype type, MPI_Datatype *joined) {
    MPI_Datatype types[2] = {MPI_BYTE, type};
    MPI_Aint places[2] = {0, 0};
    PMPI_Get_address(h, &places[0]);
    int result = PMPI_Get_address(buffer, &places[1]);
    int blocks = inj_size(count, type) == 0 ? 1 : 2; /* with a part without data MPICH takes the lower bound to be 0, and that for no buffer */
    if (result == MPI_SUCCESS && count <= INT_MAX) {
        int lengths[2] = {HEAD, (int)count};
        result = PMPI_Type_create_struct(blocks, lengths, places, types, joined);
    }
#if MPI_VERSION >= 4
    else if (result == MPI_SUCCESS) {
        MPI_Count lengths[2] = {HEAD, count}, wide[2] = {places[0], places[1]};
        result = PMPI_Type_create_struct_c(blocks, lengths, wide, types, joined);
    }
#endif
    return result == MPI_SUCCESS ? PMPI_Type_commit(joined) : result;
}

/* inj_copy copies data from one place and type to another of the same size, as a message to oneself would. */
int inj_copy(const void *from, MPI_Count count, MPI_Datatype type, void *to, MPI_Count to_count, MPI_Datatype to_type) {
    static pthread_mutex_t copying = PTHREAD_MUTEX_INITIALIZER;
    int64_t size, to_size;
    if (inj_plain(type, &size) && inj_plain(to_type, &to_size)) {
        int64_t bytes = count * size;
        if (bytes > to_count * to_size) bytes = to_count * to_size;
        if (bytes > 0 && from != to) memmove(to, from, (size_t)bytes);
        return MPI_SUCCESS;
    }
    pthread_mutex_lock(&copying);
    int result = RAW(Sendrecv)(from, RAW_COUNT(count), type, 0, 0, to, RAW_COUNT(to_count), to_type, 0, 0, inj_own, MPI_STATUS_IGNORE);
    pthread_mutex_unlock(&copying);
    return result;
}
