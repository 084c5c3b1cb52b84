/* Sessions: a program may have several of them, besides MPI_Init or instead of it. Without MPI_COMM_WORLD the ranks are those of a session
 * of the recorder's own. */
#include "calls.h"
#include "fortran.h"
#include "functions.h"
#include "lifecycle.h"
#include "worlds.h"

#if MPI_VERSION >= 4
static MPI_Session own = MPI_SESSION_NULL;

/* sl_session_world makes sl_world for a program that has not called MPI_Init. */
static bool session_world(void) {
    MPI_Group all;
    if (PMPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &own) != MPI_SUCCESS) return false;
    if (PMPI_Group_from_session_pset(own, "mpi://WORLD", &all) == MPI_SUCCESS) {
        if (PMPI_Comm_create_from_group(all, "slackline.recorder", MPI_INFO_NULL, MPI_ERRORS_RETURN, &sl_world) != MPI_SUCCESS)
            sl_world = MPI_COMM_NULL;
        PMPI_Group_free(&all);
    }
    if (sl_world != MPI_COMM_NULL) return true;
    PMPI_Session_finalize(&own);
    return false;
}

void sl_session_world_end(void) {
    if (own == MPI_SESSION_NULL) return;
    PMPI_Comm_free(&sl_world);
    PMPI_Session_finalize(&own);
}

bool sl_session_owned(void) { return own != MPI_SESSION_NULL; }

static void came(struct sl_frame frame, uint64_t enter) {
    if (sl_in_mpi != 1 || !sl_wanted()) return;
    if (!sl_begun() && !session_world()) return;
    sl_begin(SL_FN_Session_init, frame, enter, MPI_THREAD_MULTIPLE);
}

SL_EXPORT int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session) {
    struct sl_frame frame = SL_CALLER;
    uint64_t enter = sl_now();
    sl_in_mpi++;
    int result = PMPI_Session_init(info, errhandler, session);
    if (result == MPI_SUCCESS) came(frame, enter);
    sl_in_mpi--;
    return result;
}

SL_EXPORT int MPI_Session_finalize(MPI_Session *session) {
    struct sl_ending e = sl_end(SL_FN_Session_finalize, SL_CALLER);
    sl_in_mpi++;
    int result = PMPI_Session_finalize(session);
    sl_in_mpi--;
    sl_ended(&e);
    return result;
}

/* mpif.h and the module mpi of MPICH call these; its module mpi_f08 does not. */
typedef void init_f(MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
typedef void finalize_f(MPI_Fint *, MPI_Fint *);

SL_EXPORT void mpi_session_init_f08_(MPI_Fint *info, MPI_Fint *errhandler, MPI_Fint *session, MPI_Fint *ierror) {
    struct sl_frame frame = SL_CALLER;
    MPI_Fint own_error = 0;
    uint64_t enter = sl_now();
    sl_in_mpi++;
    if (ierror == NULL) ierror = &own_error;
    ((init_f *)dlsym(RTLD_NEXT, "mpi_session_init_f08_"))(info, errhandler, session, ierror);
    if (*ierror == MPI_SUCCESS) came(frame, enter);
    sl_in_mpi--;
}

SL_EXPORT void mpi_session_finalize_f08_(MPI_Fint *session, MPI_Fint *ierror) {
    struct sl_ending e = sl_end(SL_FN_Session_finalize, SL_CALLER);
    sl_in_mpi++;
    ((finalize_f *)dlsym(RTLD_NEXT, "mpi_session_finalize_f08_"))(session, ierror);
    sl_in_mpi--;
    sl_ended(&e);
}
#else
void sl_session_world_end(void) {}
bool sl_session_owned(void) { return false; }
#endif
