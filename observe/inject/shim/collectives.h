/* Collectives as messages. Each returns INJ_LEFT if it is left to MPI: between groups, on communicators that are not
 * known, or with arguments that MPI refuses. Without a request they block. */
#ifndef INJ_COLLECTIVES_H
#define INJ_COLLECTIVES_H
#include "schedule.h"

enum { INJ_LEFT = -1000001 };

static inline bool inj_bad_root(MPI_Comm comm, int root) {
    struct comm *c = inj_comm(comm);
    return c == NULL || c->inter || root < 0 || root >= c->size;
}

/* inj_bad_counts does for one count per rank what inj_bad does for one; types has one type for each of them, or NULL and type is that of all. */
static inline bool inj_bad_counts(struct counts counts, int n, MPI_Datatype type, const MPI_Datatype *types) {
    MPI_Count most = 0;
    if (counts.narrow == NULL && counts.wide == NULL) return true;
    for (int i = 0; i < n; i++) {
        MPI_Count count = count_at(counts, i);
        if (count < 0 || (types != NULL && count > 0 && inj_bad(count, types[i]))) return true;
        if (count > most) most = count;
    }
    return types == NULL && inj_bad(most, type);
}

int inj_barrier(MPI_Comm comm, MPI_Request *request);
int inj_bcast(void *buf, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request);
int inj_gather(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request);
int inj_gatherv(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, struct counts recvcounts, struct places displs, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request);
int inj_scatter(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request);
int inj_scatterv(const void *sendbuf, struct counts sendcounts, struct places displs, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request);
int inj_allgather(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int inj_allgatherv(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, struct counts recvcounts, struct places displs, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int inj_alltoall(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int inj_alltoallv(const void *sendbuf, struct counts sendcounts, struct places sdispls, MPI_Datatype sendtype, void *recvbuf, struct counts recvcounts, struct places rdispls, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int inj_alltoallw(const void *sendbuf, struct counts sendcounts, struct places sdispls, const MPI_Datatype sendtypes[], void *recvbuf, struct counts recvcounts, struct places rdispls, const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request);
int inj_reduce(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm, MPI_Request *request);
int inj_allreduce(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request);
int inj_reduce_scatter(const void *sendbuf, void *recvbuf, struct counts recvcounts, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request);
int inj_reduce_scatter_block(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request);
int inj_scan(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request);
int inj_exscan(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request);
int inj_neighbor_allgather(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int inj_neighbor_allgatherv(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, struct counts recvcounts, struct places displs, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int inj_neighbor_alltoall(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int inj_neighbor_alltoallv(const void *sendbuf, struct counts sendcounts, struct places sdispls, MPI_Datatype sendtype, void *recvbuf, struct counts recvcounts, struct places rdispls, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int inj_neighbor_alltoallw(const void *sendbuf, struct counts sendcounts, struct places sdispls, const MPI_Datatype sendtypes[], void *recvbuf, struct counts recvcounts, struct places rdispls, const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request);
int inj_neighbors(MPI_Comm comm, bool outgoing); /* how many there are */

#endif
