/* Arguments of Fortran as C has them. */
#include "wrappers.h"

MPI_Request *inj_requests_in(int count, const MPI_Fint *from) {
    MPI_Request *list = malloc(sizeof(MPI_Request) * (size_t)(count > 0 ? count : 1));
    for (int i = 0; list != NULL && i < count; i++) list[i] = PMPI_Request_f2c(from[i]);
    return list;
}

void inj_requests_out(int count, MPI_Request *requests, MPI_Fint *to) {
    for (int i = 0; i < count; i++) to[i] = PMPI_Request_c2f(requests[i]);
    free(requests);
}

MPI_Status *inj_statuses_in(int count, const MPI_Fint *from) {
    if (sl_all_ignored(from)) return MPI_STATUSES_IGNORE;
    MPI_Status *list = calloc((size_t)(count > 0 ? count : 1), sizeof(MPI_Status));
    for (int i = 0; list != NULL && i < count; i++) PMPI_Status_f2c(from + i * SL_STATUS_INTS, &list[i]);
    return list;
}

void inj_statuses_out(int count, MPI_Status *statuses, MPI_Fint *to) {
    if (statuses == MPI_STATUSES_IGNORE) return;
    for (int i = 0; i < count; i++) PMPI_Status_c2f(&statuses[i], to + i * SL_STATUS_INTS);
    free(statuses);
}

int inj_blocks(MPI_Comm comm, bool ignored) {
    struct comm *c = inj_comm(comm);
    return c == NULL || ignored ? 0 : c->size;
}

MPI_Datatype *inj_types_in(int n, const MPI_Fint *from) {
    MPI_Datatype *list = malloc(sizeof(MPI_Datatype) * (size_t)(n > 0 ? n : 1));
    for (int i = 0; list != NULL && i < n; i++) list[i] = PMPI_Type_f2c(from[i]);
    return list;
}

/* Indices of requests start at 1 in Fortran, but at 0 in mpi_f08 of some versions of MPICH (4.0.2). The program gets what it
 * would get without this library: a request that is complete shows it. */
int inj_first_index_any(void) {
#ifdef MPICH_NAME
    static int first = -1;
    static void (*real)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
    if (first >= 0) return first;
    real = (void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *))dlsym(RTLD_NEXT, "mpi_waitany_f08_");
    MPI_Request request;
    MPI_Fint one = 1, index = 1, error = 0, handle, status[SL_STATUS_INTS];
    if (real != NULL && inj_done_request(&request) == MPI_SUCCESS) {
        handle = PMPI_Request_c2f(request);
        real(&one, &handle, &index, status, &error);
    }
    first = index == 0 ? 0 : 1;
    return first;
#else
    return 1;
#endif
}

int inj_first_index_some(void) {
#ifdef MPICH_NAME
    static int first = -1;
    static void (*real)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
    if (first >= 0) return first;
    real = (void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *))dlsym(RTLD_NEXT, "mpi_waitsome_f08_");
    MPI_Request request;
    MPI_Fint one = 1, found = 0, index = 1, error = 0, handle, status[SL_STATUS_INTS];
    if (real != NULL && inj_done_request(&request) == MPI_SUCCESS) {
        handle = PMPI_Request_c2f(request);
        real(&one, &handle, &found, &index, status, &error);
    }
    first = index == 0 ? 0 : 1;
    return first;
#else
    return 1;
#endif
}
