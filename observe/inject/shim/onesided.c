/* One-sided communication as a network with more latency would do it: docs/verbs/inject.md has the rules. Times are kept at the
 * origin; what must be known elsewhere travels in empty messages with heads, on a communicator of the window's own. */
#include "onesided.h"
#include "collectives.h"
#include <stdlib.h>

struct window {
    MPI_Comm comm;
    struct comm *c;
    int64_t *put, *got;      /* by target: when the last of what was put is there, of what was got is here; 0: nothing is pending */
    int *targets, n_targets; /* of the access epoch */
    struct entry **ends;     /* what the origins of the exposure epoch send when they complete */
    MPI_Request *requests;
    int n_ends;
};
enum { POSTED = INJ_WINDOW_TAGS, COMPLETED };

_Thread_local int inj_inside;
static int key = MPI_KEYVAL_INVALID;

void inj_windows_start(void) { PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL); }
void inj_windows_end(void) { PMPI_Win_free_keyval(&key); }

struct window *inj_window(MPI_Win win) {
    struct window *w = NULL;
    int found = 0;
    if (win == MPI_WIN_NULL || PMPI_Win_get_attr(win, key, &w, &found) != MPI_SUCCESS || !found) return NULL;
    return w;
}

static void *needed(size_t size) {
    void *p = calloc(1, size > 0 ? size : 1);
    if (p == NULL) {
        inj_say("rank %d: no memory", inj_rank);
        PMPI_Abort(MPI_COMM_WORLD, 1);
        abort();
    }
    return p;
}

void inj_window_made(MPI_Comm comm, MPI_Win win) {
    struct comm *from = inj_comm(comm);
    if (from == NULL || from->raw || from->inter || inj_window(win) != NULL) return;
    struct window *w = needed(sizeof *w);
    PMPI_Comm_split(comm, 0, from->rank, &w->comm);
    PMPI_Comm_set_errhandler(w->comm, MPI_ERRORS_RETURN);
    w->c = inj_comm(w->comm);
    w->c->late = false;
    if (w->c->size > 1) w->c->shadow = w->comm;
    w->put = needed(sizeof(int64_t) * 2 * (size_t)w->c->size);
    w->got = w->put + w->c->size;
    PMPI_Win_set_attr(win, key, w);
    inj_barrier(w->comm, NULL);
}

/* later moves a time on that several threads may move. */
static void later(int64_t *due, int64_t to) {
    int64_t old = __atomic_load_n(due, __ATOMIC_RELAXED);
    while (old < to && !__atomic_compare_exchange_n(due, &old, to, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

static int64_t taken(int64_t *due) { return __atomic_exchange_n(due, 0, __ATOMIC_RELAXED); }

static bool reached(const struct window *w, int target) {
    return w != NULL && target >= 0 && target < w->c->size && inj_delay(w->c, target) >= 0;
}

void inj_put(struct window *w, int target, int64_t bytes) {
    if (bytes > 0 && reached(w, target)) later(&w->put[target], inj_arrival(w->c, target, bytes));
}

int64_t inj_get(struct window *w, int target, int64_t sent, int64_t received) {
    if (sent + received == 0 || !reached(w, target)) return 0;
    int64_t due = inj_arrival(w->c, target, sent) + inj_answer(w->c, target, received);
    later(&w->got[target], due);
    return due;
}

void inj_answered(MPI_Request request, int64_t due) {
    if (due == 0) return;
    struct entry *e = inj_entry(ANSWERED);
    e->posted = due;
    inj_keep(e, request);
}

static int64_t latest(int64_t a, int64_t b) { return a > b ? a : b; }

/* all_done is when everything that this rank has started is done. */
static int64_t all_done(struct window *w) {
    int64_t last = 0;
    for (int i = 0; i < w->c->size; i++) last = latest(last, latest(taken(&w->put[i]), taken(&w->got[i])));
    return last;
}

void inj_fence(struct window *w) {
    if (w == NULL) return;
    inj_hold(all_done(w));
    inj_barrier(w->comm, NULL);
}

void inj_window_ends(struct window *w) { inj_fence(w); }

void inj_window_freed(struct window *w) {
    if (w == NULL) return;
    w->c->shadow = MPI_COMM_NULL; /* it is the communicator itself */
    PMPI_Comm_free(&w->comm);
    free(w->put);
    free(w->targets);
    free(w->ends);
    free(w->requests);
    free(w);
}

/* A lock asks, and is granted; the call of MPI stands between the two ways. */
void inj_lock(struct window *w, int target, int assertion) {
    if (reached(w, target) && !(assertion & MPI_MODE_NOCHECK)) inj_hold(inj_now() + inj_delay(w->c, target));
}

void inj_locked(struct window *w, int target, int assertion) {
    if (reached(w, target) && !(assertion & MPI_MODE_NOCHECK)) inj_hold(inj_now() + inj_delay_back(w->c, target));
}

/* The lock is released when everything has arrived; the answer comes back. */
void inj_unlock(struct window *w, int target) {
    if (reached(w, target)) inj_hold(latest(taken(&w->put[target]), inj_now() + inj_delay(w->c, target)));
}

void inj_unlocked(struct window *w, int target) {
    if (reached(w, target)) inj_hold(latest(taken(&w->got[target]), inj_now() + inj_delay_back(w->c, target)));
}

void inj_flushed(struct window *w, int target, int64_t enter) {
    int64_t last = 0;
    if (w == NULL) return;
    for (int i = target == INJ_ALL ? 0 : target; i < w->c->size && (target == INJ_ALL || i == target); i++) {
        if (!reached(w, i)) continue;
        int64_t put = taken(&w->put[i]);
        if (put != 0) last = latest(last, latest(put, enter + inj_delay(w->c, i)) + inj_delay_back(w->c, i));
        last = latest(last, taken(&w->got[i]));
    }
    inj_hold(last);
}

void inj_flushed_local(struct window *w, int target) {
    int64_t last = 0;
    if (w == NULL) return;
    for (int i = target == INJ_ALL ? 0 : target; i < w->c->size && (target == INJ_ALL || i == target); i++) last = latest(last, taken(&w->got[i]));
    inj_hold(last);
}

/* Epochs with groups: MPI_Win_post and MPI_Win_complete tell the other ranks by messages. An epoch inside of another one is left
 * to MPI, which refuses it: the other ranks know nothing of it. */

static int *ranks_of(struct window *w, MPI_Group group, int *n) {
    MPI_Group all;
    *n = 0;
    if (PMPI_Group_size(group, n) != MPI_SUCCESS) return NULL;
    int *own = needed(sizeof(int) * 2 * (size_t)*n), *ranks = own + *n;
    for (int i = 0; i < *n; i++) own[i] = i;
    PMPI_Comm_group(w->comm, &all);
    PMPI_Group_translate_ranks(group, *n, own, all, ranks);
    PMPI_Group_free(&all);
    memmove(own, ranks, sizeof(int) * (size_t)*n);
    return own;
}

/* tell sends an empty message that is not delivered before a time. */
static void tell(struct window *w, int to, int tag, int64_t due) {
    struct entry *e = inj_entry(SENDS);
    e->bounce = inj_room(HEAD, &e->room);
    inj_stamp_late((struct head *)e->bounce, w->c, to, due);
    if (RAW(Isend)(e->bounce, RAW_COUNT(HEAD), MPI_BYTE, to, tag, w->comm, &e->handle) == MPI_SUCCESS) inj_orphan(e);
    else inj_drop(e);
}

static void expect(struct window *w, int from, int tag, struct entry **e, MPI_Request *request) {
    *e = NULL;
    *request = MPI_REQUEST_NULL;
    inj_irecv(NULL, 0, MPI_BYTE, from, tag, w->comm, e, request);
}

/* told waits for messages, or finds out whether they are there and may be delivered. */
static bool told(struct entry **entries, MPI_Request *requests, int n, bool wait) {
    int64_t last = 0;
    for (int i = 0; i < n; i++) {
        MPI_Status status;
        int flag = 0;
        if (entries[i] == NULL) continue;
        while (PMPI_Request_get_status(requests[i], &flag, &status) == MPI_SUCCESS && !flag) {
            if (!wait) return false;
            inj_relax(0);
        }
        int64_t due = inj_release((struct head *)entries[i]->bounce, 0);
        if (!wait && inj_now() < due) return false;
        last = latest(last, due);
    }
    for (int i = 0; i < n; i++) {
        MPI_Status status;
        if (entries[i] == NULL) continue;
        int result = PMPI_Wait(&requests[i], &status);
        inj_finish(entries[i], &status, result);
        inj_drop(entries[i]);
        entries[i] = NULL;
    }
    inj_hold(last);
    return true;
}

void inj_post(struct window *w, MPI_Group origins) {
    int n, *ranks = w == NULL || w->n_ends > 0 ? NULL : ranks_of(w, origins, &n);
    if (ranks == NULL) return;
    w->ends = realloc(w->ends, sizeof *w->ends * (size_t)(n + 1));
    w->requests = realloc(w->requests, sizeof *w->requests * (size_t)(n + 1));
    w->n_ends = w->ends != NULL && w->requests != NULL ? n : 0;
    for (int i = 0; i < w->n_ends; i++) {
        expect(w, ranks[i], COMPLETED, &w->ends[i], &w->requests[i]);
        tell(w, ranks[i], POSTED, 0);
    }
    free(ranks);
}

void inj_start(struct window *w, MPI_Group targets) {
    int n, *ranks = w == NULL || w->n_targets > 0 ? NULL : ranks_of(w, targets, &n);
    if (ranks == NULL) return;
    free(w->targets);
    w->targets = ranks;
    w->n_targets = n;
    struct entry **entries = needed(sizeof *entries * (size_t)n);
    MPI_Request *requests = needed(sizeof *requests * (size_t)n);
    for (int i = 0; i < n; i++) expect(w, ranks[i], POSTED, &entries[i], &requests[i]);
    told(entries, requests, n, true);
    free(entries);
    free(requests);
}

void inj_complete(struct window *w) {
    for (int i = 0; w != NULL && i < w->n_targets; i++) tell(w, w->targets[i], COMPLETED, taken(&w->put[w->targets[i]]));
}

void inj_completed(struct window *w) {
    int64_t last = 0;
    for (int i = 0; w != NULL && i < w->n_targets; i++) last = latest(last, taken(&w->got[w->targets[i]]));
    if (w != NULL) w->n_targets = 0;
    inj_hold(last);
}

bool inj_exposed(struct window *w, bool wait) {
    if (w == NULL) return true;
    if (!told(w->ends, w->requests, w->n_ends, wait)) {
        inj_relax(0);
        return false;
    }
    w->n_ends = 0;
    return true;
}
