/* What is recorded of collectives: the bytes of the send and of the receive buffer of this rank, the root, and for
 * those with sizes by peer these sizes in bytes, sent ones first. */
#ifndef SL_COLLECTIVES_H
#define SL_COLLECTIVES_H
#include "calls.h"

struct sl_record *sl_collective(struct sl_thread *t, uint16_t fn, struct sl_frame frame,
                                              const struct sl_comm *c, int root, int64_t sent, int64_t received, uint32_t counts);

int64_t sl_fill_int(uint64_t *data, const int *counts, int n, int64_t size);

int64_t sl_fill_wide(uint64_t *data, const MPI_Count *counts, int n, int64_t size);

#define SL_FILL(data, counts, n, size) _Generic((counts), \
    const int *: sl_fill_int, int *: sl_fill_int, const MPI_Count *: sl_fill_wide, MPI_Count *: sl_fill_wide)(data, counts, n, size)

#define SL_BEGIN(root_rank) \
    const struct sl_comm *c = sl_comm(t, comm); \
    const int who = root_rank; \
    const bool am_root = who == SL_ROOT || (!c->inter && who == c->rank); \
    (void)am_root;
#define SL_RECORD(fn, sent, received) struct sl_record *r = sl_collective(t, fn, frame, c, who, sent, received, 0);
enum { SL_ALL = -4 }; /* the root of a collective without one */

#define BEFORE_barrier(fn) SL_BEGIN(SL_ALL) SL_RECORD(fn, 0, 0)
#define BEFORE_bcast(fn) \
    SL_BEGIN(sl_peer(root)) \
    int64_t n = who == SL_NOBODY ? 0 : sl_bytes(count, datatype); \
    SL_RECORD(fn, am_root ? n : 0, am_root ? 0 : n)

/* The buffers of a root that works in place, and of those that are not the root, must not be looked at. */
#define BEFORE_gather(fn) \
    SL_BEGIN(sl_peer(root)) \
    int64_t block = am_root ? sl_bytes(recvcount, recvtype) : 0; \
    SL_RECORD(fn, who == SL_ROOT || who == SL_NOBODY ? 0 : am_root && sl_in_place(sendbuf) ? block : sl_bytes(sendcount, sendtype), block * c->peers)
#define BEFORE_gatherv(fn) \
    SL_BEGIN(sl_peer(root)) \
    uint32_t counts = am_root ? (uint32_t)c->peers : 0; \
    struct sl_record *r = sl_collective(t, fn, frame, c, who, 0, 0, counts); \
    if (am_root) r->data[1] = (uint64_t)SL_FILL(r->data + 4, recvcounts, c->peers, sl_bytes(1, recvtype)); \
    r->data[0] = who == SL_ROOT || who == SL_NOBODY ? 0 : am_root && sl_in_place(sendbuf) ? r->data[4 + c->rank] : (uint64_t)sl_bytes(sendcount, sendtype);
#define BEFORE_scatter(fn) \
    SL_BEGIN(sl_peer(root)) \
    int64_t block = am_root ? sl_bytes(sendcount, sendtype) : 0; \
    SL_RECORD(fn, block * c->peers, who == SL_ROOT || who == SL_NOBODY ? 0 : am_root && sl_in_place(recvbuf) ? block : sl_bytes(recvcount, recvtype))
#define BEFORE_scatterv(fn) \
    SL_BEGIN(sl_peer(root)) \
    uint32_t counts = am_root ? (uint32_t)c->peers : 0; \
    struct sl_record *r = sl_collective(t, fn, frame, c, who, 0, 0, counts); \
    if (am_root) r->data[0] = (uint64_t)SL_FILL(r->data + 4, sendcounts, c->peers, sl_bytes(1, sendtype)); \
    r->data[1] = who == SL_ROOT || who == SL_NOBODY ? 0 : am_root && sl_in_place(recvbuf) ? r->data[4 + c->rank] : (uint64_t)sl_bytes(recvcount, recvtype);
#define BEFORE_allgather(fn) \
    SL_BEGIN(SL_ALL) \
    int64_t block = sl_bytes(recvcount, recvtype); \
    SL_RECORD(fn, sl_in_place(sendbuf) ? block : sl_bytes(sendcount, sendtype), block * c->peers)
#define BEFORE_allgatherv(fn) \
    SL_BEGIN(SL_ALL) \
    struct sl_record *r = sl_collective(t, fn, frame, c, who, 0, 0, (uint32_t)c->peers); \
    r->data[1] = (uint64_t)SL_FILL(r->data + 4, recvcounts, c->peers, sl_bytes(1, recvtype)); \
    r->data[0] = sl_in_place(sendbuf) ? r->data[4 + c->rank] : (uint64_t)sl_bytes(sendcount, sendtype);
#define BEFORE_alltoall(fn) \
    SL_BEGIN(SL_ALL) \
    int64_t block = sl_bytes(recvcount, recvtype); \
    SL_RECORD(fn, (sl_in_place(sendbuf) ? block : sl_bytes(sendcount, sendtype)) * c->peers, block * c->peers)
#define BEFORE_alltoallv(fn) \
    SL_BEGIN(SL_ALL) \
    struct sl_record *r = sl_collective(t, fn, frame, c, who, 0, 0, 2 * (uint32_t)c->peers); \
    uint64_t *far = r->data + 4 + c->peers; \
    r->data[1] = (uint64_t)SL_FILL(far, recvcounts, c->peers, sl_bytes(1, recvtype)); \
    if (sl_in_place(sendbuf)) { \
        r->data[0] = r->data[1]; \
        memcpy(r->data + 4, far, (size_t)c->peers * 8); \
    } else { \
        r->data[0] = (uint64_t)SL_FILL(r->data + 4, sendcounts, c->peers, sl_bytes(1, sendtype)); \
    }
#define BEFORE_alltoallw(fn) \
    SL_BEGIN(SL_ALL) \
    struct sl_record *r = sl_collective(t, fn, frame, c, who, 0, 0, 2 * (uint32_t)c->peers); \
    bool in_place = sl_in_place(sendbuf), known = recvcounts != NULL && recvtypes != NULL && (in_place || (sendcounts != NULL && sendtypes != NULL)); \
    for (int i = 0; known && i < c->peers; i++) { \
        uint64_t in = (uint64_t)sl_bytes((int64_t)recvcounts[i], recvtypes[i]); \
        uint64_t out = in_place ? in : (uint64_t)sl_bytes((int64_t)sendcounts[i], sendtypes[i]); \
        r->data[4 + i] = out; \
        r->data[4 + c->peers + i] = in; \
        r->data[0] += out; \
        r->data[1] += in; \
    }
#define BEFORE_reduce(fn) \
    SL_BEGIN(sl_peer(root)) \
    int64_t n = who == SL_NOBODY ? 0 : sl_bytes(count, datatype); \
    SL_RECORD(fn, who == SL_ROOT ? 0 : n, am_root ? n : 0)
#define BEFORE_allreduce(fn) \
    SL_BEGIN(SL_ALL) \
    int64_t n = sl_bytes(count, datatype); \
    SL_RECORD(fn, n, n)
#define BEFORE_reduce_scatter(fn) \
    SL_BEGIN(SL_ALL) \
    struct sl_record *r = sl_collective(t, fn, frame, c, who, 0, 0, (uint32_t)c->size); \
    r->data[0] = (uint64_t)SL_FILL(r->data + 4, recvcounts, c->size, sl_bytes(1, datatype)); \
    r->data[1] = r->data[4 + c->rank];
#define BEFORE_reduce_scatter_block(fn) \
    SL_BEGIN(SL_ALL) \
    int64_t n = sl_bytes(recvcount, datatype); \
    SL_RECORD(fn, n * c->size, n)
#define BEFORE_scan(fn) BEFORE_allreduce(fn)
#define BEFORE_exscan(fn) BEFORE_allreduce(fn)

/* Exchanges with the neighbours of a topology. Bytes by neighbour: to each, then from each; of allgatherv from each alone. */
struct sl_record *sl_exchange(struct sl_thread *t, uint16_t fn, struct sl_frame frame, const struct sl_comm *c,
                              int64_t block_out, int64_t block_in);
int64_t sl_exchanged(uint64_t *data, const int *neighbors, int n);

#define BEFORE_neighbor_allgather(fn) \
    SL_BEGIN(SL_ALL) struct sl_record *r = sl_exchange(t, fn, frame, c, sl_bytes(sendcount, sendtype), sl_bytes(recvcount, recvtype));
#define BEFORE_neighbor_alltoall(fn) BEFORE_neighbor_allgather(fn)
#define BEFORE_neighbor_allgatherv(fn) \
    SL_BEGIN(SL_ALL) \
    struct sl_record *r = sl_collective(t, fn, frame, c, who, 0, 0, (uint32_t)c->sources); \
    int64_t block = sl_bytes(sendcount, sendtype); \
    for (int i = 0; i < c->targets; i++) r->data[0] += c->out[i] >= 0 ? (uint64_t)block : 0; \
    SL_FILL(r->data + 4, recvcounts, c->sources, sl_bytes(1, recvtype)); \
    r->data[1] = (uint64_t)sl_exchanged(r->data + 4, c->in, c->sources);
#define SL_EXCHANGED \
    r->data[0] = (uint64_t)sl_exchanged(r->data + 4, c->out, c->targets); \
    r->data[1] = (uint64_t)sl_exchanged(r->data + 4 + c->targets, c->in, c->sources);
#define BEFORE_neighbor_alltoallv(fn) \
    SL_BEGIN(SL_ALL) \
    struct sl_record *r = sl_collective(t, fn, frame, c, who, 0, 0, (uint32_t)(c->targets + c->sources)); \
    SL_FILL(r->data + 4, sendcounts, c->targets, sl_bytes(1, sendtype)); \
    SL_FILL(r->data + 4 + c->targets, recvcounts, c->sources, sl_bytes(1, recvtype)); \
    SL_EXCHANGED
#define BEFORE_neighbor_alltoallw(fn) \
    SL_BEGIN(SL_ALL) \
    struct sl_record *r = sl_collective(t, fn, frame, c, who, 0, 0, (uint32_t)(c->targets + c->sources)); \
    for (int i = 0; i < c->targets; i++) r->data[4 + i] = (uint64_t)sl_bytes((int64_t)sendcounts[i], sendtypes[i]); \
    for (int i = 0; i < c->sources; i++) r->data[4 + c->targets + i] = (uint64_t)sl_bytes((int64_t)recvcounts[i], recvtypes[i]); \
    SL_EXCHANGED

void sl_between(struct sl_thread *t, uint32_t comm, uint16_t function);
#define AFTER_collective \
    const uint16_t function = r->function; \
    SL_CHECKED sl_done(t, r, leave); \
    if (SL_UNLIKELY(sl_settings.ping_every != 0)) sl_between(t, c->id, function);
#define SL_COLLECTIVE_REQUEST(again, counts) \
    sl_request_add(*request, &(struct sl_request){.function = r->function, .kind = SL_REQ_COLLECTIVE, .persistent = again, .active = !(again), \
        .peer = who, .tag = counts, .comm = c->id, .sent = (int64_t)r->data[0], .received = (int64_t)r->data[1]})
#define AFTER_icollective \
    if (result == MPI_SUCCESS) r->data[3] = SL_COLLECTIVE_REQUEST(false, 0); \
    SL_CHECKED sl_done(t, r, leave);
/* A persistent one begins with MPI_Start. Its bytes by peer are a definition, whose number stands where others have a tag. */
int32_t sl_define_counts(struct sl_thread *t, const struct sl_record *r);
#define AFTER_collective_init \
    if (result == MPI_SUCCESS) SL_COLLECTIVE_REQUEST(true, sl_define_counts(t, r)); \
    r->kind = SL_CALL; \
    sl_done(t, r, leave);
#endif
