#ifndef SL_COMMS_H
#define SL_COMMS_H
#include "core.h"

/* How a communicator came about, as far as its members see the same: the collector knows by that which communicators of different ranks
 * are one. MPI orders calls that make communicators on each communicator alone, and those with a tag among those with that tag. */
enum sl_origin {
    SL_FROM_ELSEWHERE,  /* no call was seen that made it */
    SL_FROM_PARENT,     /* parent; sequence: of the call among those on the parent */
    SL_FROM_GROUP,      /* parent, tag */
    SL_FROM_LEADERS,    /* parent: the local one; sequence among such calls on it, leader; known to the leader: peer, far_leader, tag */
    SL_FROM_NAME,       /* name: of the text that is its tag */
    SL_FROM_CONNECTION, /* parent, sequence; other processes came in. Name: at the root, what both sides may know, see worlds.c; 0: nothing */
    SL_FROM_START,      /* those that started this world; name */
};
/* The call by which other processes came in, in place of the tag. */
enum { SL_BY_SPAWN = 1, SL_BY_ACCEPT, SL_BY_CONNECT, SL_BY_JOIN };
struct sl_birth {
    enum sl_origin how;
    uint32_t parent, sequence, peer;
    int32_t tag, leader, far_leader;
    uint64_t name, enter; /* enter: of the call that made it, or of the start of the process */
};

struct sl_comm {
    MPI_Comm comm;
    uint32_t id;
    _Atomic uint32_t made, joined; /* calls on it that made a communicator, and an intercommunicator */
    int rank, size, peers;  /* peers: those that messages can go to */
    bool inter;
    int sources, targets;   /* neighbours in its topology, and who they are: ranks, or MPI_PROC_NULL */
    int *in, *out;
    struct sl_comm *next;
};

extern _Atomic uint32_t sl_comm_age;
struct sl_comm *sl_comm_find(struct sl_thread *t, MPI_Comm comm);
struct sl_request;
struct sl_comm *sl_comm_new(struct sl_thread *t, MPI_Comm comm, const struct sl_birth *birth);
uint32_t sl_comm_reserve(void);
int64_t sl_comm_made(struct sl_thread *t, const struct sl_request *q);
void sl_comm_ready(struct sl_thread *t, MPI_Request handle);
void sl_comm_forget(MPI_Comm comm);
void sl_topology(struct sl_thread *t, struct sl_comm *c, MPI_Comm comm);
void sl_comms_start(struct sl_thread *t);

struct sl_birth sl_birth_on(struct sl_thread *t, MPI_Comm parent, enum sl_origin how);
struct sl_birth sl_birth_of_group(struct sl_thread *t, MPI_Comm parent, int tag);
struct sl_birth sl_birth_of_leaders(struct sl_thread *t, MPI_Comm local, int leader, MPI_Comm peer, int far_leader, int tag);
struct sl_birth sl_birth_of_name(const char *name, size_t length);
struct sl_birth sl_birth_of_port(struct sl_thread *t, int call, MPI_Comm comm, int root, const char *port, size_t length);
struct sl_birth sl_birth_of_spawn(struct sl_thread *t, MPI_Comm comm, int root);
uint64_t sl_hash(const char *text, size_t length);

SL_INLINE struct sl_comm *sl_comm(struct sl_thread *t, MPI_Comm comm) {
    if (SL_LIKELY(t->last_comm == comm && t->last_comm_entry != NULL &&
                  t->last_comm_age == atomic_load_explicit(&sl_comm_age, memory_order_relaxed)))
        return t->last_comm_entry;
    return sl_comm_find(t, comm);
}
#endif
