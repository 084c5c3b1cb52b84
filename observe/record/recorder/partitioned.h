/* Calls of MPI-4 about messages: partitioned ones, and MPI_Isendrecv. */
#ifndef SL_PARTITIONED_H
#define SL_PARTITIONED_H
#include "calls.h"

void sl_prepared(struct sl_record *r, MPI_Request handle, int partitions, uint8_t kind);
struct sl_record *sl_ready(struct sl_thread *t, uint16_t fn, struct sl_frame frame, MPI_Request handle, int n);
void sl_readied(struct sl_thread *t, struct sl_record *r, uint64_t leave, MPI_Request handle, int n, int result);
void sl_both(struct sl_record *r, MPI_Request handle);
void sl_both_received(const struct sl_request *q, const MPI_Status *status, uint64_t *peer, int64_t *bytes);

#define SL_PREPARE(fn, peer) \
    struct sl_record *r = sl_call(t, SL_CALL, fn, SL_HEAD + 3, frame); \
    sl_put(t, r, sl_bytes((int64_t)count * partitions, datatype), peer, tag, comm);
#define BEFORE_psend_init(fn) SL_PREPARE(fn, dest)
#define AFTER_psend_init if (result == MPI_SUCCESS) sl_prepared(r, *request, partitions, SL_REQ_PARTS); sl_done(t, r, leave);
#define BEFORE_precv_init(fn) SL_PREPARE(fn, source)
#define AFTER_precv_init if (result == MPI_SUCCESS) sl_prepared(r, *request, partitions, SL_REQ_FROM_PARTS); sl_done(t, r, leave);

#define SL_READY(fn, n) const int partitions_ready = n; struct sl_record *r = sl_ready(t, fn, frame, request, partitions_ready);
#define BEFORE_pready(fn) SL_READY(fn, 1)
#define AFTER_pready sl_readied(t, r, leave, request, partitions_ready, result);
#define BEFORE_pready_range(fn) SL_READY(fn, partition_high - partition_low + 1)
#define AFTER_pready_range AFTER_pready
#define BEFORE_pready_list(fn) SL_READY(fn, length)
#define AFTER_pready_list AFTER_pready
#define BEFORE_parrived(fn) struct sl_record *r = sl_call(t, SL_CALL, fn, SL_HEAD + 1, frame); r->data[0] = 0; sl_poll_again(t, r);
#define AFTER_parrived AFTER_iprobe

/* As MPI_Sendrecv, and a request behind it. */
#define SL_BOTH_LATER(fn, bytes, room) \
    struct sl_record *r = sl_call(t, SL_SENDRECV, fn, SL_HEAD + 6, frame); \
    sl_put(t, r, bytes, dest, sendtag, comm); \
    r->data[3] = (uint64_t)(room); \
    r->data[4] = sl_pair(sl_peer(source), recvtag == MPI_ANY_TAG ? -1 : recvtag); \
    r->data[5] = 0;
#define BEFORE_isendrecv(fn) SL_BOTH_LATER(fn, sl_bytes(sendcount, sendtype), sl_bytes(recvcount, recvtype))
#define AFTER_isendrecv if (result == MPI_SUCCESS) sl_both(r, *request); else r->kind = SL_CALL; sl_done(t, r, leave);
#define BEFORE_isendrecv_replace(fn) SL_BOTH_LATER(fn, sl_bytes(count, datatype), sl_bytes(count, datatype))
#define AFTER_isendrecv_replace AFTER_isendrecv
#endif
