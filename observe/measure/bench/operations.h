#ifndef SLACKLINE_OPERATIONS_H
#define SLACKLINE_OPERATIONS_H

#include <mpi.h>

/* A collective operation with its buffers. size is the number of bytes of a block: what a rank sends to another one, or what
 * every rank gets. pause is the computation while a non-blocking one goes on, or how long an artificial one takes. */
struct operation {
	long number, size;
	long long pause;
	int count; /* of elements in a block */
	char *send, *receive;
	int *counts, *places; /* of the operations with vectors */
	MPI_Datatype *types;
	MPI_Comm comm;
};

void operation_begin(struct operation *op, long number, long size, long long pause);
void operation_run(struct operation *op);
void operation_end(struct operation *op);

#endif
