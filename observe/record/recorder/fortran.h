/* What the wrappers of Fortran's bindings need. */
#ifndef SL_FORTRAN_H
#define SL_FORTRAN_H
#include "calls.h"
#include <dlfcn.h>

_Static_assert(sizeof(MPI_Fint) == sizeof(int), "Fortran's integers have another size");
enum { SL_STATUS_INTS = sizeof(MPI_Status) / sizeof(MPI_Fint) };

/* Fortran compilers change names in different ways. */
#define SL_ALIAS(name, other) extern __typeof__(name) other __attribute__((alias(#name), visibility("default")));

MPI_Fint *sl_room_for_fortran(struct sl_thread *t, int n);

static inline bool sl_ignored(const MPI_Fint *status) {
    if (status == NULL || status == MPI_F_STATUS_IGNORE) return true;
#ifdef MPICH_NAME
    if ((const void *)status == (const void *)MPI_F08_STATUS_IGNORE) return true;
#endif
    return false;
}

static inline bool sl_all_ignored(const MPI_Fint *statuses) {
    if (statuses == NULL || statuses == MPI_F_STATUSES_IGNORE) return true;
#ifdef MPICH_NAME
    if ((const void *)statuses == (const void *)MPI_F08_STATUSES_IGNORE) return true;
#endif
    return false;
}

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

#endif
