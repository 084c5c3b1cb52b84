/* What is known of communicators: kept as an attribute of each, so that it ends with it. */
#include "inject.h"
#include <stdlib.h>

MPI_Comm inj_own = MPI_COMM_NULL;
static int key = MPI_KEYVAL_INVALID;
static atomic_int generation; /* changes when a communicator ends: its handle may come again */
static MPI_Group world_group = MPI_GROUP_NULL;
enum { MOST = 512 }; /* shadows at a time: MPICH has 2048 communicators in all, and most are for the program */
static atomic_int shadows;

/* inj_comm_release ends what is known of a communicator when nothing needs it any more. */
void inj_comm_release(struct comm *c) {
    if (atomic_fetch_sub(&c->references, 1) > 1) return;
    if (c->shadow != MPI_COMM_NULL) {
        PMPI_Comm_free(&c->shadow);
        atomic_fetch_sub(&shadows, 1);
    }
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

/* delay_between is the latency that the rules give two ranks; -1: nothing is injected. */
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

/* A shadow has the members of a communicator in the same order, and no attributes of the program. It is made in the same
 * way as the communicator itself, from the same parent: threads of the program may make communicators at the same time,
 * and MPI libraries bring these calls into an order by their parents. A shadow that were made from the new communicator
 * would come in between, and the threads of two ranks could wait for each other. */

static bool wanted(const struct comm *c) { return !c->inter && !c->raw && c->size > 1; }

/* room is called by all members of a communicator, which may have different numbers of shadows. */
static bool room(MPI_Comm comm) {
    int own = atomic_load(&shadows) < MOST, all = 0;
    return PMPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && all;
}

/* shadow_alone makes a shadow from the communicator itself. */
static void shadow_alone(MPI_Comm comm, struct comm *c) {
    MPI_Group group;
    if (!room(comm)) return;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_create(comm, group, &c->shadow);
    PMPI_Group_free(&group);
}

/* shadow_from makes a shadow by a call of all members of the parent, also those that are in no new communicator. */
static void shadow_from(MPI_Comm parent, MPI_Comm made, struct comm *c) {
    MPI_Comm shadow = MPI_COMM_NULL;
    int color = MPI_UNDEFINED, zero = 0;
    if (c != NULL && wanted(c) && room(made)) { /* the rank of the first member */
        MPI_Group group, all;
        PMPI_Comm_group(made, &group);
        PMPI_Comm_group(parent, &all);
        PMPI_Group_translate_ranks(group, 1, &zero, all, &color);
        PMPI_Group_free(&group);
        PMPI_Group_free(&all);
    }
    PMPI_Comm_split(parent, color, c != NULL ? c->rank : 0, &shadow);
    if (shadow != MPI_COMM_NULL) c->shadow = shadow;
}

static struct comm *learn(MPI_Comm comm) {
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
    if (!found) {
        c = learn(comm);
        if (c != NULL) c->late = wanted(c);
    }
    last.comm = comm;
    last.c = c;
    last.generation = now;
    return c;
}

_Thread_local int inj_making;

static void hide(struct comm *c) {
    if (c == NULL || c->shadow == MPI_COMM_NULL) return;
    PMPI_Comm_set_errhandler(c->shadow, MPI_ERRORS_RETURN);
    atomic_fetch_add(&shadows, 1);
}

/* inj_comm_made is called by all members of the parent when they have made communicators; without a parent, by all
 * members of the new one. */
void inj_comm_made(MPI_Comm parent, MPI_Comm made) {
    if (!atomic_load(&inj_active)) return;
    struct comm *c = made != MPI_COMM_NULL ? learn(made) : NULL, *from = inj_comm(parent);
    if (from != NULL && !from->inter && !from->raw) shadow_from(parent, made, c);
    else if (c != NULL && wanted(c)) shadow_alone(made, c);
    hide(c);
}

/* inj_group_made is called by all members of a communicator that a group has made. */
void inj_group_made(MPI_Comm parent, MPI_Group group, int tag, MPI_Comm made) {
    if (!atomic_load(&inj_active) || made == MPI_COMM_NULL) return;
    struct comm *c = learn(made);
    if (c != NULL && wanted(c) && room(made)) PMPI_Comm_create_group(parent, group, tag, &c->shadow);
    hide(c);
}

/* inj_shadow_late makes the shadow of a communicator of which we learnt only when it was used. All members do that in the
 * same collective. Where several threads may make communicators it is left undone, see above. */
void inj_shadow_late(MPI_Comm comm, struct comm *c) {
    int level = MPI_THREAD_MULTIPLE;
    PMPI_Query_thread(&level);
    c->late = false;
    if (level == MPI_THREAD_MULTIPLE) return;
    shadow_alone(comm, c);
    hide(c);
}

void inj_comms_start(void) {
    int one = 1;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL);
    PMPI_Comm_dup(MPI_COMM_SELF, &inj_own);
    PMPI_Comm_set_errhandler(inj_own, MPI_ERRORS_RETURN);
    inj_no_aliases = PMPI_Allreduce(&one, &one, 1, MPI_INT, MPI_SUM, inj_own) != MPI_SUCCESS;
    PMPI_Comm_group(MPI_COMM_WORLD, &world_group);
    struct comm *world = learn(MPI_COMM_WORLD);
    if (wanted(world)) shadow_alone(MPI_COMM_WORLD, world);
    hide(world);
    learn(MPI_COMM_SELF);
}

void inj_comms_end(void) {
    PMPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    PMPI_Comm_delete_attr(MPI_COMM_SELF, key);
    PMPI_Comm_free(&inj_own);
    PMPI_Group_free(&world_group);
    PMPI_Comm_free_keyval(&key);
}
