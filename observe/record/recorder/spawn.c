/* Calls by which processes beyond MPI_COMM_WORLD come in. These are not recorded; communicators with them have unknown members. */
#include "calls.h"
#include "functions.h"

/* begun and made record a call that makes an intercommunicator. */
static struct sl_record *begun(struct sl_thread *t, uint16_t fn, struct sl_frame frame, uint64_t enter, MPI_Comm comm) {
    struct sl_record *r = sl_call(t, SL_NEWCOMM, fn, SL_HEAD + 1, frame, enter);
    r->data[0] = sl_pair((int32_t)sl_comm(t, comm)->id, -1);
    return r;
}

static void made(struct sl_thread *t, struct sl_record *r, int result, const MPI_Comm *comm) {
    uint64_t leave = sl_now();
    if (result == MPI_SUCCESS && *comm != MPI_COMM_NULL) r->data[0] = sl_pair((int32_t)(r->data[0] >> 32), (int32_t)sl_comm(t, *comm)->id);
    sl_done(t, r, leave);
}

#define MAKES(name, params, args, comm, intercomm) \
    SL_EXPORT int MPI_##name params { \
        struct sl_thread *t = sl_enter(); \
        if (t == NULL) return PMPI_##name args; \
        struct sl_frame frame = SL_CALLER; \
        struct sl_record *r = begun(t, SL_FN_##name, frame, sl_now(), comm); \
        int result = PMPI_##name args; \
        made(t, r, result, intercomm); \
        return result; \
    }

MAKES(Comm_spawn, (const char *command, char *argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *intercomm, int codes[]),
    (command, argv, maxprocs, info, root, comm, intercomm, codes), comm, intercomm)
MAKES(Comm_spawn_multiple, (int count, char *commands[], char **argvs[], const int maxprocs[], const MPI_Info infos[], int root, MPI_Comm comm,
    MPI_Comm *intercomm, int codes[]), (count, commands, argvs, maxprocs, infos, root, comm, intercomm, codes), comm, intercomm)
MAKES(Comm_accept, (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm), (port, info, root, comm, newcomm), comm, newcomm)
MAKES(Comm_connect, (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm), (port, info, root, comm, newcomm), comm, newcomm)
