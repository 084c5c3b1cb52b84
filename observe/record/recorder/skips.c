/* What was not recorded, by number.
 *
 * Recording may be off, and a ring overwrites its oldest chunks: at each rank from and to another moment. Messages and
 * collectives find their partners by their number among all of their channel or communicator, so those that were not
 * kept are counted: while recording is off as they come, in a ring when their chunk is overwritten. Nothing is counted
 * for records that are kept; the collector does that.
 *
 * On a channel, receives count in the order in which they were posted, and which channel a receive belongs to is known when it
 * is complete. So those that are pending are kept in order, and each holds the counts of complete ones that were posted
 * after it and before the next pending one.
 *
 * The counts of a ring are in a file, so that whatever ends the process leaves them. Each entry also has the count that
 * it had before the chunk that is being counted: if that chunk is still there, the collector takes those. */
#include "skips.h"
#include "calls.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FIRST_ROOM = 1 << 10, MOST_ROOM = 1 << 21 };
#define SL_SKIPS_MAGIC 0x31737069736b6cULL

struct entry {
    uint32_t kind, comm; /* comm of a frame: the kind of its record */
    int32_t peer, tag;   /* tag of a frame: its depth */
    uint64_t after;      /* counts of receives: the request of the pending one before them, 0: none. Pending: the request. Frames: data */
    int64_t count, before; /* of pending ones and frames: 1, or 0 if they have gone */
    uint32_t epoch;      /* of the count; before is that of earlier ones */
    uint32_t chain;      /* in its bucket, or of those that are not in use */
    uint32_t prev, next; /* pending ones and frames in order; next: also counts of the same pending one */
    uint32_t child;      /* first count of a pending one */
    uint32_t reserved;
};

/* The first entry of a table is its head. */
struct head {
    uint64_t magic, used; /* used: entries, with this one */
    uint64_t epoch;       /* number of the chunk that is, or was last, counted, plus 1 */
    uint64_t uncounted;   /* what had no room */
    uint64_t run, whose;  /* the number of the run, rank|thread */
    uint64_t seal;        /* checksum of the entries when the thread had ended, 0: none */
    uint64_t reserved;
};

struct sl_skips {
    int fd; /* -1: in memory */
    uint64_t whose;
    struct entry *e;
    uint32_t room, unused, freed; /* freed: in this epoch, not yet to be used again */
    uint32_t *buckets, mask;
    uint32_t first, last; /* pending receives */
    uint32_t frame;       /* innermost */
    int64_t left;
    uint64_t latest; /* when the last call began that is counted */
};

static struct head *head_of(struct sl_skips *s) { return (struct head *)(void *)s->e; }

/* grow makes room for more entries; false if there is none. */
static bool grow(struct sl_skips *s) {
    uint32_t room = s->e == NULL ? FIRST_ROOM : s->room * 2;
    if (room > MOST_ROOM) return false;
    size_t bytes = (size_t)room * sizeof *s->e;
    int saved = errno;
    struct entry *e = NULL;
    if (s->fd < 0) {
        e = sl_memory(bytes);
    } else if (sl_reserve(s->fd, 0, (off_t)bytes) == 0) {
        void *p = sl_map(bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
        if (p != NULL) e = p;
    }
    uint32_t *buckets = e == NULL ? NULL : sl_memory((size_t)room * sizeof *buckets);
    errno = saved;
    if (buckets == NULL) {
        if (e != NULL) sl_unmap(e, bytes);
        return false;
    }
    if (s->e != NULL) {
        if (s->fd < 0) memcpy(e, s->e, (size_t)s->room * sizeof *e);
        sl_unmap(s->e, (size_t)s->room * sizeof *e);
        sl_unmap(s->buckets, (size_t)s->room * sizeof *buckets);
    }
    s->e = e;
    s->buckets = buckets;
    s->mask = room - 1;
    s->room = room;
    return true;
}

static uint32_t *bucket_of(struct sl_skips *s, uint32_t kind, uint32_t comm, int32_t peer, int32_t tag, uint64_t after) {
    uint64_t h = (sl_pair(peer, tag) ^ after * 0xd6e8feb86659fd93u) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32 ^ (uint64_t)comm << 8 ^ kind) * 0xd6e8feb86659fd93u;
    return &s->buckets[(h >> 32) & s->mask];
}

static uint32_t find(struct sl_skips *s, uint32_t kind, uint32_t comm, int32_t peer, int32_t tag, uint64_t after) {
    if (s->e == NULL) return 0;
    uint32_t i = *bucket_of(s, kind, comm, peer, tag, after);
    for (; i != 0; i = s->e[i].chain) {
        const struct entry *e = &s->e[i];
        if (e->kind == kind && e->comm == comm && e->peer == peer && e->tag == tag && e->after == after) return i;
    }
    return 0;
}

static void link_in(struct sl_skips *s, uint32_t i) {
    struct entry *e = &s->e[i];
    uint32_t *b = bucket_of(s, e->kind, e->comm, e->peer, e->tag, e->after);
    e->chain = *b;
    *b = i;
}

/* create adds an entry and returns its number; 0 if there is no room. */
static uint32_t create(struct sl_skips *s, uint32_t kind, uint32_t comm, int32_t peer, int32_t tag, uint64_t after) {
    uint32_t i = s->unused;
    if (i != 0) {
        s->unused = s->e[i].chain;
    } else {
        bool fresh = s->e == NULL;
        if (fresh || head_of(s)->used == s->room) {
            uint32_t before = s->room;
            if (!grow(s)) {
                if (s->e != NULL) head_of(s)->uncounted++;
                return 0;
            }
            if (fresh) {
                head_of(s)->used = 1;
                head_of(s)->run = sl_settings.run;
                head_of(s)->whose = s->whose;
                head_of(s)->magic = SL_SKIPS_MAGIC;
            }
            for (uint32_t k = 1; k < before; k++)
                if (s->e[k].kind != 0 && s->e[k].kind != SL_SKIP_FRAME && (s->e[k].chain != UINT32_MAX)) link_in(s, k);
        }
        i = (uint32_t)head_of(s)->used;
    }
    s->e[i] = (struct entry){.comm = comm, .peer = peer, .tag = tag, .after = after, .epoch = (uint32_t)head_of(s)->epoch};
    atomic_signal_fence(memory_order_seq_cst);
    s->e[i].kind = kind;
    if (i == head_of(s)->used) head_of(s)->used++;
    if (kind != SL_SKIP_FRAME) link_in(s, i);
    return i;
}

static void change(struct sl_skips *s, uint32_t i, int64_t by) {
    struct entry *e = &s->e[i];
    uint32_t epoch = (uint32_t)head_of(s)->epoch;
    if (e->epoch != epoch) {
        e->before = e->count;
        atomic_signal_fence(memory_order_seq_cst);
        e->epoch = epoch;
        atomic_signal_fence(memory_order_seq_cst);
    }
    e->count += by;
}

/* discard takes an entry out of use. In a file it must be found as it was as long as its chunk may be. */
static void discard(struct sl_skips *s, uint32_t i) {
    struct entry *e = &s->e[i];
    if (e->kind != SL_SKIP_FRAME) {
        uint32_t *p = bucket_of(s, e->kind, e->comm, e->peer, e->tag, e->after);
        while (*p != i) p = &s->e[*p].chain;
        *p = e->chain;
    }
    if (s->fd < 0) {
        e->kind = 0;
        e->chain = s->unused;
        s->unused = i;
    } else {
        change(s, i, -e->count);
        e->chain = UINT32_MAX; /* in no bucket */
        e->next = s->freed;
        s->freed = i;
    }
}

/* reuse lets the entries be used again that an earlier epoch discarded. */
static void reuse(struct sl_skips *s) {
    while (s->freed != 0) {
        struct entry *e = &s->e[s->freed];
        uint32_t next = e->next;
        e->kind = 0;
        e->chain = s->unused;
        s->unused = s->freed;
        s->freed = next;
    }
}

static void add(struct sl_skips *s, uint32_t kind, uint32_t comm, int32_t peer, int32_t tag, uint64_t after, int64_t n) {
    if (comm == UINT32_MAX || peer < 0 || n == 0) return;
    uint32_t i = find(s, kind, comm, peer, tag, after);
    if (i == 0) {
        if ((i = create(s, kind, comm, peer, tag, after)) == 0) return;
        uint32_t pending = after == 0 ? 0 : find(s, SL_SKIP_POST, 0, 0, 0, after);
        if (pending != 0) {
            s->e[i].next = s->e[pending].child;
            s->e[pending].child = i;
        }
    }
    change(s, i, n);
}

static uint64_t tail(const struct sl_skips *s) { return s->last == 0 ? 0 : s->e[s->last].after; }

static void receives(struct sl_skips *s, uint32_t comm, uint64_t channel, int64_t n) {
    add(s, SL_SKIP_RECEIVES, comm, (int32_t)(channel >> 32), (int32_t)channel, tail(s), n);
}

static void post(struct sl_skips *s, uint64_t request) {
    uint32_t i = request == 0 ? 0 : create(s, SL_SKIP_POST, 0, 0, 0, request);
    if (i == 0) return;
    s->e[i].prev = s->last;
    if (s->last != 0) s->e[s->last].next = i; else s->first = i;
    s->last = i;
    change(s, i, 1);
}

/* taken ends a pending receive: what counted after it counts after the one before it. */
static void taken(struct sl_skips *s, uint32_t i) {
    uint64_t before = s->e[i].prev == 0 ? 0 : s->e[s->e[i].prev].after;
    for (uint32_t c = s->e[i].child, next; c != 0; c = next) {
        struct entry e = s->e[c];
        next = e.next;
        discard(s, c);
        add(s, e.kind, e.comm, e.peer, e.tag, before, e.count);
    }
    struct entry *e = &s->e[i];
    if (e->prev != 0) s->e[e->prev].next = e->next; else s->first = e->next;
    if (e->next != 0) s->e[e->next].prev = e->prev; else s->last = e->prev;
    discard(s, i);
}

static void received(struct sl_skips *s, uint64_t request, uint32_t comm, uint64_t channel, bool cancelled) {
    uint32_t i = find(s, SL_SKIP_POST, 0, 0, 0, request);
    uint64_t after = i == 0 ? tail(s) : s->e[i].prev == 0 ? 0 : s->e[s->e[i].prev].after;
    if (i != 0) taken(s, i);
    if (!cancelled) add(s, SL_SKIP_RECEIVES, comm, (int32_t)(channel >> 32), (int32_t)channel, after, 1);
}

static void entered(struct sl_skips *s, uint32_t kind, uint64_t data) {
    int32_t depth = s->frame == 0 ? 0 : s->e[s->frame].tag + 1;
    uint32_t i = create(s, SL_SKIP_FRAME, kind, 0, depth, data);
    if (i == 0) return;
    s->e[i].prev = s->frame;
    s->frame = i;
    change(s, i, 1);
}

static void left(struct sl_skips *s) {
    uint32_t i = s->frame;
    if (i == 0) {
        s->left++;
        return;
    }
    s->frame = s->e[i].prev;
    discard(s, i);
}

/* completed counts a request of a record that is not kept. If it was begun while recording was on, the trace needs to know how it
 * ended, wherever recording was by then. A receive that another thread posted unseen counts there; see sl_skips_take. */
static void completed(struct sl_thread *t, struct sl_skips *s, const uint64_t *d) {
    uint32_t kind = d[1] & 0xff, comm = (uint32_t)(d[1] >> 32);
    bool cancelled = (d[1] & SL_CANCELLED) != 0;
    if (t != NULL && (d[1] & SL_UNSEEN) == 0) {
        sl_define(t, SL_LATE, 0, d, SL_DONE_WORDS);
    } else if (s == NULL || (d[1] & SL_UNSEEN && d[1] & SL_FOREIGN && kind == SL_REQ_RECV)) {
        return;
    } else if (kind == SL_REQ_RECV && d[3] == 0) { /* not partitioned */
        received(s, d[0], comm, d[2], cancelled);
    } else if (kind == SL_REQ_SEND && cancelled) {
        add(s, SL_SKIP_SENDS, comm, (int32_t)(d[2] >> 32), (int32_t)d[2], 0, -1);
    }
}

static void started(struct sl_skips *s, const uint64_t *d) {
    uint32_t kind = d[1] & 0xff, comm = (uint32_t)(d[1] >> 32);
    int32_t peer = (int32_t)(d[2] >> 32);
    if (kind == SL_REQ_SEND) add(s, SL_SKIP_SENDS, comm, peer, (int32_t)d[2], 0, 1);
    if (kind == SL_REQ_RECV && peer != SL_NOBODY && d[3] == 0) post(s, d[0]);
    if (kind == SL_REQ_COLLECTIVE) add(s, SL_SKIP_COLLECTIVES, comm, 0, 0, 0, 1);
}

/* again counts what was skipped and is dropped now. */
static void again(struct sl_skips *s, const uint64_t *d) {
    uint32_t comm = (uint32_t)d[0];
    switch (d[0] >> 32) {
    case SL_SKIP_RECEIVES: receives(s, comm, d[1], (int64_t)d[2]); break;
    case SL_SKIP_POST: post(s, d[2]); break;
    case SL_SKIP_FRAME: entered(s, comm, d[2]); break;
    case SL_SKIP_LEFT:
        for (uint64_t n = d[2]; n > 0; n--) left(s);
        break;
    default: add(s, (uint32_t)(d[0] >> 32), comm, (int32_t)(d[1] >> 32), (int32_t)d[1], 0, (int64_t)d[2]);
    }
}

static void switched(struct sl_skips *s, bool off) {
    uint32_t i = find(s, SL_SKIP_OFF, 0, 0, 0, 0);
    if (i == 0) i = create(s, SL_SKIP_OFF, 0, 0, 0, 0);
    if (i != 0) change(s, i, (off ? 1 : 0) - s->e[i].count);
}

/* count counts a record that is not kept; t is NULL if it had been kept before. */
static void count(struct sl_thread *t, struct sl_skips *s, const struct sl_record *r) {
    const uint64_t *d = r->data, *end = sl_end_of_data(r);
    switch (r->kind) {
    case SL_SENDRECV:
        if (end - d > 5) post(s, (int32_t)(d[4] >> 32) == SL_NOBODY ? 0 : d[5]);
        else receives(s, (uint32_t)d[2], d[4], 1);
        add(s, SL_SKIP_SENDS, (uint32_t)d[2], (int32_t)(d[1] >> 32), (int32_t)d[1], 0, 1);
        break;
    case SL_SEND:
        if (end - d > 4) break; /* partitioned ones are not counted: a recording that was off leaves them out */
        add(s, SL_SKIP_SENDS, (uint32_t)d[2], (int32_t)(d[1] >> 32), (int32_t)d[1], 0, 1);
        break;
    case SL_RECV: receives(s, (uint32_t)d[2], d[1], 1); break;
    case SL_POST: post(s, d[3]); break;
    case SL_COMPLETE:
        for (d++; d + SL_DONE_WORDS <= end; d += SL_DONE_WORDS) completed(t, s, d);
        break;
    case SL_START:
        for (d++; d + SL_DONE_WORDS <= end; d += SL_DONE_WORDS) started(s, d);
        break;
    case SL_COLLECTIVE: add(s, SL_SKIP_COLLECTIVES, (uint32_t)d[2], 0, 0, 0, 1); break;
    case SL_NEWCOMM: /* of its parent, or, if that is none, of its own members */
        add(s, SL_SKIP_COLLECTIVES, (uint32_t)(d[0] >> 32 == UINT32_MAX ? d[0] : d[0] >> 32), 0, 0, 0, 1);
        break;
    case SL_WINDOW:
        if ((int32_t)(d[0] >> 32) == SL_EVERYBODY) add(s, SL_SKIP_WINDOW, (uint32_t)d[0], 0, 0, 0, 1);
        break;
    case SL_FILE: add(s, SL_SKIP_FILE, (uint32_t)d[0], 0, 0, 0, 1); break;
    case SL_ENTER:
    case SL_REGION_ENTER: entered(s, r->kind, d[0]); return;
    case SL_LEAVE:
    case SL_REGION_LEAVE: left(s); return;
    case SL_OFF:
    case SL_ON: switched(s, r->kind == SL_OFF); return;
    case SL_SKIPS:
        for (; d + SL_SKIP_WORDS <= end; d += SL_SKIP_WORDS) again(s, d);
        return;
    default: return;
    }
    s->latest = r->enter;
}

enum { PATIENCE = 1000000000 }; /* ns */

/* hold waits until nobody else reads or changes what a thread has skipped, and reports whether to release it. Who left the recorder by a long
 * jump out of a signal handler, or writes a record that does not fit, holds it already; and what such a thread holds forever is taken. */
static bool hold(struct sl_thread *t) {
    struct sl_thread *none = NULL;
    if (SL_LIKELY(atomic_compare_exchange_strong_explicit(&t->skips_holder, &none, sl_self, memory_order_acquire, memory_order_relaxed)))
        return true;
    if (none == sl_self) return false;
    for (uint64_t until = sl_now() + PATIENCE; sl_now() < until; sched_yield()) {
        none = NULL;
        if (atomic_compare_exchange_weak_explicit(&t->skips_holder, &none, sl_self, memory_order_acquire, memory_order_relaxed)) return true;
    }
    atomic_store_explicit(&t->skips_holder, sl_self, memory_order_relaxed);
    return true;
}

static void release(struct sl_thread *t, bool held) {
    if (held) atomic_store_explicit(&t->skips_holder, NULL, memory_order_release);
}

static struct sl_skips *new_skips(int fd) {
    struct sl_skips *s = sl_memory(sizeof *s);
    if (s != NULL) s->fd = fd;
    return s;
}

void sl_unkept(struct sl_thread *t, const struct sl_record *r, uint32_t words) {
    if (atomic_load_explicit(&sl_over, memory_order_relaxed)) return;
    if (t->on) atomic_fetch_add_explicit(&t->events.head->bytes, (words + t->count_words) * 8u, memory_order_relaxed);
    if (sl_settings.estimate) return;
    if (t->events.closed) { /* recording has ended: only what had begun before matters */
        const uint64_t *d = r->data + 1, *end = (const uint64_t *)(const void *)r + r->words;
        for (; r->kind == SL_COMPLETE && d + SL_DONE_WORDS <= end; d += SL_DONE_WORDS) completed(t, NULL, d);
        return;
    }
    if (t->skips == NULL && (t->skips = new_skips(-1)) == NULL) return;
    bool held = hold(t);
    count(t, t->skips, r);
    release(t, held);
    if (t->on) sl_skips_keep(t, r->enter); /* one that did not fit */
}

/* sl_skips_take counts a receive, as in a record, that a thread has posted unseen and another one, t, has completed: where it was posted. If
 * its thread is just writing that down, it is defined. */
void sl_skips_take(struct sl_thread *t, struct sl_thread *owner, const uint64_t *d) {
    if (owner->events.closed || d[3] != 0 || (int32_t)(d[2] >> 32) == SL_NOBODY) return; /* not counted */
    bool held = hold(owner);
    struct sl_skips *s = owner->skips;
    bool found = s != NULL && find(s, SL_SKIP_POST, 0, 0, 0, d[0]) != 0;
    if (found) received(s, d[0], (uint32_t)(d[1] >> 32), d[2], (d[1] & SL_CANCELLED) != 0);
    release(owner, held);
    if (!found) sl_define(t, SL_LATE, 0, d, SL_DONE_WORDS);
}

/* Writing down what was skipped. */

enum { ENTRIES = 32 };

static struct sl_record *put(struct sl_thread *t, struct sl_record *r, uint64_t now, uint32_t kind, uint32_t comm, uint64_t channel, uint64_t n) {
    if (r != NULL && r->words + SL_SKIP_WORDS > SL_HEAD + ENTRIES * SL_SKIP_WORDS) {
        sl_keep(t, r, r->words);
        r = NULL;
    }
    if (r == NULL) {
        r = sl_head(sl_room_off(t, SL_HEAD + ENTRIES * SL_SKIP_WORDS), SL_SKIPS, 0, SL_HEAD, 0, now);
        r->leave = now;
    }
    uint64_t *d = (uint64_t *)(void *)r + r->words;
    d[0] = (uint64_t)kind << 32 | comm;
    d[1] = channel;
    d[2] = n;
    r->words += SL_SKIP_WORDS;
    return r;
}

static struct sl_record *put_entry(struct sl_thread *t, struct sl_record *r, uint64_t now, const struct entry *e) {
    return e->count == 0 ? r : put(t, r, now, e->kind, e->comm, sl_pair(e->peer, e->tag), (uint64_t)e->count);
}

/* seen notes that the receive of a request that is still going on is recorded, if its thread is the one that is switched on. */
static void seen(struct sl_request *q, void *thread) {
    struct sl_thread *t = thread;
    if ((q->kind != SL_REQ_RECV && q->kind != SL_REQ_BOTH) || !q->active || !q->unseen || q->owner != t) return;
    if (find(t->skips, SL_SKIP_POST, 0, 0, 0, q->id) == 0) return;
    if (q->kind == SL_REQ_BOTH) q->pending = true; else q->unseen = false;
}

/* empty starts a table in memory anew. One that did not grow is kept: a thread may need it every few calls. */
static void empty(struct sl_skips *s) {
    struct sl_skips next = {.fd = -1};
    if (s->room == FIRST_ROOM) {
        next.e = s->e;
        next.buckets = s->buckets;
        next.room = s->room;
        next.mask = s->mask;
        memset(s->e + 1, 0, (head_of(s)->used - 1) * sizeof *s->e);
        memset(s->buckets, 0, (size_t)s->room * sizeof *s->buckets);
        head_of(s)->used = 1;
    } else if (s->e != NULL) {
        sl_unmap(s->e, (size_t)s->room * sizeof *s->e);
        sl_unmap(s->buckets, (size_t)s->room * sizeof *s->buckets);
    }
    *s = next;
}

/* write_down records what was skipped until now. */
static void write_down(struct sl_thread *t, struct sl_skips *s, uint64_t now) {
    if (s->latest != 0) now = s->latest;
    struct sl_record *r = NULL;
    if (s->e != NULL) {
        uint32_t used = (uint32_t)head_of(s)->used;
        for (uint32_t i = 1; i < used; i++) {
            const struct entry *e = &s->e[i];
            if (e->kind != 0 && (e->kind < SL_SKIP_POST || e->kind > SL_SKIP_OFF) && e->after == 0) r = put_entry(t, r, now, e);
        }
        if (s->first != 0) sl_requests_each(seen, t);
        for (uint32_t i = s->first; i != 0; i = s->e[i].next) {
            r = put(t, r, now, SL_SKIP_POST, 0, 0, s->e[i].after);
            for (uint32_t c = s->e[i].child; c != 0; c = s->e[c].next) r = put_entry(t, r, now, &s->e[c]);
        }
    }
    if (s->left > 0) r = put(t, r, now, SL_SKIP_LEFT, 0, 0, (uint64_t)s->left);
    uint32_t outermost = 0; /* the order of frames is reversed; nobody needs it any more */
    for (uint32_t i = s->frame, outer; i != 0; i = outer) {
        outer = s->e[i].prev;
        s->e[i].prev = outermost;
        outermost = i;
    }
    for (uint32_t i = outermost; i != 0; i = s->e[i].prev) r = put(t, r, now, SL_SKIP_FRAME, s->e[i].comm, 0, s->e[i].after);
    empty(s);
    if (r != NULL) sl_keep(t, r, r->words);
}

/* sl_skips_keep records what a thread has skipped until now. Its time is that of the last call that was skipped: other threads may have
 * been recorded since then. Any thread may call it: one that has skipped something writes to its own file only after it was here. */
void sl_skips_keep(struct sl_thread *t, uint64_t now) {
    if (t->skips == NULL || t->events.closed) return;
    bool held = hold(t);
    write_down(t, t->skips, now);
    release(t, held);
}

/* Rings */

/* sl_skips_file makes the file in which dropped records of a ring are counted. */
struct sl_skips *sl_skips_file(struct sl_thread *t) {
    char path[1200];
    snprintf(path, sizeof path, "%s/r%d-t%d.cut", sl_settings.directory, sl_rank, t->number);
    int fd = sl_open(path, O_RDWR | O_CREAT | O_EXCL);
    struct sl_skips *s = fd < 0 ? NULL : new_skips(fd);
    if (s != NULL) s->whose = sl_pair(sl_rank, t->number);
    return s;
}

/* sl_skips_seal says that nothing more comes. */
void sl_skips_seal(struct sl_skips *s) {
    if (s == NULL || s->e == NULL) return;
    struct head *h = head_of(s);
    h->seal = sl_checksum((const uint64_t *)(const void *)(s->e + 1), (h->used - 1) * sizeof *s->e / 8, h->epoch ^ h->uncounted << 32) | 1;
}

/* sl_skips_drop counts the records of a chunk that is about to be overwritten. */
void sl_skips_drop(struct sl_skips *s, const struct sl_chunk *chunk) {
    if (s->e == NULL) { /* for the epoch */
        uint32_t i = create(s, SL_SKIP_COLLECTIVES, UINT32_MAX, 0, 0, 0);
        if (i == 0) return;
    }
    reuse(s);
    head_of(s)->seal = 0;
    atomic_signal_fence(memory_order_seq_cst);
    head_of(s)->epoch = chunk->sequence + 1;
    atomic_signal_fence(memory_order_seq_cst);
    const uint8_t *p = (const uint8_t *)(chunk + 1), *end = (const uint8_t *)chunk + atomic_load(&((struct sl_chunk *)(uintptr_t)chunk)->used);
    while (p + SL_HEAD * 8 <= end) {
        const struct sl_record *r = (const struct sl_record *)(const void *)p;
        if (r->kind == 0 || sl_words(r) < SL_HEAD || p + (size_t)sl_words(r) * 8 > end) break;
        count(NULL, s, r);
        p += (size_t)sl_words(r) * 8;
    }
}
