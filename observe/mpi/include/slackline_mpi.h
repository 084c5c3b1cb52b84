/* What all preloaded libraries need to know of MPI's types and Fortran bindings. */
#ifndef SL_MPI_H
#define SL_MPI_H
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

_Static_assert(sizeof(MPI_Fint) == sizeof(int), "Fortran's integers have another size");
enum { SL_STATUS_INTS = sizeof(MPI_Status) / sizeof(MPI_Fint) };

#if MPI_VERSION >= 4
/* The list of MPI_Pready_list, which some versions of MPICH (4.0) do not promise to leave alone. */
typedef __typeof__(_Generic(&PMPI_Pready_list, int (*)(int, int *, MPI_Request): (int *)0, default: (const int *)0)) sl_partitions;
#endif

/* sl_predefined reports whether a type is one of MPI's own. Types that were made by calls with large counts are errors for the call with
 * small ones. */
static inline bool sl_predefined(MPI_Datatype type) {
    int combiner = MPI_COMBINER_DUP;
#if MPI_VERSION >= 4
    MPI_Count integers, addresses, large, types;
    PMPI_Type_get_envelope_c(type, &integers, &addresses, &large, &types, &combiner);
#else
    int integers, addresses, types;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
#endif
    return combiner == MPI_COMBINER_NAMED;
}

/* Fortran compilers change names in different ways. */
#define SL_ALIAS(name, other) extern __typeof__(name) other __attribute__((alias(#name), visibility("default")));
#define SL_FORTRAN_NAMES(lower, upper) SL_ALIAS(lower##_, lower##__) SL_ALIAS(lower##_, lower) SL_ALIAS(lower##_, upper)

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

/* MPI_IN_PLACE and MPI_BOTTOM of Fortran are addresses of variables, which C-only programs lack. */
extern char mpi_fortran_in_place_ __attribute__((weak));
extern char mpi_fortran_in_place __attribute__((weak));
extern char mpi_fortran_bottom_ __attribute__((weak));
extern char mpi_fortran_bottom __attribute__((weak));
extern void *MPIR_F_MPI_IN_PLACE __attribute__((weak));

static inline bool sl_in_place(const void *buffer) {
    if (buffer == MPI_IN_PLACE) return true;
    if (buffer == NULL) return false;
#ifdef MPICH_NAME
    if (buffer == (const void *)&MPIR_F08_MPI_IN_PLACE) return true;
#endif
    return buffer == (const void *)&mpi_fortran_in_place_ || buffer == (const void *)&mpi_fortran_in_place ||
           (&MPIR_F_MPI_IN_PLACE != NULL && buffer == MPIR_F_MPI_IN_PLACE);
}

/* sl_c_buffer is a buffer of Open MPI's Fortran bindings as C names it. */
static inline void *sl_c_buffer(void *buffer) {
    if (buffer == NULL) return buffer;
    if (sl_in_place(buffer)) return MPI_IN_PLACE;
    if (buffer == (void *)&mpi_fortran_bottom_ || buffer == (void *)&mpi_fortran_bottom) return MPI_BOTTOM;
    return buffer;
}

#endif
