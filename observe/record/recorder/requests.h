#ifndef SL_REQUESTS_H
#define SL_REQUESTS_H
#include "core.h"

/* Flags of a request in a record, beside its kind. */
#define SL_CANCELLED ((uint64_t)1 << 8)
#define SL_UNSEEN ((uint64_t)1 << 9)
#define SL_FOREIGN ((uint64_t)1 << 10) /* another thread began it */

enum sl_request_kind { SL_REQ_OTHER, SL_REQ_SEND, SL_REQ_RECV, SL_REQ_COLLECTIVE, SL_REQ_WINDOW, SL_REQ_FILE };

/* What is known of a request until it is completed. */
struct sl_request {
    struct sl_request *next;
    uintptr_t key;
    uint64_t id;
    struct sl_thread *owner;
    uint16_t function;
    uint8_t kind;
    bool persistent, active;
    bool unseen; /* begun while recording was off */
    int32_t peer, tag; /* peer: the root of a collective */
    uint32_t comm;     /* or the window, or the file */
    int64_t sent, received;
};

uint64_t sl_request_add(MPI_Request handle, struct sl_request r);
bool sl_request_take(MPI_Request handle, struct sl_request *r);  /* it is complete */
uint64_t sl_request_id(MPI_Request handle);
bool sl_request_start(MPI_Request handle, struct sl_request *r); /* a persistent one is active again */
void sl_request_forget(MPI_Request handle);
void sl_requests_each(void (*visit)(struct sl_request *r, void *argument), void *argument);
void sl_message_add(MPI_Message handle, uint32_t comm);
uint32_t sl_message_take(MPI_Message handle);
#endif
