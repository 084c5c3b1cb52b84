/* What the generated wrappers need. */
#ifndef INJ_WRAPPERS_H
#define INJ_WRAPPERS_H
#include "calls.h"
#include "collectives.h"
#include "onesided.h"
#include "slackline_mpi.h"
#include <stdlib.h>

/* Arguments of Fortran as C has them. */
MPI_Request *inj_requests_in(int count, const MPI_Fint *from);
void inj_requests_out(int count, MPI_Request *requests, MPI_Fint *to);
MPI_Status *inj_statuses_in(int count, const MPI_Fint *from);
void inj_statuses_out(int count, MPI_Status *statuses, MPI_Fint *to);
MPI_Datatype *inj_types_in(int count, const MPI_Fint *from);
int inj_blocks(MPI_Comm comm, bool ignored); /* one for each rank */
int inj_first_index_any(void);
int inj_first_index_some(void);

#endif
