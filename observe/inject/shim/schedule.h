/* A collective as rounds of messages: in each round, first local work in its order, then messages all at once. The round
 * ends when all its messages are sent and may be delivered. */
#ifndef INJ_SCHEDULE_H
#define INJ_SCHEDULE_H
#include "inject.h"

enum step_kind { STEP_SEND, STEP_RECEIVE, STEP_COPY, STEP_REDUCE, STEP_END };
struct step {
    enum step_kind kind;
    int peer;
    const void *from; /* what is sent, copied, or reduced into to */
    void *to;
    MPI_Count count, to_count;
    MPI_Datatype type, to_type;
    MPI_Op op;
};

/* inj_starter runs a collective with arguments that were kept. */
typedef int inj_starter(const void *arguments, MPI_Request *request);

struct schedule {
    struct schedule *next;
    struct comm *comm;
    int tag, rank, size;
    struct step *steps;
    int n_steps, room_steps, at;
    MPI_Request *requests; /* of this round */
    struct entry **entries;
    int n_requests, room_requests;
    int64_t release;       /* of the messages of this round */
    void **memory;
    int n_memory;
    MPI_Datatype *types;   /* kept for a collective that goes on after its call */
    int n_types;
    bool later, arrived, waited, done;
    MPI_Op op;
    int result;
    MPI_Request request;   /* what the program waits for */
    int *outcome;          /* the result, for the call that completes it */
    inj_starter *start;    /* of a persistent one: runs it with these arguments */
    void *arguments;
    int function;          /* its number in reports */
};

/* inj_begin starts a collective; NULL if it is left to MPI. later: it goes on after the call. */
struct schedule *inj_begin(MPI_Comm comm, bool later);
/* inj_persistent starts to keep the arguments of a persistent collective; NULL if it is left to MPI. inj_persistent_made ends that. */
struct schedule *inj_persistent(MPI_Comm comm, int function, inj_starter *start, size_t arguments);
int inj_persistent_made(struct schedule *s, MPI_Op op, MPI_Comm comm, MPI_Request *request);
void *inj_copied(struct schedule *s, const void *from, int64_t bytes);
MPI_Datatype *inj_types(struct schedule *s, const MPI_Datatype *from, int n);
/* inj_end runs it, or starts it if there is a request. */
int inj_end(struct schedule *s, MPI_Comm comm, MPI_Request *request);

void inj_add_send(struct schedule *s, const void *buf, MPI_Count count, MPI_Datatype type, int peer);
void inj_add_receive(struct schedule *s, void *buf, MPI_Count count, MPI_Datatype type, int peer);
void inj_add_copy(struct schedule *s, const void *from, MPI_Count count, MPI_Datatype type, void *to, MPI_Count to_count, MPI_Datatype to_type);
void inj_add_reduce(struct schedule *s, const void *from, void *to, MPI_Count count, MPI_Datatype type, MPI_Op op); /* to = from op to */
void inj_add_end(struct schedule *s);
void *inj_memory(struct schedule *s, int64_t bytes);
/* inj_elements is memory for elements of a type, from where the first one starts. */
void *inj_elements(struct schedule *s, MPI_Count count, MPI_Datatype type);
/* inj_type is a type that stays, whatever the program does with its own. */
MPI_Datatype inj_type(struct schedule *s, MPI_Datatype type);

/* Counts and displacements come in two widths. */
struct counts { const int *narrow; const MPI_Count *wide; };
struct places { const int *narrow; const MPI_Aint *wide; };
static inline MPI_Count count_at(struct counts c, int i) { return c.narrow != NULL ? c.narrow[i] : c.wide[i]; }
static inline MPI_Aint place_at(struct places p, int i) { return p.narrow != NULL ? p.narrow[i] : p.wide[i]; }
static inline MPI_Aint inj_extent(MPI_Datatype type) {
    MPI_Aint low = 0, extent = 0;
    PMPI_Type_get_extent(type, &low, &extent);
    return extent;
}
static inline void *inj_at(const void *buffer, MPI_Aint offset) { return (char *)(uintptr_t)buffer + offset; }

#endif
