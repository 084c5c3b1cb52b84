/* Messages from one process to another: the child does not wait until they are received. */
#include "bridge.h"

#include <stdlib.h>

enum { TAG_LENGTH = 1, TAG_BYTES = 2 };

/* A message on its way out. */
struct letter {
	uint64_t length;
	char *bytes;
	int n, gone; /* pieces */
	MPI_Request *requests;
	struct letter *next;
};

static struct letter *leaving; /* oldest first */
static struct letter **last = &leaving;

/* A message on its way in, and whether the child waits for one. */
static int wanted, coming, sender, comes_n, came;
static uint64_t incoming;
static char *bytes_in;
static MPI_Request *comes;

static int pieces_of(uint64_t bytes) { return (int)((bytes + LARGEST_PIECE - 1) / LARGEST_PIECE); }

static int piece(uint64_t bytes, uint64_t at) { return (int)(bytes - at < LARGEST_PIECE ? bytes - at : LARGEST_PIECE); }

int bridge_send(int to, uint64_t bytes)
{
	struct letter *l = bridge_room(sizeof *l);
	l->length = bytes;
	l->bytes = bridge_room(bytes);
	l->n = 1 + pieces_of(bytes);
	l->requests = bridge_room(sizeof *l->requests * (size_t)l->n);
	l->gone = 0;
	l->next = NULL;
	if (!bridge_read(bridge_orders, l->bytes, bytes))
		return 0;
	MPI_Isend(&l->length, 1, MPI_UINT64_T, to, TAG_LENGTH, bridge_messages, &l->requests[0]);
	int k = 1;
	for (uint64_t at = 0; at < bytes; at += LARGEST_PIECE)
		MPI_Isend(l->bytes + at, piece(bytes, at), MPI_BYTE, to, TAG_BYTES, bridge_messages, &l->requests[k++]);
	*last = l;
	last = &l->next;
	return bridge_answer(bridge_orders, ANSWER_FINE, 0, 0);
}

void bridge_receive(void) { wanted = 1; }

/* leave lets go of messages that have left. */
static int leave(void)
{
	int some = 0;
	while (leaving != NULL) {
		struct letter *l = leaving;
		if (!bridge_done(l->n, l->requests, &l->gone))
			break;
		leaving = l->next;
		if (leaving == NULL)
			last = &leaving;
		free(l->bytes);
		free(l->requests);
		free(l);
		some = 1;
	}
	return some;
}

/* come starts to receive a message, if there is one. */
static int come(void)
{
	int there;
	MPI_Status status;
	MPI_Iprobe(MPI_ANY_SOURCE, TAG_LENGTH, bridge_messages, &there, &status);
	if (!there)
		return 0;
	sender = status.MPI_SOURCE;
	MPI_Recv(&incoming, 1, MPI_UINT64_T, sender, TAG_LENGTH, bridge_messages, MPI_STATUS_IGNORE);
	bytes_in = bridge_room(incoming);
	comes_n = pieces_of(incoming);
	comes = bridge_room(sizeof *comes * (size_t)comes_n);
	int k = 0;
	for (uint64_t at = 0; at < incoming; at += LARGEST_PIECE)
		MPI_Irecv(bytes_in + at, piece(incoming, at), MPI_BYTE, sender, TAG_BYTES, bridge_messages, &comes[k++]);
	coming = 1;
	came = 0;
	return 1;
}

/* deliver gives a message that is complete to the child. */
static int deliver(void)
{
	if (!bridge_done(comes_n, comes, &came))
		return 0;
	if (bridge_answer(bridge_mail, ANSWER_FINE, sender, incoming))
		bridge_write(bridge_mail, bytes_in, incoming);
	free(bytes_in);
	free(comes);
	coming = wanted = 0;
	return 1;
}

int bridge_mail_progress(void)
{
	int some = leave();
	if (wanted && !coming)
		some |= come();
	if (coming)
		some |= deliver();
	return some;
}

int bridge_mail_busy(void) { return wanted || coming || leaving != NULL; }

int bridge_mail_flush(void)
{
	unsigned times = 0;
	while (leaving != NULL) {
		if (leave())
			continue;
		if (!bridge_tick())
			return 0;
		bridge_doze(&times);
	}
	return 1;
}

void bridge_mail_broken(void)
{
	if (wanted)
		bridge_answer(bridge_mail, ANSWER_BROKEN, 0, 0);
	wanted = 0;
}
