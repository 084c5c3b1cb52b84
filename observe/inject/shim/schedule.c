/* How schedules of collectives run: at once, or little by little whenever the program calls MPI. */
#include "collectives.h"
#include <stdlib.h>

atomic_int inj_running;
static struct schedule *running, **last = &running, *persistent; /* last: where the next one that runs is put */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *grown(void *list, size_t size, int n, int *room) {
    if (n < *room) return list;
    *room = *room == 0 ? 16 : 2 * *room;
    list = realloc(list, size * (size_t)*room);
    if (list == NULL) {
        inj_say("rank %d: no memory", inj_rank);
        PMPI_Abort(MPI_COMM_WORLD, 1);
        abort();
    }
    return list;
}

static void add(struct schedule *s, struct step step) {
    s->steps = grown(s->steps, sizeof step, s->n_steps, &s->room_steps);
    s->steps[s->n_steps++] = step;
}

void inj_add_send(struct schedule *s, const void *buf, MPI_Count count, MPI_Datatype type, int peer) {
    add(s, (struct step){.kind = STEP_SEND, .from = buf, .count = count, .type = type, .peer = peer});
}

void inj_add_receive(struct schedule *s, void *buf, MPI_Count count, MPI_Datatype type, int peer) {
    add(s, (struct step){.kind = STEP_RECEIVE, .to = buf, .count = count, .type = type, .peer = peer});
}

void inj_add_copy(struct schedule *s, const void *from, MPI_Count count, MPI_Datatype type, void *to, MPI_Count to_count, MPI_Datatype to_type) {
    add(s, (struct step){.kind = STEP_COPY, .from = from, .count = count, .type = type, .to = to, .to_count = to_count, .to_type = to_type});
}

void inj_add_reduce(struct schedule *s, const void *from, void *to, MPI_Count count, MPI_Datatype type, MPI_Op op) {
    add(s, (struct step){.kind = STEP_REDUCE, .from = from, .to = to, .count = count, .type = type, .op = op});
    s->op = op;
}

void inj_add_end(struct schedule *s) { add(s, (struct step){.kind = STEP_END}); }

void *inj_memory(struct schedule *s, int64_t bytes) {
    void **list = realloc(s->memory, sizeof(void *) * (size_t)(s->n_memory + 1));
    void *m = malloc((size_t)(bytes > 0 ? bytes : 1));
    if (list == NULL || m == NULL) {
        inj_say("rank %d: no memory", inj_rank);
        PMPI_Abort(MPI_COMM_WORLD, 1);
        abort();
    }
    s->memory = list;
    s->memory[s->n_memory++] = m;
    return m;
}

void *inj_elements(struct schedule *s, MPI_Count count, MPI_Datatype type) {
    MPI_Aint low = 0, extent = 0, true_low = 0, true_extent = 0;
    PMPI_Type_get_extent(type, &low, &extent);
    PMPI_Type_get_true_extent(type, &true_low, &true_extent);
    int64_t span = true_extent + (count > 0 ? count - 1 : 0) * (extent > 0 ? extent : -extent);
    char *m = inj_memory(s, span);
    return m - true_low - (extent < 0 ? (count - 1) * extent : 0);
}

MPI_Datatype inj_type(struct schedule *s, MPI_Datatype type) {
    int64_t size;
    if (!s->later || type == MPI_DATATYPE_NULL || inj_plain(type, &size)) return type;
    MPI_Datatype *list = realloc(s->types, sizeof(MPI_Datatype) * (size_t)(s->n_types + 1)), copy;
    if (list == NULL) return type;
    s->types = list;
    if (PMPI_Type_dup(type, &copy) != MPI_SUCCESS) return type;
    s->types[s->n_types++] = copy;
    return copy;
}

static _Thread_local int own_tag = -1; /* of the persistent collective that is being started */

struct schedule *inj_begin(MPI_Comm comm, bool later) {
    struct comm *c = inj_comm(comm);
    inj_orphans_poll();
    if (c != NULL && c->late && !later) inj_shadow_late(comm, c);
    if (c == NULL || c->shadow == MPI_COMM_NULL) return NULL;
    struct schedule *s = calloc(1, sizeof *s);
    if (s == NULL) return NULL;
    s->comm = c;
    atomic_fetch_add(&c->references, 1);
    s->tag = own_tag >= 0 ? own_tag : (int)((unsigned)atomic_fetch_add(&c->sequence, 1) % INJ_TAGS);
    s->rank = c->rank;
    s->size = c->size;
    s->later = later;
    s->op = MPI_OP_NULL;
    s->request = MPI_REQUEST_NULL;
    return s;
}

static void unlist(struct schedule *s) {
    pthread_mutex_lock(&lock);
    struct schedule **p = &persistent;
    while (*p != NULL && *p != s) p = &(*p)->next;
    if (*p != NULL) *p = s->next;
    pthread_mutex_unlock(&lock);
}

void inj_forget(struct schedule *s) {
    if (s->start != NULL) unlist(s);
    for (int i = 0; i < s->n_memory; i++) free(s->memory[i]);
    for (int i = 0; i < s->n_types; i++) PMPI_Type_free(&s->types[i]);
    free(s->memory);
    free(s->types);
    free(s->steps);
    free(s->requests);
    free(s->entries);
    inj_comm_release(s->comm);
    free(s);
}

static void fail(struct schedule *s, int result) {
    if (s->result == MPI_SUCCESS) s->result = result;
}

static void local(struct schedule *s, const struct step *p) {
    int result;
    if (p->kind == STEP_COPY) result = inj_copy(p->from, p->count, p->type, p->to, p->to_count, p->to_type);
    else result = RAW(Reduce_local)(p->from, p->to, RAW_COUNT(p->count), p->type, p->op);
    if (result != MPI_SUCCESS) fail(s, result);
}

static void post(struct schedule *s, const struct step *p) {
    int room = s->room_requests, result;
    s->requests = grown(s->requests, sizeof *s->requests, s->n_requests, &room);
    s->entries = grown(s->entries, sizeof *s->entries, s->n_requests, &s->room_requests);
    struct entry **e = &s->entries[s->n_requests];
    MPI_Request *r = &s->requests[s->n_requests];
    if (p->kind == STEP_SEND) result = inj_isend(STANDARD, p->from, p->count, p->type, p->peer, s->tag, s->comm->shadow, s->comm, e, r);
    else result = inj_irecv(p->to, p->count, p->type, p->peer, s->tag, s->comm->shadow, e, r);
    if (result == MPI_SUCCESS) {
        if (p->kind == STEP_SEND) inj_look_at(&(*e)->handshake, false);
        s->n_requests++;
    } else {
        fail(s, result);
    }
}

/* next_round does what comes before the next messages, and posts those. */
static void next_round(struct schedule *s) {
    s->release = 0;
    s->arrived = false;
    s->waited = false;
    while (s->at < s->n_steps) {
        const struct step *p = &s->steps[s->at++];
        if (p->kind == STEP_END && s->n_requests > 0) return;
        if (p->kind == STEP_SEND || p->kind == STEP_RECEIVE) post(s, p);
        else if (p->kind != STEP_END) local(s, p);
    }
    if (s->n_requests == 0) s->done = true;
}

/* arrived ends the requests of a round. */
static void arrived(struct schedule *s, int result) {
    for (int i = 0; i < s->n_requests; i++) {
        MPI_Status status;
        if (s->requests[i] != MPI_REQUEST_NULL) PMPI_Wait(&s->requests[i], &status); /* after an error in another one */
    }
    if (result != MPI_SUCCESS) fail(s, result);
    for (int i = 0; i < s->n_requests; i++) inj_drop(s->entries[i]);
    s->n_requests = 0;
    s->arrived = true;
}

static void take_in(struct schedule *s, const MPI_Status *statuses, int result) {
    for (int i = 0; i < s->n_requests; i++) {
        MPI_Status status = statuses[i];
        int64_t release = inj_finish(s->entries[i], &status, result);
        if (release > s->release) s->release = release;
    }
    arrived(s, result);
}

static MPI_Status *statuses_for(struct schedule *s, MPI_Status *few, int n) {
    return s->n_requests <= n ? few : malloc(sizeof(MPI_Status) * (size_t)s->n_requests);
}

/* step goes on as far as it can without waiting. */
enum { FEW = 32 };
static void step(struct schedule *s) {
    while (!s->done) {
        if (!s->arrived && s->n_requests > 0) {
            MPI_Status few[FEW], *statuses = statuses_for(s, few, FEW);
            int flag = 0, result = PMPI_Testall(s->n_requests, s->requests, &flag, statuses);
            if (flag || result != MPI_SUCCESS) take_in(s, statuses, result);
            if (statuses != few) free(statuses);
            if (!s->arrived) return;
        }
        if (s->release != 0 && inj_now() < s->release) {
            s->waited = true;
            return;
        }
        if (s->release != 0) inj_add(s->waited ? &inj_report->held : &inj_report->passed, 1);
        next_round(s);
    }
}

/* inj_progress goes on with collectives that the program has started. */
void inj_progress(void) {
    if (pthread_mutex_trylock(&lock) != 0) return;
    for (struct schedule **p = &running; *p != NULL;) {
        struct schedule *s = *p;
        step(s);
        if (!s->done) {
            p = &s->next;
            continue;
        }
        *p = s->next;
        if (last == &s->next) last = p;
        atomic_fetch_sub(&inj_running, 1);
        *s->outcome = s->result;
        PMPI_Grequest_complete(s->request);
        inj_forget(s);
    }
    pthread_mutex_unlock(&lock);
}

/* inj_drain is called before a call that blocks inside of MPI, where collectives of the program do not go on. It waits for
 * them, but not for long: they may need what that call does. */
void inj_drain(void) {
    enum { PATIENCE = 1000000000 };
    int64_t start = inj_now();
    inj_orphans_poll();
    while (inj_busy() && inj_now() - start < PATIENCE) inj_relax(0);
}

/* run does a blocking collective. */
static void run(struct schedule *s) {
    while (!s->done) {
        if (s->n_requests > 0 && !inj_busy()) {
            MPI_Status few[FEW], *statuses = statuses_for(s, few, FEW);
            int result = PMPI_Waitall(s->n_requests, s->requests, statuses);
            take_in(s, statuses, result);
            if (statuses != few) free(statuses);
        } else if (s->n_requests > 0) {
            MPI_Status few[FEW], *statuses = statuses_for(s, few, FEW);
            int flag = 0, result = PMPI_Testall(s->n_requests, s->requests, &flag, statuses);
            if (flag || result != MPI_SUCCESS) take_in(s, statuses, result);
            if (statuses != few) free(statuses);
            if (!s->arrived) inj_relax(0);
        }
        if (s->arrived) {
            inj_hold(s->release);
            next_round(s);
        }
    }
}

/* inj_end makes MPI go on with nothing if the collective only starts: MPI does not do so either, and Open MPI waits for ever
 * when ranks do it differently often between several MPI_Comm_idup of one communicator. */
int inj_end(struct schedule *s, MPI_Comm comm, MPI_Request *request) {
    inj_add_end(s);
    next_round(s);
    if (request == NULL) {
        run(s);
        int result = s->result;
        inj_forget(s);
        if (result != MPI_SUCCESS) PMPI_Comm_call_errhandler(comm, result);
        return result;
    }
    s->outcome = calloc(1, sizeof *s->outcome);
    int result = s->outcome == NULL ? MPI_ERR_NO_MEM : inj_own_request(s->outcome, &s->request);
    if (result != MPI_SUCCESS) return result;
    *request = s->request;
    struct entry *e = inj_entry(RUNS);
    inj_keep(e, *request);
    pthread_mutex_lock(&lock);
    *last = s;
    last = &s->next;
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&inj_running, 1);
    return MPI_SUCCESS;
}

/* inj_op_needed reports whether a running collective needs an operation that the program frees; it then stays. */
bool inj_op_needed(MPI_Op op) {
    bool needed = false;
    pthread_mutex_lock(&lock);
    for (struct schedule *s = running; s != NULL; s = s->next) needed = needed || s->op == op;
    for (struct schedule *s = persistent; s != NULL; s = s->next) needed = needed || s->op == op;
    pthread_mutex_unlock(&lock);
    return needed;
}

/* Persistent collectives. The request of the program is one of MPI's that stays inactive: it is only a name. Ranks make them in the same
 * order, but may start them in any, so that each has a tag of its own. */

struct schedule *inj_persistent(MPI_Comm comm, int function, inj_starter *start, size_t arguments) {
    struct schedule *s = inj_begin(comm, false);
    if (s == NULL) return NULL;
    s->later = true;
    s->tag = INJ_TAGS + (int)((unsigned)atomic_fetch_add(&s->comm->kept, 1) % (INJ_WINDOW_TAGS - INJ_TAGS));
    s->function = function;
    s->start = start;
    s->arguments = inj_memory(s, (int64_t)arguments);
    return s;
}

void *inj_copied(struct schedule *s, const void *from, int64_t bytes) {
    return bytes > 0 ? memcpy(inj_memory(s, bytes), from, (size_t)bytes) : NULL;
}

MPI_Datatype *inj_types(struct schedule *s, const MPI_Datatype *from, int n) {
    MPI_Datatype *list = inj_copied(s, from, (int64_t)sizeof(MPI_Datatype) * n);
    for (int i = 0; i < n; i++) list[i] = inj_type(s, list[i]);
    return list;
}

int inj_persistent_made(struct schedule *s, MPI_Op op, MPI_Comm comm, MPI_Request *request) {
    int result = PMPI_Send_init(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, comm, request);
    if (result != MPI_SUCCESS) return result;
    struct entry *e = inj_entry(COLLECTIVE);
    e->to = comm;
    e->persistent = true;
    e->active = false;
    e->schedule = s;
    s->op = op;
    inj_keep(e, *request);
    pthread_mutex_lock(&lock);
    s->next = persistent;
    persistent = s;
    pthread_mutex_unlock(&lock);
    return result;
}

int inj_start_collective(struct entry *e) {
    const struct schedule *s = e->schedule;
    own_tag = s->tag;
    int result = s->start(s->arguments, &e->running);
    own_tag = -1;
    if (result == MPI_SUCCESS) inj_count_replaced(s->function);
    if (result != INJ_LEFT) return result;
    PMPI_Comm_call_errhandler(e->to, MPI_ERR_ARG); /* arguments that MPI would have refused */
    return MPI_ERR_ARG;
}
