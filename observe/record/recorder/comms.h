#ifndef SL_COMMS_H
#define SL_COMMS_H
#include "core.h"

struct sl_comm {
    MPI_Comm comm;
    uint32_t id;
    int rank, size, peers;  /* peers: those that messages can go to */
    bool inter;
    int sources, targets;   /* neighbours in its topology, and who they are: ranks, or MPI_PROC_NULL */
    int *in, *out;
    struct sl_comm *next;
};

extern _Atomic uint32_t sl_comm_age;
struct sl_comm *sl_comm_find(struct sl_thread *t, MPI_Comm comm);
struct sl_request;
uint32_t sl_comm_reserve(void);
int64_t sl_comm_made(struct sl_thread *t, const struct sl_request *q);
void sl_comm_forget(MPI_Comm comm);
void sl_topology(struct sl_thread *t, struct sl_comm *c, MPI_Comm comm);
void sl_comms_start(struct sl_thread *t);

SL_INLINE struct sl_comm *sl_comm(struct sl_thread *t, MPI_Comm comm) {
    if (SL_LIKELY(t->last_comm == comm && t->last_comm_entry != NULL &&
                  t->last_comm_age == atomic_load_explicit(&sl_comm_age, memory_order_relaxed)))
        return t->last_comm_entry;
    return sl_comm_find(t, comm);
}
#endif
