/* What the wrappers call instead of MPI: the functions of MPI about messages and requests, with counts of any width. */
#ifndef INJ_CALLS_H
#define INJ_CALLS_H
#include "inject.h"

int inj_send(int mode, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);
int inj_send_later(int mode, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request);
int inj_send_init(int mode, const void *buf, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request);
int inj_Recv(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status);
int inj_Irecv(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request);
int inj_Recv_init(void *buf, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request);
int inj_Sendrecv(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status);
int inj_Sendrecv_replace(void *buf, MPI_Count count, MPI_Datatype type, int dest, int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Status *status);
int inj_Mrecv(void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message, MPI_Status *status);
int inj_Imrecv(void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message, MPI_Request *request);
int inj_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status);
int inj_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status);
int inj_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status);
int inj_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status);
int inj_Wait(MPI_Request *request, MPI_Status *status);
int inj_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]);
int inj_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status);
int inj_Waitsome(int count, MPI_Request requests[], int *found, int indices[], MPI_Status statuses[]);
int inj_Test(MPI_Request *request, int *flag, MPI_Status *status);
int inj_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]);
int inj_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status);
int inj_Testsome(int count, MPI_Request requests[], int *found, int indices[], MPI_Status statuses[]);
int inj_Request_get_status(MPI_Request request, int *flag, MPI_Status *status);
int inj_Start(MPI_Request *request);
int inj_Startall(int count, MPI_Request requests[]);
int inj_Request_free(MPI_Request *request);
int inj_Isendrecv(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request *request);
int inj_Isendrecv_replace(void *buf, MPI_Count count, MPI_Datatype type, int dest, int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Request *request);
void inj_foreign(MPI_Request request);

#endif
