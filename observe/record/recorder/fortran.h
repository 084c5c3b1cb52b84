/* What the wrappers of Fortran's bindings need. */
#ifndef SL_FORTRAN_H
#define SL_FORTRAN_H
#include "calls.h"
#include "slackline_mpi.h"

MPI_Fint *sl_room_for_fortran(struct sl_thread *t, int n);

static inline MPI_Request *sl_convert_requests(struct sl_thread *t, int n, const MPI_Fint *requests) {
    MPI_Request *handles = sl_copy_handles(t, n, t->handles);
    for (int i = 0; i < n; i++) handles[i] = PMPI_Request_f2c(requests[i]);
    return handles;
}

static inline MPI_Status *sl_convert_statuses(struct sl_thread *t, int n, const MPI_Fint *statuses) {
    MPI_Status *s = sl_room_for_statuses(t, n);
    for (int i = 0; i < n; i++) PMPI_Status_f2c(statuses + i * SL_STATUS_INTS, &s[i]);
    return s;
}

/* sl_first_index is the number of the first element in the indices that a call gave: 1 in Fortran, but 0 in mpi_f08 of
 * some versions of MPICH (4.0.2). Completed requests have become null, which tells; active persistent ones do not. */
static inline int sl_first_index(const MPI_Fint *after, const MPI_Request *before, int count, int n, const int *indices) {
    for (int k = 0; k < n; k++) {
        int i = indices[k];
        if (i == 0) return 0;
        if (i < 0 || i >= count) return 1;
        bool one = before[i - 1] != MPI_REQUEST_NULL && PMPI_Request_f2c(after[i - 1]) == MPI_REQUEST_NULL;
        bool zero = before[i] != MPI_REQUEST_NULL && PMPI_Request_f2c(after[i]) == MPI_REQUEST_NULL;
        if (one != zero) return one;
    }
    return 1;
}

#endif
