/* Messages with their heads: how one is sent and received, how a receive is held. */
#include "calls.h"
#include <sched.h>
#include <stdlib.h>

/* Figure 8 (c): the receiver delays messages one after another. */
static int64_t one_after_another(int64_t release) {
    static int64_t last;
    int64_t arrival = release - inj_settings.latency_ns;
    last = (last > arrival ? last : arrival) + inj_settings.latency_ns;
    return last;
}

/* inj_relax lets MPI and other processes work while there is time. */
void inj_relax(int64_t left) {
    if (inj_busy()) inj_progress();
    if (inj_crowded) {
        if (left > SLEEP_NS) {
            struct timespec t = {0, left - SLEEP_NS / 2 < 1000000 ? left - SLEEP_NS / 2 : 1000000};
            clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
        } else {
            sched_yield();
        }
    }
    if (left == 0 || left > SPIN_NS) { /* a look for messages that never come makes MPI work */
        int flag;
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, inj_own, &flag, MPI_STATUS_IGNORE);
    }
}

/* inj_hold returns when a message may be delivered. */
void inj_hold(int64_t release) {
    struct report *r = inj_report;
    int64_t now = inj_now();
    if (release == 0) return;
    if (now >= release) {
        inj_add(&r->passed, 1);
        return;
    }
    inj_add(&r->held, 1);
    inj_add(&r->held_ns, release - now);
    if (release - now > r->held_most_ns) r->held_most_ns = release - now;
    while ((now = inj_now()) < release) inj_relax(release - now);
    inj_add(&r->over_ns, now - release);
    if (now - release > r->over_most_ns) r->over_most_ns = now - release;
}

int64_t inj_status_bytes(const MPI_Status *status) {
    MPI_Count n = 0;
    if (PMPI_Get_elements_x(status, MPI_BYTE, &n) != MPI_SUCCESS || n == MPI_UNDEFINED) return 0;
    return n;
}

/* inj_less_head makes a status report how much data came, without the head. */
void inj_less_head(MPI_Status *status) {
    int64_t n = inj_status_bytes(status);
    if (n >= HEAD) PMPI_Status_set_elements_x(status, MPI_BYTE, n - HEAD);
}

/* delivered takes data out of a receive that is complete, and returns when it may be delivered. */
static int64_t delivered(const struct head *h, int64_t posted, const char *bounce, void *user, int64_t bytes, MPI_Status *status, int result) {
    int cancelled = 0;
    PMPI_Test_cancelled(status, &cancelled);
    int64_t n = inj_status_bytes(status);
    if (cancelled || n < HEAD) return 0;
    inj_less_head(status);
    n -= HEAD;
    if (n > bytes) n = bytes; /* truncated; the result reports it */
    if (bounce != NULL && n > 0) memcpy(user, bounce + HEAD, (size_t)n);
    inj_add(&inj_report->received, 1);
    if (result != MPI_SUCCESS) return 0;
    int64_t release = inj_release(h, posted);
    if (release != 0 && inj_settings.panel == 'c') release = one_after_another(release);
    return release;
}

/* inj_finish does what is left to do for a request that is complete for MPI, and returns when it may be for the program. */
int64_t inj_finish(struct entry *e, MPI_Status *status, int result) {
    int64_t release = 0;
    if (e->kind == RECEIVES && e->active) {
        const struct head *h = e->bounce != NULL ? (const struct head *)e->bounce : &e->head;
        release = delivered(h, e->posted, e->bounce, e->user, e->bytes, status, result);
    }
    if (e->kind == SENDS && e->active && result == MPI_SUCCESS) release = inj_granted(&e->handshake);
    if (e->kind == ANSWERED) release = e->posted;
    if (e->sending != NULL) {
        int64_t sent = inj_second_half(e);
        if (sent > release) release = sent;
    }
    if (e->kind == COLLECTIVE && e->active) {
        struct entry *run = inj_take(e->running);
        PMPI_Wait(&e->running, MPI_STATUS_IGNORE);
        if (run != NULL) inj_drop(run);
    }
    if (e->persistent) e->active = false;
    return release;
}

static int raw_isend(int mode, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    switch (mode) {
    case SYNCHRONOUS: return RAW(Issend)(buf, RAW_COUNT(count), type, dest, tag, comm, request);
    case READY: return RAW(Irsend)(buf, RAW_COUNT(count), type, dest, tag, comm, request);
    case BUFFERED: return RAW(Ibsend)(buf, RAW_COUNT(count), type, dest, tag, comm, request);
    default: return RAW(Isend)(buf, RAW_COUNT(count), type, dest, tag, comm, request);
    }
}

static int raw_send(int mode, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    switch (mode) {
    case SYNCHRONOUS: return RAW(Ssend)(buf, RAW_COUNT(count), type, dest, tag, comm);
    case READY: return RAW(Rsend)(buf, RAW_COUNT(count), type, dest, tag, comm);
    case BUFFERED: return RAW(Bsend)(buf, RAW_COUNT(count), type, dest, tag, comm);
    default: return RAW(Send)(buf, RAW_COUNT(count), type, dest, tag, comm);
    }
}

/* inj_isend sends a message with its head; the entry is the caller's to keep. */
int inj_isend(int mode, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, struct comm *c, struct entry **out, MPI_Request *request) {
    int64_t size, bytes;
    struct entry *e = inj_entry(SENDS);
    int result;
    if (inj_plain(type, &size) && (bytes = count * size) <= BOUNCE) {
        e->bounce = inj_room((size_t)bytes + HEAD, &e->room);
        inj_stamp((struct head *)e->bounce, c, dest, bytes, &e->handshake);
        if (bytes > 0) memcpy(e->bounce + HEAD, buf, (size_t)bytes);
        result = raw_isend(inj_sending_mode(mode, bytes), e->bounce, bytes + HEAD, MPI_BYTE, dest, tag, comm, request);
    } else {
        MPI_Datatype joined = MPI_DATATYPE_NULL;
        bytes = inj_size(count, type);
        inj_stamp(&e->head, c, dest, bytes, &e->handshake);
        result = inj_joined(&e->head, buf, count, type, &joined);
        if (result == MPI_SUCCESS) result = raw_isend(inj_sending_mode(mode, bytes), MPI_BOTTOM, 1, joined, dest, tag, comm, request);
        if (joined != MPI_DATATYPE_NULL) PMPI_Type_free(&joined);
    }
    if (result != MPI_SUCCESS) {
        inj_drop(e);
        return result;
    }
    *out = e;
    return result;
}

int inj_irecv(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, struct entry **out, MPI_Request *request) {
    int64_t size;
    struct entry *e = inj_entry(RECEIVES);
    int result;
    e->posted = inj_now();
    if (inj_plain(type, &size) && (e->bytes = count * size) <= BOUNCE) {
        e->bounce = inj_room((size_t)e->bytes + HEAD, &e->room);
        e->user = buf;
        result = RAW(Irecv)(e->bounce, RAW_COUNT(e->bytes + HEAD), MPI_BYTE, source, tag, comm, request);
    } else {
        MPI_Datatype joined = MPI_DATATYPE_NULL;
        e->bytes = inj_size(count, type);
        result = inj_joined(&e->head, buf, count, type, &joined);
        if (result == MPI_SUCCESS) result = RAW(Irecv)(MPI_BOTTOM, 1, joined, source, tag, comm, request);
        if (joined != MPI_DATATYPE_NULL) PMPI_Type_free(&joined);
    }
    if (result != MPI_SUCCESS) {
        inj_drop(e);
        return result;
    }
    *out = e;
    return result;
}

/* What the program calls. */

static bool left_to_mpi(struct comm *c, int peer, MPI_Count count, MPI_Datatype type) {
    return c == NULL || c->raw || peer == MPI_PROC_NULL || inj_bad(count, type);
}

static _Thread_local char *sending, *receiving; /* for blocking calls */

static char *room_of(char **room) {
    if (*room == NULL) *room = malloc(BOUNCE + HEAD);
    return *room;
}

/* wait_polling waits for a request while collectives of the program run. */
static int wait_polling(MPI_Request *request, MPI_Status *status) {
    int flag = 0, result;
    while ((result = PMPI_Test(request, &flag, status)) == MPI_SUCCESS && !flag) inj_relax(0);
    return result;
}

static int wait_one(MPI_Request *request, MPI_Status *status) {
    return inj_busy() ? wait_polling(request, status) : PMPI_Wait(request, status);
}

/* A buffered send copies the data and returns; the attached buffer stays empty, and is as large as MPI wants it. */
static int bsend(const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, struct comm *c) {
    int64_t bytes = inj_size(count, type);
    struct entry *e = inj_entry(SENDS);
    e->bounce = inj_room((size_t)bytes + HEAD, &e->room);
    e->buffered = true;
    inj_stamp((struct head *)e->bounce, c, dest, bytes, NULL);
    int result = MPI_SUCCESS;
    if (bytes > 0) result = inj_copy(buf, count, type, e->bounce + HEAD, bytes, MPI_BYTE);
    if (result == MPI_SUCCESS) result = RAW(Isend)(e->bounce, RAW_COUNT(bytes + HEAD), MPI_BYTE, dest, tag, comm, &e->handle);
    if (result == MPI_SUCCESS) inj_orphan(e);
    else inj_drop(e);
    return result;
}

/* sent holds the sender of a message with a handshake in the call that sent it. */
static int sent(struct handshake *h, int result) {
    if (result != MPI_SUCCESS || h->until == 0) return result;
    h->open = h->until; /* it was not complete before the call */
    inj_hold(inj_granted(h));
    return result;
}

int inj_send(int mode, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    struct comm *c = inj_comm(comm);
    int64_t size, bytes;
    inj_orphans_poll();
    if (left_to_mpi(c, dest, count, type)) return raw_send(mode, buf, count, type, dest, tag, comm);
    if (mode == BUFFERED) return bsend(buf, count, type, dest, tag, comm, c);
    if (inj_busy()) {
        struct entry *e;
        MPI_Request request;
        int result = inj_isend(mode, buf, count, type, dest, tag, comm, c, &e, &request);
        if (result == MPI_SUCCESS) {
            result = wait_polling(&request, MPI_STATUS_IGNORE);
            sent(&e->handshake, result);
            inj_drop(e);
        }
        return result;
    }
    struct handshake hand;
    if (inj_plain(type, &size) && (bytes = count * size) <= BOUNCE) {
        char *room = room_of(&sending);
        inj_stamp((struct head *)room, c, dest, bytes, &hand);
        if (bytes > 0) memcpy(room + HEAD, buf, (size_t)bytes);
        return sent(&hand, raw_send(inj_sending_mode(mode, bytes), room, bytes + HEAD, MPI_BYTE, dest, tag, comm));
    }
    struct head h;
    MPI_Datatype joined = MPI_DATATYPE_NULL;
    bytes = inj_size(count, type);
    inj_stamp(&h, c, dest, bytes, &hand);
    int result = inj_joined(&h, buf, count, type, &joined);
    if (result == MPI_SUCCESS) result = sent(&hand, raw_send(inj_sending_mode(mode, bytes), MPI_BOTTOM, 1, joined, dest, tag, comm));
    if (joined != MPI_DATATYPE_NULL) PMPI_Type_free(&joined);
    return result;
}

int inj_send_later(int mode, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request) {
    struct comm *c = inj_comm(comm);
    struct entry *e;
    inj_orphans_poll();
    if (left_to_mpi(c, dest, count, type)) return raw_isend(mode, buf, count, type, dest, tag, comm, request);
    if (mode == BUFFERED) {
        int result = bsend(buf, count, type, dest, tag, comm, c);
        return result == MPI_SUCCESS ? inj_done_request(request) : result;
    }
    int result = inj_isend(mode, buf, count, type, dest, tag, comm, c, &e, request);
    if (result == MPI_SUCCESS) inj_keep(e, *request);
    return result;
}

int inj_Irecv(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
    struct entry *e;
    inj_orphans_poll();
    if (left_to_mpi(inj_comm(comm), source, count, type)) return RAW(Irecv)(buf, RAW_COUNT(count), type, source, tag, comm, request);
    int result = inj_irecv(buf, count, type, source, tag, comm, &e, request);
    if (result == MPI_SUCCESS) inj_keep(e, *request);
    return result;
}

/* wait_for waits for a receive that only this library knows. */
static int wait_for(struct entry *e, MPI_Request *request, MPI_Status *status) {
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE) status = &own;
    int result = wait_one(request, status);
    inj_hold(inj_finish(e, status, result));
    inj_drop(e);
    return result;
}

int inj_Recv(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status) {
    int64_t size, bytes, posted = inj_now();
    MPI_Status own;
    inj_orphans_poll();
    if (left_to_mpi(inj_comm(comm), source, count, type)) return RAW(Recv)(buf, RAW_COUNT(count), type, source, tag, comm, status);
    if (inj_busy() || !inj_plain(type, &size) || (bytes = count * size) > BOUNCE) {
        struct entry *e;
        MPI_Request request;
        int result = inj_irecv(buf, count, type, source, tag, comm, &e, &request);
        return result == MPI_SUCCESS ? wait_for(e, &request, status) : result;
    }
    if (status == MPI_STATUS_IGNORE) status = &own;
    char *room = room_of(&receiving);
    int result = RAW(Recv)(room, RAW_COUNT(bytes + HEAD), MPI_BYTE, source, tag, comm, status);
    inj_hold(delivered((struct head *)room, posted, room, buf, bytes, status, result));
    return result;
}

/* both sends and receives at once. */
static int both(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status) {
    MPI_Request in = MPI_REQUEST_NULL, out = MPI_REQUEST_NULL;
    MPI_Status own;
    struct comm *c = inj_comm(comm);
    struct entry *incoming = NULL, *outgoing = NULL;
    int result, sending_result;
    if (status == MPI_STATUS_IGNORE) status = &own;
    if (source == MPI_PROC_NULL) {
        result = inj_send(STANDARD, sendbuf, sendcount, sendtype, dest, sendtag, comm);
        return result == MPI_SUCCESS ? RAW(Recv)(recvbuf, RAW_COUNT(recvcount), recvtype, source, recvtag, comm, status) : result;
    }
    result = inj_irecv(recvbuf, recvcount, recvtype, source, recvtag, comm, &incoming, &in);
    if (result != MPI_SUCCESS) return result;
    if (dest == MPI_PROC_NULL) sending_result = RAW(Isend)(sendbuf, RAW_COUNT(sendcount), sendtype, dest, sendtag, comm, &out);
    else sending_result = inj_isend(STANDARD, sendbuf, sendcount, sendtype, dest, sendtag, comm, c, &outgoing, &out);
    if (sending_result == MPI_SUCCESS) sending_result = wait_one(&out, MPI_STATUS_IGNORE);
    if (outgoing != NULL) {
        sent(&outgoing->handshake, sending_result);
        inj_drop(outgoing);
    }
    if (sending_result == MPI_SUCCESS) return wait_for(incoming, &in, status);
    PMPI_Cancel(&in);
    PMPI_Wait(&in, MPI_STATUS_IGNORE);
    inj_drop(incoming);
    return sending_result;
}

int inj_Sendrecv(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status) {
    struct comm *c = inj_comm(comm);
    inj_orphans_poll();
    if (c == NULL || c->raw || inj_bad(sendcount, sendtype) || inj_bad(recvcount, recvtype))
        return RAW(Sendrecv)(sendbuf, RAW_COUNT(sendcount), sendtype, dest, sendtag, recvbuf, RAW_COUNT(recvcount), recvtype, source, recvtag, comm, status);
    return both(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, status);
}

/* inj_second_half ends the send of MPI_Isendrecv, and returns when it is done. */
int64_t inj_second_half(struct entry *e) {
    struct entry *out = e->sending;
    MPI_Status status;
    e->sending = NULL;
    int result = wait_one(&out->handle, &status);
    int64_t until = inj_finish(out, &status, result);
    inj_drop(out);
    return until;
}

/* isendrecv starts both halves; the request of the receive is that of the program. */
static int isendrecv(struct entry *out, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request *request) {
    struct entry *in;
    int result = inj_irecv(recvbuf, recvcount, recvtype, source, recvtag, comm, &in, request);
    if (result != MPI_SUCCESS) {
        inj_orphan(out);
        return result;
    }
    in->sending = out;
    inj_keep(in, *request);
    return result;
}

#if MPI_VERSION >= 4
int inj_Isendrecv(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request *request) {
    struct comm *c = inj_comm(comm);
    struct entry *out;
    inj_orphans_poll();
    if (c == NULL || c->raw || inj_bad(sendcount, sendtype) || inj_bad(recvcount, recvtype))
        return RAW(Isendrecv)(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, request);
    MPI_Request sent;
    int result = inj_isend(STANDARD, sendbuf, sendcount, sendtype, dest, sendtag, comm, c, &out, &sent);
    if (result != MPI_SUCCESS) return result;
    out->handle = sent;
    return isendrecv(out, recvbuf, recvcount, recvtype, source, recvtag, comm, request);
}

int inj_Isendrecv_replace(void *buf, MPI_Count count, MPI_Datatype type, int dest, int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Request *request) {
    struct comm *c = inj_comm(comm);
    inj_orphans_poll();
    if (c == NULL || c->raw || inj_bad(count, type)) return RAW(Isendrecv_replace)(buf, count, type, dest, sendtag, source, recvtag, comm, request);
    struct entry *out = inj_entry(SENDS);
    int64_t bytes = inj_size(count, type);
    out->bounce = inj_room((size_t)bytes + HEAD, &out->room);
    inj_stamp((struct head *)out->bounce, c, dest, bytes, &out->handshake);
    int result = bytes > 0 ? inj_copy(buf, count, type, out->bounce + HEAD, bytes, MPI_BYTE) : MPI_SUCCESS;
    if (result == MPI_SUCCESS) result = raw_isend(inj_sending_mode(STANDARD, bytes), out->bounce, bytes + HEAD, MPI_BYTE, dest, sendtag, comm, &out->handle);
    if (result == MPI_SUCCESS) return isendrecv(out, buf, count, type, source, recvtag, comm, request);
    inj_drop(out);
    return result;
}
#endif

/* replace_sets is what the MPI's own MPI_Sendrecv_replace leaves as the error of a status that had another one. */
static int replace_sets(int before) {
    int in = 0;
    MPI_Status s = {.MPI_ERROR = before};
    PMPI_Sendrecv_replace(&in, 1, MPI_INT, 0, 0, 0, 0, inj_own, &s);
    return s.MPI_ERROR;
}

int inj_Sendrecv_replace(void *buf, MPI_Count count, MPI_Datatype type, int dest, int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Status *status) {
    inj_orphans_poll();
    struct comm *c = inj_comm(comm);
    if (c == NULL || c->raw || inj_bad(count, type)) return RAW(Sendrecv_replace)(buf, RAW_COUNT(count), type, dest, sendtag, source, recvtag, comm, status);
    int64_t bytes = inj_size(count, type);
    size_t room;
    int before = status != MPI_STATUS_IGNORE ? status->MPI_ERROR : 0;
    char *copy = inj_room((size_t)bytes + 1, &room);
    int result = inj_copy(buf, count, type, copy, bytes, MPI_BYTE);
    if (result == MPI_SUCCESS) result = both(copy, bytes, MPI_BYTE, dest, sendtag, buf, count, type, source, recvtag, comm, status);
    inj_give_back(copy, room);
    if (result == MPI_SUCCESS && status != MPI_STATUS_IGNORE) status->MPI_ERROR = replace_sets(before);
    return result;
}
