/* Requests of the program that are not finished, by their handles; memory for messages; requests that the program has
 * freed but that are not complete. */
#include "inject.h"
#include <stdlib.h>

enum { BUCKETS = 4096 };
static struct entry *buckets[BUCKETS], *free_entries, *orphans;
static atomic_int n_orphans;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static size_t bucket_of(MPI_Request handle) { return ((uintptr_t)handle * 0x9e3779b97f4a7c15u) >> 52; }

struct entry *inj_entry(enum kind kind) {
    pthread_mutex_lock(&lock);
    struct entry *e = free_entries;
    if (e != NULL) free_entries = e->next;
    pthread_mutex_unlock(&lock);
    if (e == NULL) e = malloc(sizeof *e);
    if (e == NULL) {
        inj_say("rank %d: no memory", inj_rank);
        PMPI_Abort(MPI_COMM_WORLD, 1);
        abort();
    }
    *e = (struct entry){.kind = kind, .handle = MPI_REQUEST_NULL, .running = MPI_REQUEST_NULL, .joined = MPI_DATATYPE_NULL, .active = true};
    return e;
}

void inj_keep(struct entry *e, MPI_Request handle) {
    e->handle = handle;
    struct entry **b = &buckets[bucket_of(handle)];
    pthread_mutex_lock(&lock);
    e->next = *b;
    *b = e;
    pthread_mutex_unlock(&lock);
}

static struct entry *look_up(MPI_Request handle, bool forget) {
    if (handle == MPI_REQUEST_NULL) return NULL;
    struct entry **p = &buckets[bucket_of(handle)], *e;
    pthread_mutex_lock(&lock);
    while ((e = *p) != NULL && e->handle != handle) p = &e->next;
    if (e != NULL && forget && !e->persistent) *p = e->next;
    pthread_mutex_unlock(&lock);
    return e;
}

/* inj_moved keeps an entry by the handle that its start has changed: Open MPI takes another request while the last message of this one is
 * on its way. */
void inj_moved(struct entry *e, MPI_Request handle) {
    pthread_mutex_lock(&lock);
    struct entry **p = &buckets[bucket_of(e->handle)];
    while (*p != NULL && *p != e) p = &(*p)->next;
    if (*p != NULL) *p = e->next;
    pthread_mutex_unlock(&lock);
    inj_keep(e, handle);
}

struct entry *inj_find(MPI_Request handle) { return look_up(handle, false); }
struct entry *inj_take(MPI_Request handle) { return look_up(handle, true); }

/* inj_drop frees an entry that is in no list any more. */
void inj_drop(struct entry *e) {
    if (e->bounce != NULL) inj_give_back(e->bounce, e->room);
    if (e->joined != MPI_DATATYPE_NULL) PMPI_Type_free(&e->joined);
    if (e->schedule != NULL) inj_forget(e->schedule);
    pthread_mutex_lock(&lock);
    e->next = free_entries;
    free_entries = e;
    pthread_mutex_unlock(&lock);
}

/* Memory in three sizes, kept for the next message. */
enum { SIZES = 3 };
static const size_t rooms[SIZES] = {256, 4096, BOUNCE + HEAD};
static void *free_rooms[SIZES];

void *inj_room(size_t size, size_t *room) {
    void *memory = NULL;
    for (int i = 0; i < SIZES; i++) {
        if (size > rooms[i]) continue;
        *room = rooms[i];
        pthread_mutex_lock(&lock);
        memory = free_rooms[i];
        if (memory != NULL) memcpy(&free_rooms[i], memory, sizeof(void *));
        pthread_mutex_unlock(&lock);
        return memory != NULL ? memory : malloc(rooms[i]);
    }
    *room = size;
    return malloc(size);
}

void inj_give_back(void *memory, size_t room) {
    for (int i = 0; i < SIZES; i++) {
        if (room != rooms[i]) continue;
        pthread_mutex_lock(&lock);
        memcpy(memory, &free_rooms[i], sizeof(void *));
        free_rooms[i] = memory;
        pthread_mutex_unlock(&lock);
        return;
    }
    free(memory);
}

/* inj_orphan keeps a request that the program does not wait for until it is complete. */
void inj_orphan(struct entry *e) {
    pthread_mutex_lock(&lock);
    e->next = orphans;
    orphans = e;
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&n_orphans, 1);
}

void inj_orphans_poll(void) {
    if (INJ_LIKELY(atomic_load_explicit(&n_orphans, memory_order_relaxed) == 0)) return;
    pthread_mutex_lock(&lock);
    struct entry *list = orphans, *left = NULL;
    orphans = NULL;
    pthread_mutex_unlock(&lock);
    while (list != NULL) {
        struct entry *e = list;
        list = e->next;
        int flag = 0;
        MPI_Status status;
        int result = PMPI_Test(&e->handle, &flag, &status);
        if (!flag && result == MPI_SUCCESS) {
            e->next = left;
            left = e;
            continue;
        }
        inj_finish(e, &status, result);
        if (e->handle != MPI_REQUEST_NULL) PMPI_Request_free(&e->handle); /* a persistent one */
        inj_drop(e);
        atomic_fetch_sub(&n_orphans, 1);
    }
    pthread_mutex_lock(&lock);
    while (left != NULL) {
        struct entry *e = left;
        left = e->next;
        e->next = orphans;
        orphans = e;
    }
    pthread_mutex_unlock(&lock);
}

/* inj_buffered_end waits until all buffered messages are on their way. */
void inj_buffered_end(void) {
    for (;;) {
        bool any = false;
        pthread_mutex_lock(&lock);
        for (struct entry *e = orphans; e != NULL; e = e->next) any = any || e->buffered;
        pthread_mutex_unlock(&lock);
        if (!any) return;
        inj_orphans_poll();
        inj_progress();
        inj_relax(0);
    }
}

/* inj_orphans_end gives what is left its time before MPI_Finalize; receives that never match are left. */
void inj_orphans_end(void) {
    enum { PATIENCE = 1000000000 };
    inj_buffered_end();
    int64_t start = inj_now();
    while (atomic_load(&n_orphans) > 0 && inj_now() - start < PATIENCE) inj_orphans_poll();
}

/* What MPI asks about a request of this library. */
static int query(void *outcome, MPI_Status *status) {
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    PMPI_Status_set_cancelled(status, 0);
    int result = PMPI_Status_set_elements(status, MPI_BYTE, 0);
    return result == MPI_SUCCESS && outcome != NULL ? *(int *)outcome : result;
}
static int freed(void *outcome) { free(outcome); return MPI_SUCCESS; }
static int cancel(void *outcome, int complete) { (void)outcome; (void)complete; return MPI_SUCCESS; }

/* inj_own_request makes a request that this library completes. The outcome, which ends with the request, is the result of the
 * program's call that completes it; NULL: success. */
int inj_own_request(int *outcome, MPI_Request *request) { return PMPI_Grequest_start(query, freed, cancel, outcome, request); }

int inj_done_request(MPI_Request *request) {
    int result = inj_own_request(NULL, request);
    return result == MPI_SUCCESS ? PMPI_Grequest_complete(*request) : result;
}
