/* Communicators: numbers for their handles, who is in them, and how they came about.
 *
 * Nothing is communicated: the collector finds that two ranks mean the same communicator from its members and from the call that made it:
 * on which communicator, and its number among the calls that MPI orders there. */
#include "comms.h"
#include "requests.h"
#include "worlds.h"
#include <stdlib.h>

enum { SLOTS = 1024, BIRTH_WORDS = 5 };
static struct sl_comm *slots[SLOTS];
static uint32_t count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
_Atomic uint32_t sl_comm_age;

static struct sl_comm **slot_of(MPI_Comm comm) {
    return &slots[((uintptr_t)comm * 0x9e3779b97f4a7c15u) >> 54];
}

static struct sl_comm *add(struct sl_thread *t, MPI_Comm comm, uint32_t id, const struct sl_birth *b) {
    struct sl_comm *c = calloc(1, sizeof *c);
    MPI_Group group, remote;
    int inter = 0;
    if (c == NULL) abort();
    c->comm = comm;
    c->id = id;
    PMPI_Comm_test_inter(comm, &inter);
    PMPI_Comm_rank(comm, &c->rank);
    PMPI_Comm_size(comm, &c->size);
    c->peers = c->size;
    c->inter = inter != 0;
    if (inter) PMPI_Comm_remote_size(comm, &c->peers);
    int far = inter ? c->peers : 0;
    size_t words = 3 + (size_t)(c->size + 1) / 2 + (size_t)(far + 1) / 2, at = words;
    words += b->how != SL_FROM_ELSEWHERE ? BIRTH_WORDS : 0;
    uint64_t *data = calloc(words, 8);
    if (data == NULL) abort();
    data[0] = sl_pair(far, c->size);
    data[1] = (uint64_t)c->rank;
    PMPI_Comm_group(comm, &group);
    sl_members(group, c->size, data + 2, false);
    PMPI_Group_free(&group);
    if (inter) {
        PMPI_Comm_remote_group(comm, &remote);
        data[1] |= (uint64_t)sl_members(remote, far, data + 2 + (c->size + 1) / 2, true) << 32;
        PMPI_Group_free(&remote);
    }
    data[at - 1] = sl_now();
    if (b->how != SL_FROM_ELSEWHERE) {
        data[at] = sl_pair((int32_t)b->parent, (int32_t)b->how);
        data[at + 1] = sl_pair(b->tag, (int32_t)b->sequence);
        data[at + 2] = sl_pair(b->far_leader, b->leader);
        data[at + 3] = b->how == SL_FROM_LEADERS ? b->peer : b->name;
        data[at + 4] = b->enter;
    }
    sl_define(t, SL_DEF_COMM, c->id, data, words);
    free(data);
    if (!inter) sl_topology(t, c, comm);
    c->next = *slot_of(comm);
    *slot_of(comm) = c;
    return c;
}

static struct sl_comm *find(MPI_Comm comm) {
    struct sl_comm *c = *slot_of(comm);
    while (c != NULL && c->comm != comm) c = c->next;
    return c;
}

struct sl_comm *sl_comm_find(struct sl_thread *t, MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) {
        static struct sl_comm none = {.id = UINT32_MAX};
        return &none;
    }
    pthread_mutex_lock(&lock);
    struct sl_comm *c = find(comm);
    if (c == NULL) c = add(t, comm, count++, &(struct sl_birth){.how = SL_FROM_ELSEWHERE});
    pthread_mutex_unlock(&lock);
    t->last_comm = comm;
    t->last_comm_entry = c;
    t->last_comm_age = atomic_load_explicit(&sl_comm_age, memory_order_relaxed);
    return c;
}

/* forget takes a handle out of the table. Its entry is not freed: another thread may look at it. */
static void forget(MPI_Comm comm) {
    struct sl_comm **p = slot_of(comm);
    while (*p != NULL && (*p)->comm != comm) p = &(*p)->next;
    if (*p == NULL) return;
    *p = (*p)->next;
    atomic_fetch_add(&sl_comm_age, 1);
}

/* sl_comm_new numbers a communicator that was just made. One with this handle before it was freed unseen. */
struct sl_comm *sl_comm_new(struct sl_thread *t, MPI_Comm comm, const struct sl_birth *birth) {
    pthread_mutex_lock(&lock);
    forget(comm);
    struct sl_comm *c = add(t, comm, count++, birth);
    pthread_mutex_unlock(&lock);
    return c;
}

/* sl_birth_on is that of a communicator which all of its parent take part in making. Calls count when they begin, and whether or not
 * they give this process one. */
struct sl_birth sl_birth_on(struct sl_thread *t, MPI_Comm parent, enum sl_origin how) {
    struct sl_comm *c = sl_comm(t, parent);
    return (struct sl_birth){.how = how, .parent = c->id, .sequence = atomic_fetch_add(&c->made, 1)};
}

struct sl_birth sl_birth_of_group(struct sl_thread *t, MPI_Comm parent, int tag) {
    return (struct sl_birth){.how = SL_FROM_GROUP, .parent = sl_comm(t, parent)->id, .tag = tag};
}

/* sl_birth_of_leaders is that of an intercommunicator. Only the leader's arguments say with whom. */
struct sl_birth sl_birth_of_leaders(struct sl_thread *t, MPI_Comm local, int leader, MPI_Comm peer, int far_leader, int tag) {
    struct sl_comm *c = sl_comm(t, local);
    struct sl_birth b = {.how = SL_FROM_LEADERS, .parent = c->id, .sequence = atomic_fetch_add(&c->joined, 1), .leader = leader,
        .tag = tag, .far_leader = -1, .peer = UINT32_MAX};
    if (c->rank == leader) {
        b.far_leader = far_leader;
        b.peer = sl_comm(t, peer)->id;
    }
    return b;
}

/* sl_hash is a number for a text, never 0 (FNV-1a). */
uint64_t sl_hash(const char *text, size_t length) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; text != NULL && i < length; i++) hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3u;
    return hash | 1;
}

struct sl_birth sl_birth_of_name(const char *name, size_t length) {
    return (struct sl_birth){.how = SL_FROM_NAME, .name = sl_hash(name, length)};
}

/* sl_birth_of_port is that of a connection through a port, whose name only the root is given. */
struct sl_birth sl_birth_of_port(struct sl_thread *t, int call, MPI_Comm comm, int root, const char *port, size_t length) {
    struct sl_birth b = sl_birth_on(t, comm, SL_FROM_CONNECTION);
    b.tag = call;
    if (sl_comm(t, comm)->rank == root) b.name = sl_hash(port, length);
    return b;
}

struct sl_birth sl_birth_of_spawn(struct sl_thread *t, MPI_Comm comm, int root) {
    struct sl_birth b = sl_birth_on(t, comm, SL_FROM_CONNECTION);
    b.tag = SL_BY_SPAWN;
    if (sl_comm(t, comm)->rank == root) b.name = sl_spawner_own();
    return b;
}

/* sl_comm_reserve takes the number of a communicator that is going to be made: their order is that of the calls that begin it. */
uint32_t sl_comm_reserve(void) {
    pthread_mutex_lock(&lock);
    uint32_t id = count++;
    pthread_mutex_unlock(&lock);
    return id;
}

/* sl_comm_made is the number, plus 1, of a communicator whose request is complete; 0 if there is none. */
int64_t sl_comm_made(struct sl_thread *t, const struct sl_request *q) {
    MPI_Comm comm = q->made_fortran ? PMPI_Comm_f2c(*(const MPI_Fint *)q->made) : *(const MPI_Comm *)q->made;
    if (comm == MPI_COMM_NULL) return 0;
    pthread_mutex_lock(&lock);
    struct sl_comm *c = find(comm);
    if (c == NULL) c = add(t, comm, q->new_comm, &(struct sl_birth){.how = SL_FROM_PARENT, .parent = q->comm, .sequence = q->new_sequence});
    pthread_mutex_unlock(&lock);
    return (int64_t)c->id + 1;
}

/* sl_comm_ready numbers the communicator, if any, that a complete request has made: the program may use it before it frees the request. */
void sl_comm_ready(struct sl_thread *t, MPI_Request handle) {
    struct sl_request q;
    if (sl_request_look(handle, &q) && q.kind == SL_REQ_COLLECTIVE && q.made != NULL) sl_comm_made(t, &q);
}

/* sl_comm_forget ends the use of a handle; another communicator may get it. */
void sl_comm_forget(MPI_Comm comm) {
    pthread_mutex_lock(&lock);
    forget(comm);
    pthread_mutex_unlock(&lock);
}

void sl_comms_start(struct sl_thread *t) {
    sl_worlds_start();
    sl_comm_find(t, sl_world);
    if (sl_world == MPI_COMM_WORLD) sl_comm_find(t, MPI_COMM_SELF);
    else count++; /* its number; a session has none */
}
