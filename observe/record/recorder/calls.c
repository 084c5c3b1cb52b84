/* The parts of the wrappers that are not for every call. */
#include "calls.h"
#include "counters.h"
#include "functions.h"
#include "skips.h"
#include <stdlib.h>

struct sl_record *sl_call(struct sl_thread *t, uint16_t kind, uint16_t function, uint32_t words, struct sl_frame frame) {
    if (sl_is_bounded()) sl_check_window(t, sl_now());
    if (SL_UNLIKELY(t->count_words > 0) && t->on) sl_counters_enter(t); /* first: what follows is not the program's */
    if (SL_UNLIKELY(atomic_load_explicit(&sl_modules_stale, memory_order_relaxed))) sl_look_again();
    uint32_t path = SL_LIKELY(t->on) ? sl_path(t, frame) : 0;
    return sl_head(sl_room(t, words), kind, function, words, path, 0);
}

static void end_call(struct sl_thread *t) {
    t->call = 0;
    t->depth = 0;
}

/* sl_left ends an MPI call that the program has left without a return, and reports whether there was one: error handlers of C++ throw,
 * those of C may jump. What is above a call on the stack does not run as long as the call does; only the arguments of another call
 * may lie below its place. What is further below is in the call only if it was called from there: a program goes on in functions of
 * any depth. When it was left is not known: it is kept without length. */
bool sl_left(struct sl_thread *t, uintptr_t place) {
    enum { ARGUMENTS = 96 };
    if (t->depth != 1 || t->call == 0 || place >= t->stack.top) return false;
    if (place + ARGUMENTS < t->call && sl_runs(SL_CALLER, &t->stack, t->call)) return false;
    struct sl_record *r = (struct sl_record *)(void *)t->events.next;
    if (t->on && !t->events.closed && r->kind != 0 && r->enter != 0 && r->leave == 0) {
        r->kind = SL_CALL;
        r->words = SL_HEAD;
        sl_done(t, r, r->enter);
    }
    end_call(t);
    return true;
}

/* sl_done keeps the record of a call. */
void sl_done(struct sl_thread *t, struct sl_record *r, uint64_t leave) {
    enum { MAY_SLEEP = 50000 }; /* ns */
    r->leave = leave;
    if (SL_UNLIKELY(leave - r->enter > MAY_SLEEP) && t->sampled_by != SL_BY_NOTHING) sl_slept(t);
    if (SL_UNLIKELY(t->count_words > 0)) sl_counters_append(t, r, true, NULL);
    sl_keep(t, r, sl_words(r));
    t->poll = NULL;
    sl_cpu_check(t, leave);
    end_call(t);
}

static uint64_t cpu_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* sl_poll_again marks the record of a test if nothing was done since an unsuccessful one. What the system and samples take of
 * a run of tests is little of its time; one that works between tests takes most of it. */
void sl_poll_again(struct sl_thread *t, struct sl_record *r) {
    enum { WORK = 20000, SHARE = 20 };
    uint64_t end = t->poll_end, now = sl_now();
    t->poll_end = 0;
    if (end != 0 && now - end < SL_POLL_GAP) {
        r->count = SL_AGAIN;
        r->enter = now; /* the call begins now */
        return;
    }
    if (end != 0) {
        uint64_t used = cpu_time() - t->poll_cpu, polled = end - t->poll_cpu_at;
        uint64_t work = t->poll_work + (used > polled ? used - polled : 0);
        if (work < WORK + (now - t->poll_begin) / SHARE) {
            t->poll_work = work;
            r->count = SL_AGAIN;
            return;
        }
    }
    t->poll_begin = now;
    t->poll_work = 0;
}

/* widen lets the record of a run of tests stand for one more: several requests are unknown ones, several messages are any. */
static void widen(struct sl_record *run, const struct sl_record *r) {
    if (run->kind == SL_COMPLETE && run->data[0] != r->data[0]) run->data[0] = 0;
    if (run->kind != SL_CALL || sl_end_of_data(run) < run->data + 3) return;
    if (run->data[1] != r->data[1]) run->data[1] = sl_pair(SL_ANYBODY, MPI_ANY_TAG);
    if (run->data[2] != r->data[2]) run->data[2] = UINT32_MAX;
}

/* sl_poll_done keeps the record of a call that found nothing, or adds it to a run of such calls. */
void sl_poll_done(struct sl_thread *t, struct sl_record *r, uint64_t leave) {
    struct sl_record *before = t->poll;
    t->poll_end = leave;
    if (leave - t->poll_cpu_at >= SL_POLL_GAP) { /* it takes longer than all else here */
        t->poll_cpu = cpu_time();
        t->poll_cpu_at = leave;
    }
    bool again = r->enter - (before == NULL ? 0 : before->leave) < SL_POLL_GAP || (r->count & SL_AGAIN) != 0;
    if (before != NULL && before->function == r->function && before->path == r->path && again) {
        before->count++;
        before->leave = leave;
        widen(before, r);
        if (SL_UNLIKELY(t->count_words > 0)) sl_counters_again(t, before);
        r->kind = 0; /* not a record */
        end_call(t);
        return;
    }
    r->leave = leave;
    bool kept = (uint8_t *)r == t->events.next;
    if (SL_UNLIKELY(t->count_words > 0)) sl_counters_append(t, r, true, NULL);
    sl_keep(t, r, sl_words(r));
    t->poll = kept ? r : NULL;
    end_call(t);
}

/* size_of is the size of a type. MPI's own types keep their handles and sizes, and no other type ever has such a handle: they are
 * asked for once. */
static int64_t size_of(MPI_Datatype type) {
    enum { SLOTS = 64 };
    static __thread struct { MPI_Datatype type; int64_t size; } known[SLOTS] __attribute__((tls_model("initial-exec")));
    __typeof__(&known[0]) k = &known[((uintptr_t)type * 0x9e3779b97f4a7c15u) >> 58];
    if (SL_LIKELY(k->type == type && k->size >= 0)) return k->size;
    MPI_Count size = 0;
    PMPI_Type_size_x(type, &size);
    if (k->type != type) {
        k->type = type;
        k->size = sl_predefined(type) ? (int64_t)size : -1;
    }
    return size < 0 ? 0 : size;
}

int64_t sl_bytes(int64_t count, MPI_Datatype type) {
    return count <= 0 || type == MPI_DATATYPE_NULL ? 0 : count * size_of(type);
}

/* sl_received is the number of bytes that came with a message. */
int64_t sl_received(const MPI_Status *status) {
    int n = 0;
    PMPI_Get_count(status, MPI_BYTE, &n);
    if (SL_LIKELY(n != MPI_UNDEFINED)) return n;
    MPI_Count wide = 0;
    PMPI_Get_elements_x(status, MPI_BYTE, &wide);
    return wide < 0 ? 0 : (int64_t)wide;
}

void sl_put(struct sl_thread *t, struct sl_record *r, int64_t bytes, int peer, int tag, MPI_Comm comm) {
    r->data[0] = (uint64_t)bytes;
    r->data[1] = sl_pair(sl_peer(peer), tag);
    r->data[2] = sl_comm(t, comm)->id;
}

bool sl_took(int result) {
    int class = MPI_SUCCESS;
    return result == MPI_SUCCESS || (PMPI_Error_class(result, &class) == MPI_SUCCESS && class == MPI_ERR_TRUNCATE);
}

bool sl_pending(int result, const MPI_Status *status) {
    int class = MPI_SUCCESS;
    return result == MPI_ERR_IN_STATUS && PMPI_Error_class(status->MPI_ERROR, &class) == MPI_SUCCESS && class == MPI_ERR_PENDING;
}

/* sl_got fills in what a blocking receive brought. */
void sl_got(uint64_t *data, int result, const MPI_Status *s) {
    if (!sl_took(result)) {
        data[0] = 0;
        data[1] = sl_pair(SL_NOBODY, 0);
        return;
    }
    data[0] = (uint64_t)sl_received(s);
    data[1] = sl_pair(sl_peer(s->MPI_SOURCE), s->MPI_TAG);
}

struct sl_record *sl_collective(struct sl_thread *t, uint16_t fn, struct sl_frame frame,
                                              const struct sl_comm *c, int root, int64_t sent, int64_t received, uint32_t counts) {
    struct sl_record *r = sl_call(t, SL_COLLECTIVE, fn, SL_HEAD + 4 + counts, frame);
    r->data[0] = (uint64_t)sent;
    r->data[1] = (uint64_t)received;
    r->data[2] = sl_pair(root, (int32_t)c->id);
    r->data[3] = 0;
    return r;
}

/* sl_define_counts keeps the bytes by peer of a persistent collective; 0 if it has none. */
int32_t sl_define_counts(struct sl_thread *t, const struct sl_record *r) {
    static _Atomic int32_t last;
    uint32_t n = r->words - SL_HEAD - 4;
    if (n == 0) return 0;
    int32_t number = atomic_fetch_add(&last, 1) + 1;
    sl_define(t, SL_DEF_COUNTS, (uint32_t)number, r->data + 4, n);
    return number;
}

/* sl_fill stores sizes by peer and returns their sum. */
int64_t sl_fill_int(uint64_t *data, const int *counts, int n, int64_t size) {
    int64_t sum = 0;
    if (counts == NULL) n = 0;
    for (int i = 0; i < n; i++) {
        data[i] = (uint64_t)(counts[i] * size);
        sum += counts[i] * size;
    }
    return sum;
}

int64_t sl_fill_wide(uint64_t *data, const MPI_Count *counts, int n, int64_t size) {
    int64_t sum = 0;
    if (counts == NULL) n = 0;
    for (int i = 0; i < n; i++) {
        data[i] = (uint64_t)counts[i] * (uint64_t)size;
        sum += (int64_t)counts[i] * size;
    }
    return sum;
}

/* next_batch makes room in a record of completed or started requests. */
static void next_batch(struct sl_thread *t, struct sl_record **r) {
    struct sl_record *full = *r;
    if (full->words < SL_HEAD + 1 + SL_DONE_WORDS * SL_BATCH) return;
    uint16_t kind = full->kind, function = full->function;
    uint32_t path = full->path;
    uint64_t enter = full->enter, leave = full->leave;
    full->data[0] |= SL_MORE;
    if (SL_UNLIKELY(t->count_words > 0)) sl_counters_append(t, full, true, NULL);
    sl_keep(t, full, sl_words(full));
    *r = sl_head(sl_room(t, SL_HEAD + 1 + SL_DONE_WORDS * SL_BATCH), kind, function, SL_HEAD + 1, path, enter);
    (*r)->data[0] = 0;
    (*r)->leave = leave;
}

static void append(struct sl_thread *t, struct sl_record **r, const struct sl_request *q, uint64_t what, uint64_t peer, int64_t sent, int64_t received) {
    next_batch(t, r);
    uint64_t *d = (uint64_t *)(*r) + (*r)->words;
    d[0] = q->id;
    d[1] = (uint64_t)q->comm << 32 | (uint64_t)q->function << 16 | (q->unseen ? SL_UNSEEN : 0) | (q->owner == t ? 0 : SL_FOREIGN) | what;
    d[2] = peer;
    d[3] = (uint64_t)sent;
    d[4] = (uint64_t)received;
    (*r)->words += SL_DONE_WORDS;
    if (SL_UNLIKELY(q->unseen) && q->owner != t && (what & 0xff) == SL_REQ_RECV) sl_skips_take(t, q->owner, d);
}

/* sl_complete adds a completed request to a record: the bytes that were sent (of a partitioned receive its channel, of a communicator
 * that was made its number plus 1) and received. */
void sl_complete(struct sl_thread *t, struct sl_record **r, const MPI_Request handle, const MPI_Status *status) {
    struct sl_request q;
    if (!sl_request_take(handle, &q)) return;
    int cancelled = 0;
    uint64_t peer = sl_pair(q.peer, q.tag);
    switch (q.kind) {
    case SL_REQ_COLLECTIVE: append(t, r, &q, SL_REQ_COLLECTIVE, peer, q.made == NULL ? q.sent : sl_comm_made(t, &q), q.received); return;
    case SL_REQ_PARTS: append(t, r, &q, SL_REQ_SEND, peer, q.sent, 0); return;
    case SL_REQ_FROM_PARTS: append(t, r, &q, SL_REQ_RECV, peer, q.channel, q.received); return;
    case SL_REQ_BOTH:
        if (q.peer >= 0) append(t, r, &q, SL_REQ_SEND | SL_HALF, peer, q.sent, 0);
        q.unseen = q.unseen && !q.pending;
        sl_both_received(&q, status, &peer, &q.received);
        append(t, r, &q, SL_REQ_RECV, peer, 0, q.received);
        return;
    case SL_REQ_SEND:
    case SL_REQ_RECV: PMPI_Test_cancelled(status, &cancelled); break;
    default: break;
    }
    if (q.kind == SL_REQ_RECV && !cancelled)
        append(t, r, &q, SL_REQ_RECV, sl_pair(sl_peer(status->MPI_SOURCE), status->MPI_TAG), 0, sl_received(status));
    else
        append(t, r, &q, q.kind | (cancelled ? SL_CANCELLED : 0), peer, q.sent, q.received);
}

void sl_waits_for(struct sl_record *r, int count, const MPI_Request *handles) {
    uint64_t known = 0;
    for (int i = 0; i < count; i++) {
        uint64_t id = sl_request_id(handles[i]);
        if (id != 0 && ++known <= SL_DONE_WORDS * SL_BATCH) r->data[known] = id;
    }
    r->data[0] = known;
    r->words += known < SL_DONE_WORDS * SL_BATCH ? (uint32_t)known : SL_DONE_WORDS * SL_BATCH;
}

void sl_started(struct sl_thread *t, struct sl_record **r, MPI_Request handle) {
    struct sl_request q;
    if (!sl_request_start(handle, &q) || q.kind == SL_REQ_PARTS) return; /* its last partition is the send */
    bool parts = q.kind == SL_REQ_FROM_PARTS;
    append(t, r, &q, parts ? SL_REQ_RECV : q.kind, sl_pair(q.peer, q.tag), parts ? q.channel : q.sent, q.received);
}

/* grown makes room for n things, which may grow to twice that. */
static void *grown(void *old, size_t *room, int n, size_t size) {
    if ((size_t)n <= *room) return old;
    free(old);
    *room = (size_t)n * 2;
    void *p = malloc(*room * size);
    if (p == NULL) abort();
    return p;
}

/* sl_copy_handles keeps what a call is going to overwrite. */
MPI_Request *sl_copy_handles(struct sl_thread *t, int count, const MPI_Request *handles) {
    bool own = handles == t->handles;
    t->handles = grown(t->handles, &t->handles_room, count < 1 ? 1 : count, sizeof *t->handles);
    if (handles == NULL)
        for (int i = 0; i < count; i++) t->handles[i] = MPI_REQUEST_NULL;
    else if (count > 0 && !own) memcpy(t->handles, handles, (size_t)count * sizeof *handles);
    return t->handles;
}

MPI_Status *sl_room_for_statuses(struct sl_thread *t, int count) {
    t->statuses = grown(t->statuses, &t->statuses_room, count < 1 ? 1 : count, sizeof *t->statuses);
    return t->statuses;
}

/* sl_room_for_fortran is room for n integers. */
MPI_Fint *sl_room_for_fortran(struct sl_thread *t, int n) {
    t->fortran = grown(t->fortran, &t->fortran_room, n < 1 ? 1 : n, sizeof *t->fortran);
    return t->fortran;
}

/* sl_look_again learns about libraries that were loaded meanwhile, a few times only: code without a module may also be
 * made at run time. */
void sl_look_again(void) {
    static _Atomic int left = 64;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    atomic_store(&sl_modules_stale, false);
    if (atomic_fetch_sub(&left, 1) <= 0) return;
    pthread_mutex_lock(&lock);
    sl_modules_load();
    pthread_mutex_unlock(&lock);
}

/* sl_between compares clocks now and then, where all ranks are together anyway. All ranks count the same calls. */
void sl_between(struct sl_thread *t, uint32_t comm, uint16_t function) {
    static uint64_t count;
    if (comm != 0 || sl_threaded || (function != SL_FN_Barrier && function != SL_FN_Allreduce)) return;
    if (++count % sl_settings.ping_every != 0) return;
    t->depth = 1;
    sl_clocks(t);
    t->depth = 0;
}
