/* Point-to-point messages: from each rank to the next one, unless a call is about itself. */
#include "conformance.h"

static int to, from, out, in;
static MPI_Status s;
static MPI_Request r, rs[3];

/* PAIR sends by one call and receives by MPI_Irecv. */
#define PAIR(send) do { \
        X(Irecv, (&in, 1, MPI_INT, from, 3, w, &r)); \
        X(Barrier, (w)); \
        send; \
        wait_for("Irecv", &r); \
        KEEP(in); \
        out += 7; \
    } while (0)

static int two, done;

static void completions(void) {
    int flag = 0, index, indices[2];
    MPI_Status ss[2];
#define AGAIN \
    X(Irecv, (&in, 1, MPI_INT, from, 4, w, &rs[0])); \
    X(Isend, (&out, 1, MPI_INT, to, 4, w, &rs[1]));
    AGAIN
    X(Waitall, (2, rs, ss));
    AGAIN
    X(Waitany, (2, rs, &index, &s));
    X(Waitany, (2, rs, &index, &s));
    AGAIN
    for (done = 0; done < 2; done += two) X(Waitsome, (2, rs, &two, indices, ss));
    AGAIN
    while (!flag) X(Testall, (2, rs, &flag, ss));
    AGAIN
    for (done = 0; done < 2; done += flag && index != MPI_UNDEFINED) X(Testany, (2, rs, &index, &flag, &s));
    AGAIN
    for (done = 0; done < 2; done += two) X(Testsome, (2, rs, &two, indices, ss));
    AGAIN
    for (flag = 0; !flag;) X(Request_get_status, (rs[0], &flag, &s));
    for (flag = 0; !flag;) X(Test, (&rs[0], &flag, MPI_STATUS_IGNORE));
    X(Wait, (&rs[1], MPI_STATUS_IGNORE));
    X(Irecv, (&in, 1, MPI_INT, from, 99, w, &r));
    X(Cancel, (&r));
    X(Wait, (&r, &s));
    X(Test_cancelled, (&s, &flag));
    KEEP(flag);
}

static int query(void *state, MPI_Status *status) {
    PMPI_Status_set_elements(status, MPI_INT, 1);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    (void)state;
    return MPI_SUCCESS;
}
static int nothing(void *state) { (void)state; return MPI_SUCCESS; }
static int no_cancel(void *state, int complete) { (void)state; (void)complete; return MPI_SUCCESS; }

static void generalized(void) {
    int elements;
    MPI_Count many;
    MPI_Status mine;
    memset(&mine, 0, sizeof mine);
    X(Grequest_start, (query, nothing, no_cancel, NULL, &r));
    X(Grequest_complete, (r));
    X(Wait, (&r, &s));
    X(Status_set_elements, (&mine, MPI_INT, 3));
    X(Get_elements, (&mine, MPI_INT, &elements));
    KEEP(elements);
    X(Status_set_elements_x, (&mine, MPI_INT, 5));
    X(Get_elements_x, (&mine, MPI_INT, &many));
    KEEP(many);
    X(Status_set_cancelled, (&mine, 1));
}

void messages(void) {
    static char room[4096];
    void *old;
    int size, flag = 0, count;
    MPI_Message m;
    to = (me + 1) % n;
    from = (me + n - 1) % n;
    out = 100 + me;
    X(Buffer_attach, (room, sizeof room));
    PAIR(X(Send, (&out, 1, MPI_INT, to, 3, w)));
    PAIR(X(Ssend, (&out, 1, MPI_INT, to, 3, w)));
    PAIR(X(Rsend, (&out, 1, MPI_INT, to, 3, w)));
    PAIR(X(Bsend, (&out, 1, MPI_INT, to, 3, w)));
    PAIR(X(Isend, (&out, 1, MPI_INT, to, 3, w, &rs[0])); wait_for("Isend", &rs[0]));
    PAIR(X(Issend, (&out, 1, MPI_INT, to, 3, w, &rs[0])); wait_for("Issend", &rs[0]));
    PAIR(X(Irsend, (&out, 1, MPI_INT, to, 3, w, &rs[0])); wait_for("Irsend", &rs[0]));
    PAIR(X(Ibsend, (&out, 1, MPI_INT, to, 3, w, &rs[0])); wait_for("Ibsend", &rs[0]));
    PAIR(X(Send_init, (&out, 1, MPI_INT, to, 3, w, &rs[0])); X(Start, (&rs[0])); wait_for("Send_init", &rs[0]); X(Request_free, (&rs[0])));
    PAIR(X(Ssend_init, (&out, 1, MPI_INT, to, 3, w, &rs[0])); X(Start, (&rs[0])); wait_for("Ssend_init", &rs[0]); X(Request_free, (&rs[0])));
    PAIR(X(Rsend_init, (&out, 1, MPI_INT, to, 3, w, &rs[0])); X(Start, (&rs[0])); wait_for("Rsend_init", &rs[0]); X(Request_free, (&rs[0])));
    PAIR(X(Bsend_init, (&out, 1, MPI_INT, to, 3, w, &rs[0])); X(Start, (&rs[0])); wait_for("Bsend_init", &rs[0]); X(Request_free, (&rs[0])));
    X(Recv_init, (&in, 1, MPI_INT, from, 5, w, &rs[0]));
    X(Send_init, (&out, 1, MPI_INT, to, 5, w, &rs[1]));
    X(Startall, (2, rs));
    X(Waitall, (2, rs, MPI_STATUSES_IGNORE));
    KEEP(in);
    X(Request_free, (&rs[0]));
    X(Request_free, (&rs[1]));
    X(Buffer_detach, (&old, &size));
    X(Sendrecv, (&out, 1, MPI_INT, to, 6, &in, 1, MPI_INT, from, 6, w, &s));
    X(Get_count, (&s, MPI_INT, &count));
    KEEP(in);
    KEEP(count);
    X(Sendrecv_replace, (&out, 1, MPI_INT, to, 6, from, 6, w, &s));
    KEEP(out);
    X(Send, (&out, 1, MPI_INT, MPI_PROC_NULL, 6, w));
    X(Isend, (&out, 1, MPI_INT, to, 7, w, &r));
    X(Probe, (from, 7, w, &s));
    while (!flag) X(Iprobe, (from, 7, w, &flag, &s));
    X(Recv, (&in, 1, MPI_INT, from, 7, w, &s));
    wait_for("Isend", &r);
    KEEP(in);
    X(Isend, (&out, 1, MPI_INT, to, 8, w, &r));
    X(Mprobe, (from, 8, w, &m, &s));
    X(Mrecv, (&in, 1, MPI_INT, &m, &s));
    wait_for("Isend", &r);
    X(Isend, (&out, 1, MPI_INT, to, 9, w, &r));
    for (flag = 0; !flag;) X(Improbe, (from, 9, w, &flag, &m, &s));
    X(Imrecv, (&in, 1, MPI_INT, &m, &rs[0]));
    wait_for("Imrecv", &rs[0]);
    wait_for("Isend", &r);
    KEEP(in);
    completions();
    generalized();
}

#if MPI_VERSION >= 4
void messages_large(void) {
    static char room[4096];
    MPI_Message m;
    out = 300 + me;
    X(Buffer_attach, (room, sizeof room));
    PAIR(X(Send_c, (&out, 1, MPI_INT, to, 3, w)));
    PAIR(X(Ssend_c, (&out, 1, MPI_INT, to, 3, w)));
    PAIR(X(Rsend_c, (&out, 1, MPI_INT, to, 3, w)));
    PAIR(X(Bsend_c, (&out, 1, MPI_INT, to, 3, w)));
    PAIR(X(Isend_c, (&out, 1, MPI_INT, to, 3, w, &rs[0])); wait_for("Isend_c", &rs[0]));
    PAIR(X(Issend_c, (&out, 1, MPI_INT, to, 3, w, &rs[0])); wait_for("Issend_c", &rs[0]));
    PAIR(X(Irsend_c, (&out, 1, MPI_INT, to, 3, w, &rs[0])); wait_for("Irsend_c", &rs[0]));
    PAIR(X(Ibsend_c, (&out, 1, MPI_INT, to, 3, w, &rs[0])); wait_for("Ibsend_c", &rs[0]));
    PAIR(X(Send_init_c, (&out, 1, MPI_INT, to, 3, w, &rs[0])); X(Start, (&rs[0])); wait_for("Send_init_c", &rs[0]); X(Request_free, (&rs[0])));
    PAIR(X(Ssend_init_c, (&out, 1, MPI_INT, to, 3, w, &rs[0])); X(Start, (&rs[0])); wait_for("Ssend_init_c", &rs[0]); X(Request_free, (&rs[0])));
    PAIR(X(Rsend_init_c, (&out, 1, MPI_INT, to, 3, w, &rs[0])); X(Start, (&rs[0])); wait_for("Rsend_init_c", &rs[0]); X(Request_free, (&rs[0])));
    PAIR(X(Bsend_init_c, (&out, 1, MPI_INT, to, 3, w, &rs[0])); X(Start, (&rs[0])); wait_for("Bsend_init_c", &rs[0]); X(Request_free, (&rs[0])));
    void *old;
    int size;
    X(Buffer_detach, (&old, &size));
    X(Recv_init_c, (&in, 1, MPI_INT, from, 5, w, &rs[0]));
    X(Irecv_c, (&in, 1, MPI_INT, from, 6, w, &rs[1]));
    X(Start, (&rs[0]));
    X(Send, (&out, 1, MPI_INT, to, 5, w));
    X(Send, (&out, 1, MPI_INT, to, 6, w));
    X(Waitall, (2, rs, MPI_STATUSES_IGNORE));
    X(Request_free, (&rs[0]));
    X(Isend, (&out, 1, MPI_INT, to, 7, w, &r));
    X(Recv_c, (&in, 1, MPI_INT, from, 7, w, &s));
    wait_for("Isend", &r);
    X(Sendrecv_c, (&out, 1, MPI_INT, to, 6, &in, 1, MPI_INT, from, 6, w, &s));
    X(Sendrecv_replace_c, (&out, 1, MPI_INT, to, 6, from, 6, w, &s));
    KEEP(out);
    X(Isend, (&out, 1, MPI_INT, to, 8, w, &r));
    X(Mprobe, (from, 8, w, &m, &s));
    X(Mrecv_c, (&in, 1, MPI_INT, &m, &s));
    wait_for("Isend", &r);
    X(Isend, (&out, 1, MPI_INT, to, 8, w, &r));
    X(Mprobe, (from, 8, w, &m, &s));
    X(Imrecv_c, (&in, 1, MPI_INT, &m, &rs[0]));
    wait_for("Imrecv_c", &rs[0]);
    wait_for("Isend", &r);
    KEEP(in);
    X(Isendrecv, (&out, 1, MPI_INT, to, 11, &in, 1, MPI_INT, from, 11, w, &r));
    wait_for("Isendrecv", &r);
    KEEP(in);
    X(Isendrecv_c, (&out, 1, MPI_INT, to, 11, &in, 1, MPI_INT, from, 11, w, &r));
    wait_for("Isendrecv_c", &r);
    X(Isendrecv_replace, (&out, 1, MPI_INT, to, 12, from, 12, w, &r));
    wait_for("Isendrecv_replace", &r);
    KEEP(out);
    X(Isendrecv_replace_c, (&out, 1, MPI_INT, to, 12, from, 12, w, &r));
    wait_for("Isendrecv_replace_c", &r);
    KEEP(out);
}

void partitioned(void) {
    int a[8], b[8] = {0}, flag = 0, list[1] = {3};
    MPI_Request send, receive;
    for (int i = 0; i < 8; i++) a[i] = 10 * me + i;
    X(Psend_init, (a, 4, 2, MPI_INT, to, 13, w, MPI_INFO_NULL, &send));
    X(Precv_init, (b, 4, 2, MPI_INT, from, 13, w, MPI_INFO_NULL, &receive));
    X(Start, (&receive));
    X(Start, (&send));
    X(Pready, (0, send));
    X(Pready_range, (1, 2, send));
    X(Pready_list, (1, list, send));
    while (!flag) X(Parrived, (receive, 1, &flag));
    X(Wait, (&send, MPI_STATUS_IGNORE));
    X(Wait, (&receive, MPI_STATUS_IGNORE));
    KEEP(b);
    X(Request_free, (&send));
    X(Request_free, (&receive));
}
#endif
