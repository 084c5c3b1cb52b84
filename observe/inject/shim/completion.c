/* Completion of requests: a receive is complete for the program when its message may be delivered, not before. */
#include "calls.h"
#include <stdlib.h>

/* sent reports whether the send of MPI_Isendrecv is complete. */
static bool sent(struct entry *out) {
    int flag = 0;
    if (PMPI_Request_get_status(out->handle, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS) return true;
    inj_look_at(&out->handshake, flag);
    return flag && inj_now() >= inj_granted(&out->handshake);
}

/* push lets MPI work on a request that is not ours: MPICH's requests of files go on in calls that may complete them only, and
 * PMPI_Request_get_status is none. The second request is never complete, so that the first one is not completed here. */
static void push(MPI_Request request) {
    MPI_Request both[2] = {request, MPI_REQUEST_NULL};
    MPI_Status statuses[2];
    char nothing;
    int flag;
    if (PMPI_Irecv(&nothing, 1, MPI_BYTE, 0, INJ_NEVER, inj_own, &both[1]) != MPI_SUCCESS) return;
    PMPI_Testall(2, both, &flag, statuses);
    PMPI_Cancel(&both[1]);
    PMPI_Wait(&both[1], MPI_STATUS_IGNORE);
}

/* ready reports, without changing anything, whether a request is complete for the program. */
static bool ready(MPI_Request request) {
    struct entry *e = inj_find(request);
    MPI_Status status;
    int flag = 0;
    int result = PMPI_Request_get_status(request, &flag, &status);
    if (result == MPI_SUCCESS && !flag && e == NULL) {
        push(request);
        result = PMPI_Request_get_status(request, &flag, &status);
    }
    if (result != MPI_SUCCESS) return true; /* completing it will report why */
    if (e != NULL && e->kind == SENDS && e->active && e->handshake.until != 0) {
        inj_look_at(&e->handshake, flag);
        return flag && inj_now() >= inj_granted(&e->handshake);
    }
    if (e != NULL && e->kind == COLLECTIVE && e->active) return ready(e->running);
    if (e != NULL && e->kind == ANSWERED) return flag && inj_now() >= e->posted;
    if (e != NULL && e->sending != NULL && (!flag || !sent(e->sending))) return false;
    if (!flag || e == NULL || e->kind != RECEIVES || !e->active) return flag;
    int cancelled = 0;
    PMPI_Test_cancelled(&status, &cancelled);
    if (cancelled || inj_status_bytes(&status) < HEAD) return true;
    const struct head *h = e->bounce != NULL ? (const struct head *)e->bounce : &e->head;
    return inj_now() >= inj_release(h, e->posted);
}

/* waiting reports whether a request is one that can become complete: neither null nor persistent and not started. */
static bool waiting(MPI_Request request) {
    if (request == MPI_REQUEST_NULL) return false;
    struct entry *e = inj_find(request);
    return e == NULL || e->active;
}

static void work(void) {
    inj_orphans_poll();
    if (inj_busy()) inj_progress();
}

/* done ends an entry whose request is complete. */
static int64_t done(struct entry *e, MPI_Status *status, int result) {
    if (e == NULL) return 0;
    int64_t release = inj_finish(e, status, result);
    if (!e->persistent) inj_drop(e);
    return release;
}

/* complete_one completes a request that is ready. */
static int complete_one(MPI_Request *request, MPI_Status *status) {
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE) status = &own;
    struct entry *e = inj_take(*request);
    int result = PMPI_Wait(request, status);
    inj_hold(done(e, status, result));
    return result;
}

/* look notes whether a send with a handshake is complete before a call that waits for it. */
static void look(MPI_Request request) {
    struct entry *e = inj_find(request);
    if (e != NULL && e->kind == SENDS && e->active && e->handshake.until != 0) ready(request);
}

/* What lacks an argument goes to MPI, which says so. */
int inj_Wait(MPI_Request *request, MPI_Status *status) {
    work();
    if (request == NULL) return PMPI_Wait(request, status);
    look(*request);
    if (inj_busy())
        while (!ready(*request)) inj_relax(0);
    return complete_one(request, status);
}

int inj_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    work();
    if (request == NULL || flag == NULL || inj_find(*request) == NULL || !waiting(*request)) return PMPI_Test(request, flag, status);
    *flag = ready(*request);
    return *flag ? complete_one(request, status) : MPI_SUCCESS;
}

int inj_Request_get_status(MPI_Request request, int *flag, MPI_Status *status) {
    MPI_Status own;
    work();
    struct entry *e = inj_find(request);
    bool sends = e != NULL && e->kind == SENDS && e->handshake.until != 0;
    bool own_rules = sends || (e != NULL && (e->kind == ANSWERED || e->kind == COLLECTIVE));
    if (e == NULL || flag == NULL || !e->active || (e->kind != RECEIVES && !own_rules)) return PMPI_Request_get_status(request, flag, status);
    *flag = ready(request);
    if (!*flag) return MPI_SUCCESS;
    if (own_rules) return PMPI_Request_get_status(request, flag, status);
    if (status == MPI_STATUS_IGNORE) status = &own;
    int result = PMPI_Request_get_status(request, flag, status), cancelled = 0;
    PMPI_Test_cancelled(status, &cancelled);
    if (!cancelled) inj_less_head(status);
    return result;
}

/* Arrays of entries and statuses: small ones on the stack. */
enum { FEW = 32 };
struct several {
    struct entry **entries, *few_entries[FEW];
    MPI_Status *statuses, few_statuses[FEW];
};

static void begin_several(struct several *s, int count, MPI_Status *statuses) {
    s->entries = count <= FEW ? s->few_entries : malloc(sizeof(struct entry *) * (size_t)count);
    s->statuses = statuses;
    if (statuses == MPI_STATUSES_IGNORE) s->statuses = count <= FEW ? s->few_statuses : malloc(sizeof(MPI_Status) * (size_t)count);
}

static void end_several(struct several *s, int count, const MPI_Status *statuses) {
    if (count <= FEW) return;
    free(s->entries);
    if (statuses == MPI_STATUSES_IGNORE) free(s->statuses);
}

/* complete_all completes requests, and returns when the last of their messages may be delivered. If all are complete, by
 * the call that the program has made: MPIs differ in what these do to statuses. */
static int complete_all(int count, MPI_Request requests[], MPI_Status statuses[], bool complete) {
    struct several s;
    int result, flag = 0;
    begin_several(&s, count, statuses);
    for (int i = 0; i < count; i++) s.entries[i] = inj_take(requests[i]);
    if (complete) while ((result = PMPI_Testall(count, requests, &flag, s.statuses)) == MPI_SUCCESS && !flag) {}
    else result = PMPI_Waitall(count, requests, s.statuses);
    int64_t last = 0;
    for (int i = 0; i < count; i++) {
        struct entry *e = s.entries[i];
        if (e == NULL) continue;
        if (result != MPI_SUCCESS && !e->persistent && requests[i] != MPI_REQUEST_NULL) {
            inj_keep(e, requests[i]); /* still pending, after an error in another one */
            continue;
        }
        int own = result == MPI_ERR_IN_STATUS ? s.statuses[i].MPI_ERROR : result;
        int64_t release = done(e, &s.statuses[i], own);
        if (release > last) last = release;
    }
    end_several(&s, count, statuses);
    inj_hold(last);
    return result;
}

static bool all_ready(int count, MPI_Request requests[]) {
    for (int i = 0; i < count; i++)
        if (waiting(requests[i]) && !ready(requests[i])) return false;
    return true;
}

int inj_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    work();
    if (count <= 0 || requests == NULL) return PMPI_Waitall(count, requests, statuses);
    for (int i = 0; i < count; i++) look(requests[i]);
    if (inj_busy())
        while (!all_ready(count, requests)) inj_relax(0);
    return complete_all(count, requests, statuses, false);
}

int inj_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
    work();
    if (count <= 0 || requests == NULL || flag == NULL) return PMPI_Testall(count, requests, flag, statuses);
    *flag = all_ready(count, requests);
    if (!*flag) { /* lets MPI work, as its own call would */
        inj_relax(0);
        return MPI_SUCCESS;
    }
    bool ours = true; /* MPICH 4.0 ends the program if requests of files that are complete are tested again */
    for (int i = 0; i < count; i++) ours = ours && (requests[i] == MPI_REQUEST_NULL || inj_find(requests[i]) != NULL);
    return complete_all(count, requests, statuses, ours);
}

/* first_ready is the first request that is complete, -1 if there is none, -2 if none ever will be. */
static int first_ready(int count, MPI_Request requests[]) {
    int found = -2;
    for (int i = 0; i < count; i++) {
        if (!waiting(requests[i])) continue;
        if (ready(requests[i])) return i;
        found = -1;
    }
    return found;
}

int inj_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status) {
    int i;
    work();
    if (count <= 0 || requests == NULL || index == NULL) return PMPI_Waitany(count, requests, index, status);
    while ((i = first_ready(count, requests)) == -1) {
        if (inj_busy() || inj_crowded) inj_relax(0);
    }
    if (i < 0) return PMPI_Waitany(0, requests, index, status);
    *index = i;
    return complete_one(&requests[i], status);
}

int inj_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
    work();
    if (count <= 0 || requests == NULL || index == NULL || flag == NULL) return PMPI_Testany(count, requests, index, flag, status);
    int i = first_ready(count, requests);
    if (i == -2) return PMPI_Testany(0, requests, index, flag, status);
    *flag = i >= 0;
    *index = i >= 0 ? i : MPI_UNDEFINED;
    return i >= 0 ? complete_one(&requests[i], status) : MPI_SUCCESS;
}

/* complete_some is complete_one by a call of the program's kind: MPIs differ in what these do to statuses. Requests of files
 * are completed by PMPI_Wait, see inj_Testall. */
static int complete_some(MPI_Request *request, MPI_Status *status) {
    int n, index;
    struct entry *e = inj_take(*request);
    if (e == NULL) return PMPI_Wait(request, status);
    int result = PMPI_Waitsome(1, request, &n, &index, status);
    if (result == MPI_ERR_IN_STATUS) result = status->MPI_ERROR;
    inj_hold(done(e, status, result));
    return result;
}

/* some completes all requests that are ready, from the first one on. */
static int some(int first, int count, MPI_Request requests[], int *found, int indices[], MPI_Status statuses[]) {
    int result = MPI_SUCCESS, n = 0;
    bool errors = false;
    for (int i = first; i < count; i++) {
        if (!waiting(requests[i]) || !ready(requests[i])) continue;
        MPI_Status own, *status = statuses == MPI_STATUSES_IGNORE ? &own : &statuses[n];
        int one = complete_some(&requests[i], status);
        if (one != MPI_SUCCESS && !errors) { /* without one, errors of statuses are left alone */
            errors = true;
            for (int k = 0; k < n && statuses != MPI_STATUSES_IGNORE; k++) statuses[k].MPI_ERROR = MPI_SUCCESS;
        }
        if (errors) status->MPI_ERROR = one;
        indices[n++] = i;
    }
    *found = n;
    if (errors) result = MPI_ERR_IN_STATUS;
    return result;
}

int inj_Waitsome(int count, MPI_Request requests[], int *found, int indices[], MPI_Status statuses[]) {
    int i;
    work();
    if (count <= 0 || requests == NULL || found == NULL) return PMPI_Waitsome(count, requests, found, indices, statuses);
    while ((i = first_ready(count, requests)) == -1) {
        if (inj_busy() || inj_crowded) inj_relax(0);
    }
    if (i < 0) return PMPI_Waitsome(0, requests, found, indices, statuses);
    return some(i, count, requests, found, indices, statuses);
}

int inj_Testsome(int count, MPI_Request requests[], int *found, int indices[], MPI_Status statuses[]) {
    work();
    if (count <= 0 || requests == NULL || found == NULL) return PMPI_Testsome(count, requests, found, indices, statuses);
    int i = first_ready(count, requests);
    if (i == -2) return PMPI_Testsome(0, requests, found, indices, statuses);
    *found = 0;
    return i >= 0 ? some(i, count, requests, found, indices, statuses) : MPI_SUCCESS;
}

/* A request that is freed is completed by this library: its memory is needed until then. */
int inj_Request_free(MPI_Request *request) {
    struct entry *e = request == NULL ? NULL : inj_find(*request);
    if (e == NULL || e->kind == RUNS) return PMPI_Request_free(request); /* MPI does not allow it for collectives */
    bool was = e->persistent, active = e->active;
    e->persistent = false;
    inj_take(*request);
    e->persistent = was;
    if (!active || e->kind == FOREIGN) {
        int result = PMPI_Request_free(request);
        inj_drop(e);
        return result;
    }
    if (e->sending != NULL) inj_orphan(e->sending);
    e->sending = NULL;
    inj_orphan(e);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}
