/* Persistent requests. */
#include "calls.h"
#include <stdlib.h>

static bool left_to_mpi(struct comm *c, int peer, MPI_Count count, MPI_Datatype type) {
    return c == NULL || c->raw || peer == MPI_PROC_NULL || inj_bad(count, type);
}

/* inj_foreign remembers a persistent request that is MPI's alone. */
void inj_foreign(MPI_Request request) {
    struct entry *e = inj_entry(FOREIGN);
    e->persistent = true;
    e->active = false;
    inj_keep(e, request);
}

static int raw_send_init(int mode, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    switch (mode) {
    case SYNCHRONOUS: return RAW(Ssend_init)(buf, RAW_COUNT(count), type, dest, tag, comm, request);
    case READY: return RAW(Rsend_init)(buf, RAW_COUNT(count), type, dest, tag, comm, request);
    case BUFFERED: return RAW(Bsend_init)(buf, RAW_COUNT(count), type, dest, tag, comm, request);
    default: return RAW(Send_init)(buf, RAW_COUNT(count), type, dest, tag, comm, request);
    }
}

int inj_send_init(int mode, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    struct comm *c = inj_comm(comm);
    int result;
    if (left_to_mpi(c, dest, count, type)) {
        result = raw_send_init(mode, buf, count, type, dest, tag, comm, request);
        if (result == MPI_SUCCESS) inj_foreign(*request);
        return result;
    }
    struct entry *e = inj_entry(SENDS);
    *e = (struct entry){.kind = SENDS, .persistent = true, .buffered = mode == BUFFERED, .joined = MPI_DATATYPE_NULL, .comm = c, .dest = dest,
        .tag = tag, .to = comm, .count = count, .type = type, .user = (void *)(uintptr_t)buf, .bytes = inj_size(count, type)};
    if (e->buffered) { /* MPI_Start sends a copy; the request itself has nothing to do */
        result = PMPI_Send_init(NULL, 0, MPI_BYTE, MPI_PROC_NULL, tag, comm, request);
    } else {
        result = inj_joined(&e->head, buf, count, type, &e->joined);
        if (result == MPI_SUCCESS) result = raw_send_init(inj_sending_mode(mode, e->bytes), MPI_BOTTOM, 1, e->joined, dest, tag, comm, request);
    }
    if (result == MPI_SUCCESS) inj_keep(e, *request);
    else inj_drop(e);
    return result;
}

int inj_Recv_init(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
    int result;
    if (left_to_mpi(inj_comm(comm), source, count, type)) {
        result = RAW(Recv_init)(buf, RAW_COUNT(count), type, source, tag, comm, request);
        if (result == MPI_SUCCESS) inj_foreign(*request);
        return result;
    }
    struct entry *e = inj_entry(RECEIVES);
    e->persistent = true;
    e->active = false;
    e->bytes = inj_size(count, type);
    result = inj_joined(&e->head, buf, count, type, &e->joined);
    if (result == MPI_SUCCESS) result = RAW(Recv_init)(MPI_BOTTOM, 1, e->joined, source, tag, comm, request);
    if (result == MPI_SUCCESS) inj_keep(e, *request);
    else inj_drop(e);
    return result;
}

/* starting does what a request needs when it is started. */
static int starting(MPI_Request request) {
    struct entry *e = inj_find(request);
    if (e == NULL || e->active) return MPI_SUCCESS; /* MPI reports what is wrong */
    e->active = true;
    e->posted = inj_now();
    if (e->kind != SENDS) return MPI_SUCCESS;
    if (e->buffered) return inj_send(BUFFERED, e->user, e->count, e->type, e->dest, e->tag, e->to);
    inj_stamp(&e->head, e->comm, e->dest, e->bytes, &e->handshake);
    return MPI_SUCCESS;
}

int inj_Start(MPI_Request *request) {
    if (request == NULL) return PMPI_Start(request);
    struct entry *e = inj_find(*request);
    if (e != NULL && e->kind == COLLECTIVE && !e->active) {
        int result = inj_start_collective(e);
        e->active = result == MPI_SUCCESS;
        return result;
    }
    int result = starting(*request);
    if (result == MPI_SUCCESS) result = PMPI_Start(request);
    if (e != NULL && result == MPI_SUCCESS && e->handle != *request) inj_moved(e, *request);
    return result;
}

int inj_Startall(int count, MPI_Request requests[]) {
    if (count <= 0 || requests == NULL) return PMPI_Startall(count, requests);
    int result = MPI_SUCCESS;
    for (int i = 0; i < count && result == MPI_SUCCESS; i++) result = inj_Start(&requests[i]);
    return result;
}
