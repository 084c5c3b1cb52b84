/* What is known of communicators: kept as an attribute of each, so that it ends with it. */
#include "inject.h"
#include <stdlib.h>

MPI_Comm inj_own = MPI_COMM_NULL;
static int key = MPI_KEYVAL_INVALID;
static atomic_int generation; /* changes when a communicator ends: its handle may come again */
static MPI_Group world_group = MPI_GROUP_NULL;

/* inj_comm_release ends what is known of a communicator when nothing needs it any more. */
void inj_comm_release(struct comm *c) {
    if (atomic_fetch_sub(&c->references, 1) > 1) return;
    if (c->shadow != MPI_COMM_NULL) PMPI_Comm_free(&c->shadow);
    free(c->delay);
    free(c->far);
    free(c);
}

static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)comm; (void)keyval; (void)extra;
    atomic_fetch_add(&generation, 1);
    inj_comm_release(value);
    return MPI_SUCCESS;
}

/* delay_between is what the rules say of two ranks; -1: nothing is injected. */
static int64_t delay_between(int from, int to) {
    if (from == to) return -1;
    for (int i = 0; i < inj_settings.n_rules; i++) {
        const struct rule *r = &inj_settings.rules[i];
        if (from >= r->from_low && (r->from_high < 0 || from <= r->from_high) && to >= r->to_low && (r->to_high < 0 || to <= r->to_high)) return r->ns;
    }
    return -1;
}

/* look_at_members finds out whom messages reach. Processes outside of MPI_COMM_WORLD may run without this library, so that
 * messages to them carry no heads. */
static void look_at_members(MPI_Comm comm, struct comm *c) {
    MPI_Group group;
    if ((c->inter ? PMPI_Comm_remote_group(comm, &group) : PMPI_Comm_group(comm, &group)) != MPI_SUCCESS) return;
    int *own = malloc(sizeof(int) * 2 * (size_t)c->size), *world = own + c->size;
    int64_t *delay = malloc(sizeof(int64_t) * 2 * (size_t)c->size);
    if (inj_report->hosts > 1) c->far = calloc((size_t)c->size, sizeof *c->far);
    if (own == NULL || delay == NULL || (inj_report->hosts > 1 && c->far == NULL)) {
        inj_say("rank %d: no memory", inj_rank);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int i = 0; i < c->size; i++) own[i] = i;
    PMPI_Group_translate_ranks(group, c->size, own, world_group, world);
    for (int i = 0; i < c->size; i++) {
        c->raw = c->raw || world[i] == MPI_UNDEFINED;
        if (c->far != NULL && world[i] != MPI_UNDEFINED) c->far[i] = inj_hosts[world[i]] != inj_hosts[inj_rank];
        delay[i] = delay_between(inj_rank, world[i]);
        delay[c->size + i] = delay_between(world[i], inj_rank);
    }
    if (inj_settings.n_rules > 0) {
        c->delay = delay;
        c->incoming = delay + c->size;
    } else {
        free(delay);
    }
    free(own);
    PMPI_Group_free(&group);
}

static struct comm *learn(MPI_Comm comm, bool with_shadow) {
    struct comm *c = calloc(1, sizeof *c);
    if (c == NULL) return NULL;
    int inter = 0;
    PMPI_Comm_test_inter(comm, &inter);
    c->inter = inter;
    c->shadow = MPI_COMM_NULL;
    atomic_store(&c->references, 1);
    PMPI_Comm_rank(comm, &c->rank);
    if (inter) PMPI_Comm_remote_size(comm, &c->size);
    else PMPI_Comm_size(comm, &c->size);
    look_at_members(comm, c);
    if (with_shadow && !inter && !c->raw && c->size > 1) { /* attributes of the program are not copied */
        MPI_Group group;
        PMPI_Comm_group(comm, &group);
        PMPI_Comm_create(comm, group, &c->shadow);
        PMPI_Group_free(&group);
        PMPI_Comm_set_errhandler(c->shadow, MPI_ERRORS_RETURN);
    }
    PMPI_Comm_set_attr(comm, key, c);
    return c;
}

struct comm *inj_comm(MPI_Comm comm) {
    static _Thread_local struct { MPI_Comm comm; struct comm *c; int generation; } last;
    int now = atomic_load_explicit(&generation, memory_order_acquire);
    if (last.c != NULL && last.comm == comm && last.generation == now) return last.c;
    struct comm *c = NULL;
    int found = 0;
    if (comm == MPI_COMM_NULL || PMPI_Comm_get_attr(comm, key, &c, &found) != MPI_SUCCESS) return NULL;
    if (!found) c = learn(comm, false);
    last.comm = comm;
    last.c = c;
    last.generation = now;
    return c;
}

/* inj_comm_made is called by all members when they have made a communicator. */
void inj_comm_made(MPI_Comm made) {
    struct comm *there;
    int found = 0;
    if (made == MPI_COMM_NULL || !atomic_load(&inj_active)) return;
    if (PMPI_Comm_get_attr(made, key, &there, &found) != MPI_SUCCESS || !found) learn(made, true);
}

void inj_comms_start(void) {
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL);
    PMPI_Comm_dup(MPI_COMM_SELF, &inj_own);
    PMPI_Comm_group(MPI_COMM_WORLD, &world_group);
    learn(MPI_COMM_WORLD, true);
    learn(MPI_COMM_SELF, false);
}

void inj_comms_end(void) {
    PMPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    PMPI_Comm_delete_attr(MPI_COMM_SELF, key);
    PMPI_Comm_free(&inj_own);
    PMPI_Group_free(&world_group);
    PMPI_Comm_free_keyval(&key);
}
