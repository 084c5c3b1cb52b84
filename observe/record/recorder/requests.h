#ifndef SL_REQUESTS_H
#define SL_REQUESTS_H
#include "core.h"

/* Flags of a request in a record, beside its kind. */
#define SL_CANCELLED ((uint64_t)1 << 8)
#define SL_UNSEEN ((uint64_t)1 << 9)
#define SL_FOREIGN ((uint64_t)1 << 10) /* another thread began it */

#define SL_HALF ((uint64_t)1 << 11)    /* the other half of the same request follows */

enum sl_request_kind { SL_REQ_OTHER, SL_REQ_SEND, SL_REQ_RECV, SL_REQ_COLLECTIVE, SL_REQ_WINDOW, SL_REQ_FILE,
    /* in no record: a send and a receive, partitioned messages */
    SL_REQ_BOTH = 32, SL_REQ_PARTS, SL_REQ_FROM_PARTS };

/* What is known of a request until it is completed. It is cleared and copied in every call that begins one: up to 80 bytes
 * compilers do that with a few stores, beyond with instructions that take 20 ns. */
struct sl_request {
    struct sl_request *next;
    uintptr_t key;
    uint64_t id;
    struct sl_thread *owner;
    uint16_t function;
    uint8_t kind;
    bool persistent : 1, active : 1;
    bool unseen : 1;   /* begun while recording was off */
    bool pending : 1;  /* but the receive of both was recorded since then */
    bool made_fortran : 1;
    int32_t peer, tag; /* of a collective: the root, the number of its bytes by peer */
    uint32_t comm;     /* or the window, or the file */
    int64_t sent, received;
    union {
        struct { int32_t source, source_tag; };           /* of the receive, if it is both */
        struct { int32_t channel, partitions, missing; }; /* of partitioned messages; missing: not ready */
        struct { const void *made; uint32_t new_comm, new_sequence; }; /* of a communicator: where its handle will be (NULL: none is made),
                                                                          its number, that of the call among those on its parent */
    };
};
_Static_assert(sizeof(struct sl_request) <= 80, "a request is too large");

uint64_t sl_request_add(MPI_Request handle, const struct sl_request *content);
bool sl_request_take(MPI_Request handle, struct sl_request *r);  /* it is complete */
bool sl_request_look(MPI_Request handle, struct sl_request *r);  /* it is active */
uint64_t sl_request_id(MPI_Request handle);
MPI_Request sl_request_moved(MPI_Request before, MPI_Request now);
bool sl_request_start(MPI_Request handle, struct sl_request *r); /* a persistent one is active again */
bool sl_request_ready(MPI_Request handle, int n, struct sl_request *r); /* partitions of an active one */
void sl_request_forget(MPI_Request handle);
void sl_requests_each(void (*visit)(struct sl_request *r, void *argument), void *argument);
void sl_message_add(MPI_Message handle, uint32_t comm);
uint32_t sl_message_take(MPI_Message handle);
#endif
