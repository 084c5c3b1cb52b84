/* Persistent requests, and messages that were found by a probe. */
#include "inject.h"
#include <stdlib.h>

static bool left_to_mpi(struct comm *c, int peer, MPI_Count count, MPI_Datatype type) {
    return c == NULL || c->raw || peer == MPI_PROC_NULL || inj_bad(count, type);
}

/* inj_foreign remembers a persistent request that is MPI's alone. */
void inj_foreign(MPI_Request request);
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

int inj_send_init(int mode, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request);
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
        if (result == MPI_SUCCESS) result = raw_send_init(mode, MPI_BOTTOM, 1, e->joined, dest, tag, comm, request);
    }
    if (result == MPI_SUCCESS) inj_keep(e, *request);
    else inj_drop(e);
    return result;
}

int inj_Recv_init(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request);
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

int inj_send(int mode, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);

/* starting does what a request needs when it is started. */
static int starting(MPI_Request request) {
    struct entry *e = inj_find(request);
    if (e == NULL || e->active) return MPI_SUCCESS; /* MPI says what is wrong */
    e->active = true;
    if (e->kind != SENDS) return MPI_SUCCESS;
    if (e->buffered) return inj_send(BUFFERED, e->user, e->count, e->type, e->dest, e->tag, e->to);
    inj_stamp(&e->head, e->comm, e->dest, e->bytes);
    return MPI_SUCCESS;
}

int inj_Start(MPI_Request *request);
int inj_Start(MPI_Request *request) {
    int result = starting(*request);
    return result == MPI_SUCCESS ? PMPI_Start(request) : result;
}

int inj_Startall(int count, MPI_Request requests[]);
int inj_Startall(int count, MPI_Request requests[]) {
    int result = MPI_SUCCESS;
    for (int i = 0; i < count && result == MPI_SUCCESS; i++) result = inj_Start(&requests[i]);
    return count < 0 ? PMPI_Startall(count, requests) : result;
}

/* Probes tell of a message when it is there, although it may be held when it is received: its head is not known before,
 * and taking it out to look would change what MPI matches. The report counts them. */

static void seen(MPI_Status *status) {
    if (status == MPI_STATUS_IGNORE) return;
    inj_less_head(status);
}

int inj_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status);
int inj_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
    struct comm *c = inj_comm(comm);
    inj_orphans_poll();
    if (inj_busy()) inj_progress();
    int result = PMPI_Iprobe(source, tag, comm, flag, status);
    if (result != MPI_SUCCESS || !*flag || c == NULL || c->raw || source == MPI_PROC_NULL) return result;
    inj_add(&inj_report->early_probes, 1);
    seen(status);
    return result;
}

int inj_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status);
int inj_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status) {
    struct comm *c = inj_comm(comm);
    inj_orphans_poll();
    int result, flag = 0;
    if (!inj_busy()) result = PMPI_Probe(source, tag, comm, status);
    else
        while ((result = PMPI_Iprobe(source, tag, comm, &flag, status)) == MPI_SUCCESS && !flag) inj_relax(0);
    if (result == MPI_SUCCESS && c != NULL && !c->raw && source != MPI_PROC_NULL) seen(status);
    return result;
}

/* Messages that a matched probe has found on communicators without heads are few; they are remembered. */
enum { RAWS = 64 };
static _Atomic uintptr_t raws[RAWS];

static void remember_raw(MPI_Message message) {
    for (int i = 0; i < RAWS; i++) {
        uintptr_t none = 0;
        if (atomic_compare_exchange_strong(&raws[i], &none, (uintptr_t)message + 1)) return;
    }
}

static bool forget_raw(MPI_Message message) {
    for (int i = 0; i < RAWS; i++) {
        uintptr_t it = (uintptr_t)message + 1;
        if (atomic_load_explicit(&raws[i], memory_order_relaxed) == it && atomic_compare_exchange_strong(&raws[i], &it, 0)) return true;
    }
    return false;
}

static void matched(struct comm *c, MPI_Message message, MPI_Status *status) {
    if (message == MPI_MESSAGE_NO_PROC) return;
    if (c == NULL || c->raw) remember_raw(message);
    else seen(status);
}

int inj_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status);
int inj_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status) {
    struct comm *c = inj_comm(comm);
    inj_orphans_poll();
    if (inj_busy()) inj_progress();
    int result = PMPI_Improbe(source, tag, comm, flag, message, status);
    if (result != MPI_SUCCESS || !*flag) return result;
    inj_add(&inj_report->early_probes, 1);
    matched(c, *message, status);
    return result;
}

int inj_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status);
int inj_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
    struct comm *c = inj_comm(comm);
    inj_orphans_poll();
    int result, flag = 0;
    if (!inj_busy()) result = PMPI_Mprobe(source, tag, comm, message, status);
    else
        while ((result = PMPI_Improbe(source, tag, comm, &flag, message, status)) == MPI_SUCCESS && !flag) inj_relax(0);
    if (result == MPI_SUCCESS) matched(c, *message, status);
    return result;
}

int inj_Imrecv(void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message, MPI_Request *request);
int inj_Imrecv(void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message, MPI_Request *request) {
    if (*message == MPI_MESSAGE_NO_PROC || *message == MPI_MESSAGE_NULL || inj_bad(count, type) || forget_raw(*message))
        return RAW(Imrecv)(buf, RAW_COUNT(count), type, message, request);
    struct entry *e = inj_entry(RECEIVES);
    MPI_Datatype joined = MPI_DATATYPE_NULL;
    e->bytes = inj_size(count, type);
    int result = inj_joined(&e->head, buf, count, type, &joined);
    if (result == MPI_SUCCESS) result = RAW(Imrecv)(MPI_BOTTOM, 1, joined, message, request);
    if (joined != MPI_DATATYPE_NULL) PMPI_Type_free(&joined);
    if (result == MPI_SUCCESS) inj_keep(e, *request);
    else inj_drop(e);
    return result;
}

int inj_Wait(MPI_Request *request, MPI_Status *status);
int inj_Mrecv(void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message, MPI_Status *status);
int inj_Mrecv(void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message, MPI_Status *status) {
    MPI_Request request;
    int result = inj_Imrecv(buf, count, type, message, &request);
    return result == MPI_SUCCESS ? inj_Wait(&request, status) : result;
}
