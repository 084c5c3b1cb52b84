#ifndef SLACKLINE_OPERATIONS_H
#define SLACKLINE_OPERATIONS_H

#include <mpi.h>

/* A collective operation with its buffers. size is the number of bytes of a block: what a rank sends to another one, or what
 * every rank gets. pause is the computation while a non-blocking or persistent one goes on, or how long an artificial one takes. */
struct operation {
	long number, size;
	long long pause;
	int count; /* of elements in a block */
	char *send, *receive;
	int *counts, *places; /* of the operations with vectors */
	MPI_Datatype *types;
	MPI_Comm comm;
	MPI_Aint far[2];     /* where the blocks of two neighbors are */
	MPI_Request request; /* of a persistent one */
	MPI_Win window;      /* of a one-sided one, and the ranks whose memory this one reaches, and that reach its memory */
	int target;
	MPI_Group to, from;
};

int operation_persistent(void); /* whether this MPI has persistent collectives */
void operation_begin(struct operation *op, long number, long size, long long pause);
void operation_run(struct operation *op);
void operation_end(struct operation *op);

/* onesided.c; as in operations.go */
enum { ONE_SIDED = 128, WAYS = 4 };
int onesided_reduces(long number);
void onesided_begin(struct operation *op);
void onesided_run(struct operation *op);
void onesided_end(struct operation *op);

#endif
