/* Communicators: numbers for their handles, and who is in them.
 *
 * Nothing is communicated: the collector finds that two ranks mean the same communicator from its members and from
 * the order in which communicators with these members were made. */
#include "comms.h"
#include "requests.h"
#include "worlds.h"
#include <stdlib.h>

enum { SLOTS = 1024 };
static struct sl_comm *slots[SLOTS];
static uint32_t count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
_Atomic uint32_t sl_comm_age;

static struct sl_comm **slot_of(MPI_Comm comm) {
    return &slots[((uintptr_t)comm * 0x9e3779b97f4a7c15u) >> 54];
}

static struct sl_comm *add(struct sl_thread *t, MPI_Comm comm, uint32_t id) {
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
    size_t words = 3 + (size_t)(c->size + 1) / 2 + (size_t)(far + 1) / 2;
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
    data[words - 1] = sl_now();
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
    if (c == NULL) c = add(t, comm, count++);
    pthread_mutex_unlock(&lock);
    t->last_comm = comm;
    t->last_comm_entry = c;
    t->last_comm_age = atomic_load_explicit(&sl_comm_age, memory_order_relaxed);
    return c;
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
    if (c == NULL) c = add(t, comm, q->new_comm);
    pthread_mutex_unlock(&lock);
    return (int64_t)c->id + 1;
}

/* sl_comm_forget ends the use of a handle; another communicator may get it. */
void sl_comm_forget(MPI_Comm comm) {
    pthread_mutex_lock(&lock);
    struct sl_comm **p = slot_of(comm);
    while (*p != NULL && (*p)->comm != comm) p = &(*p)->next;
    if (*p != NULL) *p = (*p)->next; /* not freed: another thread may look at it */
    atomic_fetch_add(&sl_comm_age, 1);
    pthread_mutex_unlock(&lock);
}

void sl_comms_start(struct sl_thread *t) {
    sl_worlds_start();
    sl_comm_find(t, sl_world);
    if (sl_world == MPI_COMM_WORLD) sl_comm_find(t, MPI_COMM_SELF);
    else count++; /* its number; a session has none */
}
