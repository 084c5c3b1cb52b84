/* What is recorded of each class of MPI functions. The generated wrappers have, before BEFORE_class, the variables
 * t (thread), frame (of the caller) and the parameters by their names in C; before AFTER_class also result and leave.
 * BEFORE_class makes the record r; its time is taken after that, when the call begins: making it is no part of the call. */
#ifndef SL_CALLS_H
#define SL_CALLS_H
#include "comms.h"
#include "requests.h"
#include "slackline_mpi.h"

/* Peers that are not ranks, the same for every MPI. */
enum { SL_NOBODY = -1, SL_ANYBODY = -2, SL_ROOT = -3 };

SL_INLINE int32_t sl_peer(int rank) {
    if (SL_LIKELY(rank >= 0)) return rank;
    return rank == MPI_PROC_NULL ? SL_NOBODY : rank == MPI_ROOT ? SL_ROOT : SL_ANYBODY;
}

/* sl_enter begins a call; NULL if it is not the program's own, or if nothing is recorded. */
SL_INLINE struct sl_thread *sl_enter(void) {
    struct sl_thread *t = sl_self;
    if (SL_UNLIKELY(t == NULL) && (t = sl_attach()) == NULL) return NULL;
    if (sl_busy(t)) return NULL;
    t->depth = 1;
    t->call = (uintptr_t)__builtin_frame_address(0);
    return t;
}

struct sl_record *sl_call(struct sl_thread *t, uint16_t kind, uint16_t function, uint32_t words, struct sl_frame frame);

/* sl_entered takes the time at which the call of a record begins, unless sl_poll_again has. The record may get another place. */
SL_INLINE struct sl_record *sl_entered(struct sl_thread *t, struct sl_record *r) {
    uint64_t now = r->enter != 0 ? r->enter : sl_now();
    if (SL_UNLIKELY(sl_cpu_is_due(t, now))) {
        r = sl_cpu_before(t, r, now);
        now = sl_now();
    }
    r->enter = now;
    return r;
}

void sl_done(struct sl_thread *t, struct sl_record *r, uint64_t leave);

void sl_poll_again(struct sl_thread *t, struct sl_record *r);

void sl_poll_done(struct sl_thread *t, struct sl_record *r, uint64_t leave);

int64_t sl_bytes(int64_t count, MPI_Datatype type);

int64_t sl_received(const MPI_Status *status);

/* What is at a handle: a call without one fails, and MPI says so. */
#define SL_AT(handle, none) ((handle) == NULL ? (none) : *(handle))

/* A call that failed is only a call. */
#define SL_CHECKED if (SL_UNLIKELY(result != MPI_SUCCESS)) r->kind = SL_CALL;

/* sl_took reports whether a call took its message: also one that does not fit, of which the rest is lost. */
bool sl_took(int result);
/* sl_pending reports whether a call that failed left a request as it was. */
bool sl_pending(int result, const MPI_Status *status);

/* Messages */

void sl_put(struct sl_thread *t, struct sl_record *r, int64_t bytes, int peer, int tag, MPI_Comm comm);

#define SL_MESSAGE(kind, fn, words, peer) \
    struct sl_record *r = sl_call(t, kind, fn, SL_HEAD + words, frame); \
    sl_put(t, r, sl_bytes(count, datatype), peer, tag, comm);

#define SL_NEW_REQUEST(what, again, who, bytes_sent, bytes_received) \
    (result != MPI_SUCCESS ? 0 : sl_request_add(*request, &(struct sl_request){.function = r->function, .kind = what, \
        .persistent = again, .active = !(again), .peer = who, .tag = tag, .comm = (uint32_t)r->data[2], .sent = bytes_sent, .received = bytes_received}))

#define BEFORE_send(fn) SL_MESSAGE(SL_SEND, fn, 4, dest) r->data[3] = 0;
#define AFTER_send SL_CHECKED sl_done(t, r, leave);
#define BEFORE_isend(fn) SL_MESSAGE(SL_SEND, fn, 4, dest) r->data[3] = 0;
#define AFTER_isend \
    if (dest != MPI_PROC_NULL) r->data[3] = SL_NEW_REQUEST(SL_REQ_SEND, false, dest, (int64_t)r->data[0], 0); \
    SL_CHECKED sl_done(t, r, leave);
#define BEFORE_send_init(fn) SL_MESSAGE(SL_CALL, fn, 3, dest)
#define AFTER_send_init SL_NEW_REQUEST(SL_REQ_SEND, true, sl_peer(dest), (int64_t)r->data[0], 0); sl_done(t, r, leave);

void sl_got(uint64_t *data, int result, const MPI_Status *s);

#define BEFORE_recv(fn) SL_MESSAGE(SL_RECV, fn, 3, source)
#define AFTER_recv sl_got(r->data, result, status); sl_done(t, r, leave);
#define BEFORE_irecv(fn) SL_MESSAGE(SL_POST, fn, 4, source) r->data[3] = 0;
#define AFTER_irecv \
    if (source != MPI_PROC_NULL) r->data[3] = SL_NEW_REQUEST(SL_REQ_RECV, false, sl_peer(source), 0, (int64_t)r->data[0]); \
    SL_CHECKED sl_done(t, r, leave);
#define BEFORE_recv_init(fn) SL_MESSAGE(SL_CALL, fn, 3, source)
#define AFTER_recv_init SL_NEW_REQUEST(SL_REQ_RECV, true, sl_peer(source), 0, (int64_t)r->data[0]); sl_done(t, r, leave);

#define SL_BOTH(fn, bytes) \
    struct sl_record *r = sl_call(t, SL_SENDRECV, fn, SL_HEAD + 5, frame); \
    sl_put(t, r, bytes, dest, sendtag, comm); \
    r->data[3] = 0; \
    r->data[4] = sl_pair(sl_peer(source), recvtag);
#define BEFORE_sendrecv(fn) SL_BOTH(fn, sl_bytes(sendcount, sendtype))
#define AFTER_sendrecv \
    sl_got(r->data + 3, result, status); \
    if (!sl_took(result)) r->kind = SL_CALL; \
    sl_done(t, r, leave);
#define BEFORE_sendrecv_replace(fn) SL_BOTH(fn, sl_bytes(count, datatype))
#define AFTER_sendrecv_replace AFTER_sendrecv

#define BEFORE_mrecv(fn) \
    MPI_Message before_message = SL_AT(message, MPI_MESSAGE_NO_PROC); \
    bool nobody = before_message == MPI_MESSAGE_NO_PROC; \
    struct sl_record *r = sl_call(t, SL_RECV, fn, SL_HEAD + 3, frame); \
    r->data[0] = 0; \
    r->data[1] = sl_pair(SL_NOBODY, 0); \
    r->data[2] = nobody ? UINT32_MAX : sl_message_take(before_message);
#define AFTER_mrecv if (!nobody) sl_got(r->data, result, status); sl_done(t, r, leave);
#define BEFORE_imrecv(fn) \
    MPI_Message before_message = SL_AT(message, MPI_MESSAGE_NO_PROC); \
    bool nobody = before_message == MPI_MESSAGE_NO_PROC; \
    int tag = 0; \
    struct sl_record *r = sl_call(t, SL_POST, fn, SL_HEAD + 4, frame); \
    r->data[0] = 0; \
    r->data[1] = sl_pair(SL_ANYBODY, 0); \
    r->data[2] = nobody ? UINT32_MAX : sl_message_take(before_message); \
    r->data[3] = 0;
#define AFTER_imrecv \
    if (!nobody) r->data[3] = SL_NEW_REQUEST(SL_REQ_RECV, false, SL_ANYBODY, 0, 0); \
    sl_done(t, r, leave);

/* Probes */

#define SL_PLAIN(fn) struct sl_record *r = sl_call(t, SL_CALL, fn, SL_HEAD, frame);
#define SL_PROBE(fn) \
    struct sl_record *r = sl_call(t, SL_CALL, fn, SL_HEAD + 3, frame); \
    sl_put(t, r, 0, source, tag, comm);
#define BEFORE_probe(fn) SL_PROBE(fn)
#define AFTER_probe sl_done(t, r, leave);
#define BEFORE_iprobe(fn) SL_PROBE(fn) sl_poll_again(t, r);
#define AFTER_iprobe r->data[0] = result != MPI_SUCCESS || *flag; SL_FOUND(*flag) sl_done(t, r, leave);
#define BEFORE_mprobe(fn) SL_PROBE(fn)
#define AFTER_mprobe \
    if (result == MPI_SUCCESS && *message != MPI_MESSAGE_NO_PROC) sl_message_add(*message, sl_comm(t, comm)->id); \
    sl_done(t, r, leave);
#define BEFORE_improbe(fn) BEFORE_iprobe(fn)
#define AFTER_improbe \
    if (result == MPI_SUCCESS && *flag && *message != MPI_MESSAGE_NO_PROC) sl_message_add(*message, sl_comm(t, comm)->id); \
    AFTER_iprobe

/* Completion. A record has room for SL_BATCH requests; what is more follows in records of its own. */

enum { SL_BATCH = 32, SL_DONE_WORDS = 5 };
static const uint64_t SL_MORE = (uint64_t)1 << 63;

void sl_complete(struct sl_thread *t, struct sl_record **r, const MPI_Request handle, const MPI_Status *status);
MPI_Request *sl_copy_handles(struct sl_thread *t, int count, const MPI_Request *handles);
MPI_Status *sl_room_for_statuses(struct sl_thread *t, int count);

#define SL_COMPLETION(fn, request) \
    struct sl_record *r = sl_call(t, SL_COMPLETE, fn, SL_HEAD + 1 + SL_DONE_WORDS * SL_BATCH, frame); \
    r->words = SL_HEAD + 1; \
    r->data[0] = request;
#define SL_EACH(n, handle, state) \
    if (sl_took(result) || result == MPI_ERR_IN_STATUS) \
        for (int i = 0; i < (n); i++) \
            if (!sl_pending(result, state)) sl_complete(t, &r, handle, state);

/* Until the call comes back, its record lists the requests that it waits for: their number, then as many as have room. */
void sl_waits_for(struct sl_record *r, int count, const MPI_Request *handles);
#define SL_WAITED r->leave = leave; r->words = SL_HEAD + 1; r->data[0] = 0;

#define SL_ONE_REQUEST MPI_Request before_request = SL_AT(request, MPI_REQUEST_NULL);
#define BEFORE_wait(fn) SL_ONE_REQUEST SL_COMPLETION(fn, 0) sl_waits_for(r, 1, &before_request);
#define AFTER_wait SL_WAITED SL_EACH(1, before_request, status) sl_done(t, r, leave);
#define SL_SEVERAL(fn) MPI_Request *before = sl_copy_handles(t, count, array_of_requests); SL_COMPLETION(fn, 0)
#define BEFORE_waitall(fn) SL_SEVERAL(fn) sl_waits_for(r, count, before);
#define AFTER_waitall SL_WAITED SL_EACH(count, before[i], &array_of_statuses[i]) sl_done(t, r, leave);
#define BEFORE_waitany(fn) BEFORE_waitall(fn)
#define AFTER_waitany SL_WAITED SL_EACH(*index != MPI_UNDEFINED, before[*index - first_index], status) sl_done(t, r, leave);
#define BEFORE_waitsome(fn) \
    int count = incount; \
    BEFORE_waitall(fn)
#define AFTER_waitsome \
    SL_WAITED \
    SL_EACH(*outcount == MPI_UNDEFINED ? 0 : *outcount, before[array_of_indices[i] - first_index], &array_of_statuses[i]) \
    sl_done(t, r, leave);

#define SL_FOUND(found) if (result == MPI_SUCCESS && !(found)) sl_poll_done(t, r, leave); else
#define BEFORE_test(fn) SL_ONE_REQUEST SL_COMPLETION(fn, sl_request_id(before_request)) sl_poll_again(t, r);
#define AFTER_test SL_FOUND(*flag) { AFTER_wait }
#define BEFORE_testall(fn) SL_SEVERAL(fn) sl_poll_again(t, r);
#define AFTER_testall SL_FOUND(*flag) { AFTER_waitall }
#define BEFORE_testany(fn) SL_SEVERAL(fn) sl_poll_again(t, r);
#define AFTER_testany SL_FOUND(*flag) { AFTER_waitany }
#define BEFORE_testsome(fn) \
    int count = incount; \
    SL_SEVERAL(fn) sl_poll_again(t, r);
#define AFTER_testsome SL_FOUND(*outcount != 0) { AFTER_waitsome }
#define BEFORE_status(fn) SL_COMPLETION(fn, sl_request_id(request))
#define AFTER_status SL_FOUND(*flag) { if (result == MPI_SUCCESS) sl_comm_ready(t, request); sl_done(t, r, leave); }

/* Persistent requests, cancelling, freeing */

void sl_started(struct sl_thread *t, struct sl_record **r, MPI_Request handle);

#define SL_STARTING(fn) struct sl_record *r = sl_call(t, SL_START, fn, SL_HEAD + 1 + SL_DONE_WORDS * SL_BATCH, frame); \
    r->words = SL_HEAD + 1; \
    r->data[0] = 0;
#define SL_STARTED(n, before, now) \
    r->leave = leave; \
    for (int i = 0; result == MPI_SUCCESS && i < (n); i++) sl_started(t, &r, sl_request_moved(before, now)); \
    sl_done(t, r, leave);
#define BEFORE_start(fn) SL_ONE_REQUEST SL_STARTING(fn)
#define AFTER_start SL_STARTED(1, before_request, *request)
#define BEFORE_startall(fn) MPI_Request *before = sl_copy_handles(t, count, array_of_requests); SL_STARTING(fn)
#define AFTER_startall SL_STARTED(count, before[i], array_of_requests[i])
#define BEFORE_cancel(fn) \
    SL_ONE_REQUEST \
    struct sl_record *r = sl_call(t, SL_CANCEL, fn, SL_HEAD + 1, frame); \
    r->data[0] = sl_request_id(before_request);
#define AFTER_cancel sl_done(t, r, leave);
#define BEFORE_request_free(fn) SL_ONE_REQUEST SL_PLAIN(fn)
#define AFTER_request_free sl_request_forget(before_request); sl_done(t, r, leave);

/* Communicators. The wrappers have their birth, which is counted before the call. */

#define BEFORE_newcomm(fn) struct sl_record *r = sl_call(t, SL_NEWCOMM, fn, SL_HEAD + 1, frame); r->data[0] = sl_pair((int32_t)sl_comm(t, parent_comm)->id, -1);
#define AFTER_newcomm \
    if (result == MPI_SUCCESS && *new_comm != MPI_COMM_NULL) r->data[0] = sl_pair((int32_t)(r->data[0] >> 32), (int32_t)sl_comm_new(t, *new_comm, &birth)->id); \
    SL_CHECKED sl_done(t, r, leave);
#define BEFORE_newcomm_group(fn) struct sl_record *r = sl_call(t, SL_NEWCOMM, fn, SL_HEAD + 1, frame); r->data[0] = sl_pair(-1, -1);
#define AFTER_newcomm_group AFTER_newcomm
/* Processes that come in from elsewhere */
#define BEFORE_spawn(fn) BEFORE_newcomm(fn)
#define AFTER_spawn birth.enter = r->enter; AFTER_newcomm
#define BEFORE_join(fn) struct sl_record *r = sl_call(t, SL_NEWCOMM, fn, SL_HEAD + 1, frame); r->data[0] = sl_pair(-2, -1);
#define AFTER_join AFTER_spawn
/* The new communicator is there when the request is complete. */
#define BEFORE_icomm(fn) SL_BEGIN(SL_ALL) SL_RECORD(fn, 0, 0)
#define AFTER_icomm \
    if (result == MPI_SUCCESS) r->data[3] = sl_request_add(*request, &(struct sl_request){.function = r->function, .kind = SL_REQ_COLLECTIVE, \
        .active = true, .peer = who, .comm = c->id, .new_comm = sl_comm_reserve(), \
        .new_sequence = birth.sequence, .made = made_comm, .made_fortran = made_fortran}); \
    SL_CHECKED sl_done(t, r, leave);
#define BEFORE_comm_free(fn) \
    MPI_Comm before_comm = SL_AT(comm, MPI_COMM_NULL); \
    struct sl_record *r = sl_call(t, SL_FREECOMM, fn, SL_HEAD + 1, frame); \
    r->data[0] = sl_comm(t, before_comm)->id;
#define AFTER_comm_free if (result == MPI_SUCCESS) sl_comm_forget(before_comm); sl_done(t, r, leave);

/* Calls whose inside is not looked at */

#define BEFORE_local(fn) SL_PLAIN(fn)
#define AFTER_local sl_done(t, r, leave);
#define BEFORE_rma(fn) SL_PLAIN(fn)
#define AFTER_rma sl_done(t, r, leave);
#define BEFORE_io(fn) SL_PLAIN(fn)
#define AFTER_io sl_done(t, r, leave);
#define BEFORE_iio(fn) SL_PLAIN(fn)
#define AFTER_iio sl_done(t, r, leave);

#include "collectives.h"
#include "windows.h"
#include "partitioned.h"
#include "files.h"
#endif
