/* Probes, and receives of messages that they found.
 *
 * A probe cannot see the head of a message, and taking the message out to look would change what MPI matches. But who looks
 * again and again knows when the message was not there yet: it reports it no earlier than that plus the latency. A first look
 * that finds a message reports it at once, and the receive is held; the report counts these. */
#include "calls.h"
#include <stdlib.h>

/* What was looked for in vain. */
struct watch { MPI_Comm comm; int source, tag; int64_t in_vain, until; };
enum { WATCHES = 32 };
static struct watch watches[WATCHES];
static unsigned turn;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct watch *watch_for(MPI_Comm comm, int source, int tag) {
    for (int i = 0; i < WATCHES; i++) {
        struct watch *w = &watches[i];
        if (w->in_vain != 0 && w->comm == comm && w->source == source && w->tag == tag) return w;
    }
    return NULL;
}

static void in_vain(MPI_Comm comm, int source, int tag) {
    pthread_mutex_lock(&lock);
    struct watch *w = watch_for(comm, source, tag);
    if (w == NULL) w = &watches[turn++ % WATCHES];
    *w = (struct watch){comm, source, tag, inj_now(), 0};
    pthread_mutex_unlock(&lock);
}

/* due reports whether a message that has arrived may be reported. */
static bool due(struct comm *c, MPI_Comm comm, int source, int tag, const MPI_Status *status) {
    bool yes = true;
    pthread_mutex_lock(&lock);
    struct watch *w = watch_for(comm, source, tag);
    if (w == NULL) {
        inj_add(&inj_report->early_probes, 1);
    } else {
        if (w->until == 0) w->until = inj_due(c, status->MPI_SOURCE, w->in_vain);
        yes = inj_now() >= w->until;
        if (yes) w->in_vain = 0;
    }
    pthread_mutex_unlock(&lock);
    return yes;
}

/* look looks for a message, and makes the status report how much data it has. */
static int look(struct comm *c, int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
    int result = PMPI_Iprobe(source, tag, comm, flag, status);
    if (result != MPI_SUCCESS) return result;
    if (!*flag) in_vain(comm, source, tag);
    else if (!due(c, comm, source, tag, status)) *flag = 0;
    else inj_less_head(status);
    return result;
}

static bool left_to_mpi(struct comm *c, int source) { return c == NULL || c->raw || source == MPI_PROC_NULL; }

static void work(void) {
    inj_orphans_poll();
    if (inj_busy()) inj_progress();
}

int inj_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
    struct comm *c = inj_comm(comm);
    MPI_Status own;
    work();
    if (left_to_mpi(c, source)) return PMPI_Iprobe(source, tag, comm, flag, status);
    return look(c, source, tag, comm, flag, status == MPI_STATUS_IGNORE ? &own : status);
}

int inj_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status) {
    int flag = 0, result;
    if (left_to_mpi(inj_comm(comm), source)) {
        inj_drain();
        return PMPI_Probe(source, tag, comm, status);
    }
    while ((result = inj_Iprobe(source, tag, comm, &flag, status)) == MPI_SUCCESS && !flag)
        if (inj_crowded) inj_relax(0);
    return result;
}

/* Messages that a matched probe has found on communicators without heads are few; they are remembered. */
enum { RAWS = 64 };
static _Atomic uintptr_t raws[RAWS];

static void remember_raw(MPI_Message message) {
    for (int i = 0; i < RAWS && message != MPI_MESSAGE_NO_PROC; i++) {
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

int inj_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status) {
    struct comm *c = inj_comm(comm);
    MPI_Status own;
    work();
    if (left_to_mpi(c, source)) {
        int result = PMPI_Improbe(source, tag, comm, flag, message, status);
        if (result == MPI_SUCCESS && *flag) remember_raw(*message);
        return result;
    }
    int result = look(c, source, tag, comm, flag, &own); /* what MPI_Iprobe does to a status is not for the program */
    if (result != MPI_SUCCESS || !*flag) return result;
    if (status == MPI_STATUS_IGNORE) status = &own;
    result = PMPI_Improbe(source, tag, comm, flag, message, status);
    if (result == MPI_SUCCESS && *flag) inj_less_head(status);
    return result;
}

int inj_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
    int flag = 0, result;
    if (left_to_mpi(inj_comm(comm), source)) {
        inj_drain();
        result = PMPI_Mprobe(source, tag, comm, message, status);
        if (result == MPI_SUCCESS) remember_raw(*message);
        return result;
    }
    while ((result = inj_Improbe(source, tag, comm, &flag, message, status)) == MPI_SUCCESS && !flag)
        if (inj_crowded) inj_relax(0);
    return result;
}

int inj_Imrecv(void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message, MPI_Request *request) {
    if (message == NULL || *message == MPI_MESSAGE_NO_PROC || *message == MPI_MESSAGE_NULL || inj_bad(count, type) || forget_raw(*message))
        return RAW(Imrecv)(buf, RAW_COUNT(count), type, message, request);
    struct entry *e = inj_entry(RECEIVES);
    MPI_Datatype joined = MPI_DATATYPE_NULL;
    e->posted = inj_now();
    e->bytes = inj_size(count, type);
    int result = inj_joined(&e->head, buf, count, type, &joined);
    if (result == MPI_SUCCESS) result = RAW(Imrecv)(MPI_BOTTOM, 1, joined, message, request);
    if (joined != MPI_DATATYPE_NULL) PMPI_Type_free(&joined);
    if (result == MPI_SUCCESS) inj_keep(e, *request);
    else inj_drop(e);
    return result;
}

int inj_Mrecv(void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message, MPI_Status *status) {
    MPI_Request request;
    if (message == NULL || *message == MPI_MESSAGE_NO_PROC) return RAW(Mrecv)(buf, RAW_COUNT(count), type, message, status);
    int result = inj_Imrecv(buf, count, type, message, &request);
    return result == MPI_SUCCESS ? inj_Wait(&request, status) : result;
}
