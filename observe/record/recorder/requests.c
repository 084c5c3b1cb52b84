/* Requests by their handles. Several may have the same handle at a time: MPICH gives one handle to all sends that
 * were complete at once. The newest is found first. */
#include "requests.h"
#include <sched.h>

enum { SLOTS = 4096, BATCH = 1024 };
static struct sl_request *slots[SLOTS];
static struct sl_request *unused;
static atomic_flag lock = ATOMIC_FLAG_INIT;
static uint64_t last_id;

static void acquire(void) {
    if (!sl_threaded) return;
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire)) sched_yield();
}

static void release(void) {
    if (sl_threaded) atomic_flag_clear_explicit(&lock, memory_order_release);
}

static struct sl_request **slot_of(uintptr_t key) {
    return &slots[(key * 0x9e3779b97f4a7c15u) >> 52];
}

static struct sl_request *new_request(void) {
    if (unused == NULL) {
        struct sl_request *batch = sl_memory(BATCH * sizeof *batch);
        if (batch == NULL) return NULL;
        for (int i = 0; i < BATCH; i++) {
            batch[i].next = unused;
            unused = &batch[i];
        }
    }
    struct sl_request *r = unused;
    unused = r->next;
    return r;
}

static uint64_t add(uintptr_t key, const struct sl_request *content) {
    acquire();
    struct sl_request *r = new_request();
    uint64_t id = ++last_id;
    if (r != NULL) {
        *r = *content;
        r->key = key;
        r->id = id;
        r->owner = sl_self;
        r->unseen = sl_self != NULL && !sl_self->on;
        r->next = *slot_of(key);
        *slot_of(key) = r;
    }
    release();
    return id;
}

/* where returns the link to the entry of a handle, or to NULL. A handle may belong to a new request of another thread
 * before the thread that has completed the old one comes here: the newest of the own thread is preferred, then the oldest. */
static struct sl_request **where(uintptr_t key) {
    struct sl_request **p = slot_of(key), **oldest = NULL;
    for (; *p != NULL; p = &(*p)->next) {
        if ((*p)->key != key) continue;
        if (!sl_threaded || (*p)->owner == sl_self) return p;
        oldest = p;
    }
    return oldest == NULL ? p : oldest;
}

static void drop(struct sl_request **p) {
    struct sl_request *r = *p;
    *p = r->next;
    r->next = unused;
    unused = r;
}

uint64_t sl_request_add(MPI_Request handle, const struct sl_request *content) {
    if (handle == MPI_REQUEST_NULL) return 0;
    return add((uintptr_t)handle, content);
}

bool sl_request_take(MPI_Request handle, struct sl_request *r) {
    if (handle == MPI_REQUEST_NULL) return false;
    acquire();
    struct sl_request **p = where((uintptr_t)handle);
    bool known = *p != NULL && (*p)->active;
    if (known) {
        *r = **p;
        if (r->persistent) (*p)->active = false; else drop(p);
    }
    release();
    return known;
}

bool sl_request_look(MPI_Request handle, struct sl_request *r) {
    if (handle == MPI_REQUEST_NULL) return false;
    acquire();
    struct sl_request *found = *where((uintptr_t)handle);
    bool known = found != NULL && found->active;
    if (known) *r = *found;
    release();
    return known;
}

uint64_t sl_request_id(MPI_Request handle) {
    if (handle == MPI_REQUEST_NULL) return 0;
    acquire();
    struct sl_request *r = *where((uintptr_t)handle);
    uint64_t id = r == NULL || !r->active ? 0 : r->id;
    release();
    return id;
}

/* sl_request_moved keeps what is known of a request whose handle was changed by its start: Open MPI takes another one while the last
 * buffered message of this one is on its way. It returns the handle of now. */
MPI_Request sl_request_moved(MPI_Request before, MPI_Request now) {
    if (SL_LIKELY(before == now)) return now;
    acquire();
    struct sl_request **p = where((uintptr_t)before), *r = *p;
    if (r != NULL) {
        *p = r->next;
        r->key = (uintptr_t)now;
        r->next = *slot_of(r->key);
        *slot_of(r->key) = r;
    }
    release();
    return now;
}

bool sl_request_start(MPI_Request handle, struct sl_request *r) {
    acquire();
    struct sl_request *found = *where((uintptr_t)handle);
    if (found != NULL) {
        found->active = true;
        found->missing = found->partitions;
        found->id = ++last_id;
        found->owner = sl_self;
        found->unseen = sl_self != NULL && !sl_self->on;
        found->pending = false;
        *r = *found;
    }
    release();
    return found != NULL;
}

bool sl_request_ready(MPI_Request handle, int n, struct sl_request *r) {
    acquire();
    struct sl_request *found = *where((uintptr_t)handle);
    bool known = found != NULL && found->kind == SL_REQ_PARTS && found->active;
    if (known) {
        found->missing -= n;
        found->owner = sl_self;
        found->unseen = sl_self != NULL && !sl_self->on;
        *r = *found;
    }
    release();
    return known;
}

void sl_request_forget(MPI_Request handle) {
    acquire();
    struct sl_request **p = where((uintptr_t)handle);
    if (*p != NULL) drop(p);
    release();
}

/* sl_requests_each visits all requests. */
void sl_requests_each(void (*visit)(struct sl_request *r, void *argument), void *argument) {
    acquire();
    for (int i = 0; i < SLOTS; i++)
        for (struct sl_request *r = slots[i]; r != NULL; r = r->next) visit(r, argument);
    release();
}

/* Matched probes: the handle of the message tells the communicator. The highest bit keeps both kinds apart. */
void sl_message_add(MPI_Message handle, uint32_t comm) {
    add((uintptr_t)handle ^ (uintptr_t)1 << 63, &(struct sl_request){.comm = comm});
}

uint32_t sl_message_take(MPI_Message handle) {
    acquire();
    struct sl_request **p = where((uintptr_t)handle ^ (uintptr_t)1 << 63);
    uint32_t comm = UINT32_MAX;
    if (*p != NULL) {
        comm = (*p)->comm;
        drop(p);
    }
    release();
    return comm;
}
