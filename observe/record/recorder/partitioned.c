/* Partitioned messages, and the two halves of MPI_Isendrecv.
 *
 * Partitioned sends and receives find each other by the order in which they were prepared: the how-manieth with this peer, tag and
 * communicator is the number of their channel. The message is sent by the call that makes its last partition ready. */
#include "partitioned.h"
#include <stdlib.h>

struct counter {
    struct counter *next;
    uint32_t comm;
    int32_t peer, tag;
    uint8_t kind;
    int32_t last;
};

enum { SLOTS = 256 };
static struct counter *slots[SLOTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int32_t next_channel(uint32_t comm, int32_t peer, int32_t tag, uint8_t kind) {
    pthread_mutex_lock(&lock);
    struct counter **p = &slots[((comm * 31u + (uint32_t)peer) * 31u + (uint32_t)tag) % SLOTS];
    while (*p != NULL && ((*p)->comm != comm || (*p)->peer != peer || (*p)->tag != tag || (*p)->kind != kind)) p = &(*p)->next;
    if (*p == NULL) {
        if ((*p = calloc(1, sizeof **p)) == NULL) abort();
        **p = (struct counter){.comm = comm, .peer = peer, .tag = tag, .kind = kind};
    }
    int32_t number = ++(*p)->last;
    pthread_mutex_unlock(&lock);
    return number;
}

/* sl_prepared keeps a partitioned message with its request. */
void sl_prepared(struct sl_record *r, MPI_Request handle, int partitions, uint8_t kind) {
    struct sl_request q = {.function = r->function, .kind = kind, .persistent = true, .peer = (int32_t)(r->data[1] >> 32), .tag = (int32_t)r->data[1],
        .comm = (uint32_t)r->data[2], .partitions = partitions};
    if (q.peer >= 0) q.channel = next_channel(q.comm, q.peer, q.tag, kind);
    if (kind == SL_REQ_PARTS) q.sent = (int64_t)r->data[0]; else q.received = (int64_t)r->data[0];
    sl_request_add(handle, &q);
}

/* sl_ready counts partitions that are about to be ready; the last ones are the send. */
struct sl_record *sl_ready(struct sl_thread *t, uint16_t fn, struct sl_frame frame, MPI_Request handle, int n) {
    struct sl_record *r = sl_call(t, SL_CALL, fn, SL_HEAD + 5, frame);
    struct sl_request q;
    r->words = SL_HEAD;
    if (!sl_request_ready(handle, n, &q) || q.missing > 0 || q.peer < 0) return r;
    r->words = SL_HEAD + 5;
    r->data[0] = (uint64_t)q.sent;
    r->data[1] = sl_pair(q.peer, q.tag);
    r->data[2] = q.comm;
    r->data[3] = q.id;
    r->data[4] = (uint64_t)q.channel;
    r->kind = SL_SEND;
    return r;
}

void sl_readied(struct sl_thread *t, struct sl_record *r, uint64_t leave, MPI_Request handle, int n, int result) {
    struct sl_request q;
    if (result != MPI_SUCCESS) {
        sl_request_ready(handle, -n, &q);
        r->kind = SL_CALL;
        r->words = SL_HEAD;
    }
    sl_done(t, r, leave);
}

/* sl_both keeps a send and a receive that have one request. Either may have no peer. */
void sl_both(struct sl_record *r, MPI_Request handle) {
    struct sl_request q = {.function = r->function, .kind = SL_REQ_BOTH, .active = true, .peer = (int32_t)(r->data[1] >> 32), .tag = (int32_t)r->data[1],
        .comm = (uint32_t)r->data[2], .sent = (int64_t)r->data[0], .received = (int64_t)r->data[3], .source = (int32_t)(r->data[4] >> 32),
        .source_tag = (int32_t)r->data[4]};
    bool receives = q.source != SL_NOBODY;
    if (!receives && q.peer == SL_NOBODY) return;
    if (!receives) q.kind = SL_REQ_SEND;
    r->data[5] = sl_request_add(handle, &q);
}

/* sl_both_received says what the receiving half brought. MPICH 4.0 leaves the status of MPI_Isendrecv empty: what the program asked for
 * is preferred. */
void sl_both_received(const struct sl_request *q, const MPI_Status *status, uint64_t *peer, int64_t *bytes) {
    int32_t source = q->source >= 0 ? q->source : sl_peer(status->MPI_SOURCE);
    int32_t tag = q->source_tag >= 0 ? q->source_tag : status->MPI_TAG;
    *peer = sl_pair(source, tag);
    *bytes = status->MPI_SOURCE == source && status->MPI_TAG == tag ? sl_received(status) : q->received;
}
