/* Receives messages of three integers by every call that there is, and prints the statuses, whose fields all had values
 * before: also what MPI leaves alone must be as without injection. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;
enum { OLD = 77 };
static int me, early;

static MPI_Status fresh(void) {
    MPI_Status s;
    memset(&s, 0, sizeof s);
    s.MPI_SOURCE = s.MPI_TAG = s.MPI_ERROR = OLD;
    return s;
}

static void show(const char *call, MPI_Status *s, int result) {
    int ints = -1, bytes = -1, cancelled = -1;
    MPI_Get_count(s, MPI_INT, &ints);
    MPI_Get_count(s, MPI_BYTE, &bytes);
    MPI_Test_cancelled(s, &cancelled);
    printf("%s %s: result %d, source %d, tag %d, error %d, %d ints, %d bytes, cancelled %d\n", early ? "early" : "late", call, result,
           s->MPI_SOURCE, s->MPI_TAG, s->MPI_ERROR, ints, bytes, cancelled);
}

/* Of what was sent only the error is defined. */
static void show_sent(const char *call, MPI_Status *s, int result) { printf("sent %s: result %d, error %d\n", call, result, s->MPI_ERROR); }

static int data[64];

/* begin makes both ranks meet, and the message come before or after the receive. */
static void begin(int tag) {
    int three[3] = {1, 2, tag};
    MPI_Barrier(MPI_COMM_WORLD);
    memset(data, 0, sizeof data);
    if (me == 0) {
        if (!early) usleep(3000);
        MPI_Send(three, 3, MPI_INT, 1, tag, MPI_COMM_WORLD);
    } else if (early) {
        usleep(3000);
    }
}

static void end(const char *call, int tag) {
    if (me == 1 && (data[0] != 1 || data[1] != 2 || data[2] != tag || data[3] != 0)) printf("%s: wrong data\n", call);
}

static MPI_Request receive(int tag) {
    MPI_Request r;
    MPI_Irecv(data, 64, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &r);
    return r;
}

#define CASE(name, ...)                              \
    do {                                              \
        static int tag = __LINE__;                    \
        MPI_Status s = fresh(), many[2] = {s, s};     \
        int result = 0, flag = 0, index = -1, n = 0, indices[2] = {-1, -1}; \
        MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};            \
        MPI_Message m = MPI_MESSAGE_NULL;             \
        (void)many, (void)flag, (void)index, (void)n, (void)indices, (void)r, (void)m, (void)result; \
        begin(tag);                                   \
        if (me == 1) { __VA_ARGS__ }                         \
        end(name, tag);                               \
    } while (0)

static void receives(void) {
    CASE("Recv", result = MPI_Recv(data, 64, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &s); show("Recv", &s, result););
    CASE("Recv ignored", result = MPI_Recv(data, 64, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE););
    CASE("Wait", r[0] = receive(tag); result = MPI_Wait(r, &s); show("Wait", &s, result););
    CASE("Wait ignored", r[0] = receive(tag); result = MPI_Wait(r, MPI_STATUS_IGNORE););
    CASE("Test", r[0] = receive(tag); while (!flag) result = MPI_Test(r, &flag, &s); show("Test", &s, result););
    CASE("Waitany", r[1] = receive(tag); result = MPI_Waitany(2, r, &index, &s); show("Waitany", &s, result); printf("index %d\n", index););
    CASE("Testany", r[1] = receive(tag); while (!flag) result = MPI_Testany(2, r, &index, &flag, &s); show("Testany", &s, result););
    CASE("Waitall", r[0] = receive(tag); result = MPI_Waitall(1, r, &s); show("Waitall", &s, result););
    CASE("Waitall of two", r[0] = receive(tag); result = MPI_Waitall(2, r, many); show("Waitall 0", &many[0], result); show("Waitall 1", &many[1], result););
    CASE("Testall", r[0] = receive(tag); while (!flag) result = MPI_Testall(2, r, &flag, many); show("Testall 0", &many[0], result); show("Testall 1", &many[1], result););
    CASE("Waitsome", r[1] = receive(tag); result = MPI_Waitsome(2, r, &n, indices, many); show("Waitsome", &many[0], result); printf("%d, %d\n", n, indices[0]););
    CASE("Testsome", r[1] = receive(tag); while (n == 0) result = MPI_Testsome(2, r, &n, indices, many); show("Testsome", &many[0], result););
    CASE("Request_get_status", r[0] = receive(tag); while (!flag) result = MPI_Request_get_status(r[0], &flag, &s);
         show("Request_get_status", &s, result); s = fresh(); result = MPI_Wait(r, &s); show("Wait after it", &s, result););
    CASE("Probe", result = MPI_Probe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &s); show("Probe", &s, result);
         s = fresh(); result = MPI_Recv(data, 3, MPI_INT, 0, tag, MPI_COMM_WORLD, &s); show("Recv after Probe", &s, result););
    CASE("Iprobe", while (!flag) result = MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &flag, &s); show("Iprobe", &s, result);
         MPI_Recv(data, 3, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE););
    CASE("Mprobe", result = MPI_Mprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &m, &s); show("Mprobe", &s, result);
         s = fresh(); result = MPI_Mrecv(data, 64, MPI_INT, &m, &s); show("Mrecv", &s, result); printf("null %d\n", m == MPI_MESSAGE_NULL););
    CASE("Mprobe ignored", MPI_Mprobe(0, tag, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE); MPI_Mrecv(data, 64, MPI_INT, &m, MPI_STATUS_IGNORE););
    CASE("Improbe", while (!flag) result = MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &m, &s); show("Improbe", &s, result);
         s = fresh(); result = MPI_Imrecv(data, 64, MPI_INT, &m, r); MPI_Wait(r, &s); show("Imrecv", &s, result); printf("null %d\n", m == MPI_MESSAGE_NULL););
    CASE("Improbe, Mrecv", while (!flag) MPI_Improbe(0, tag, MPI_COMM_WORLD, &flag, &m, MPI_STATUS_IGNORE);
         result = MPI_Mrecv(data, 64, MPI_INT, &m, &s); show("Mrecv after Improbe", &s, result););
    CASE("Sendrecv", result = MPI_Sendrecv(&me, 1, MPI_INT, MPI_PROC_NULL, 0, data, 64, MPI_INT, 0, tag, MPI_COMM_WORLD, &s); show("Sendrecv", &s, result););
    CASE("Sendrecv_replace", result = MPI_Sendrecv_replace(data, 64, MPI_INT, MPI_PROC_NULL, 0, 0, tag, MPI_COMM_WORLD, &s); show("Sendrecv_replace", &s, result););
    CASE("Recv_init", result = MPI_Recv_init(data, 64, MPI_INT, 0, tag, MPI_COMM_WORLD, r); MPI_Start(r); MPI_Wait(r, &s); show("Start, Wait", &s, result);
         s = fresh(); result = MPI_Wait(r, &s); show("Wait of inactive", &s, result); MPI_Request_free(r););
    CASE("large type", MPI_Datatype type; MPI_Type_vector(3, 1, 1, MPI_INT, &type); MPI_Type_commit(&type);
         result = MPI_Recv(data, 4, type, 0, tag, MPI_COMM_WORLD, &s); show("Recv of a type", &s, result); MPI_Type_free(&type););
}

static void failures(void) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CASE("Recv truncated", result = MPI_Recv(data, 2, MPI_INT, 0, tag, MPI_COMM_WORLD, &s); MPI_Error_class(result, &result);
         printf("truncated Recv: %d\n", result == MPI_ERR_TRUNCATE); data[0] = 1, data[1] = 2, data[2] = tag, data[3] = 0;);
    CASE("Mrecv truncated", MPI_Mprobe(0, tag, MPI_COMM_WORLD, &m, &s); result = MPI_Mrecv(data, 2, MPI_INT, &m, &s); MPI_Error_class(result, &result);
         printf("truncated Mrecv: %d\n", result == MPI_ERR_TRUNCATE); data[0] = 1, data[1] = 2, data[2] = tag, data[3] = 0;);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static int queried(void *unused, MPI_Status *s) {
    static int times;
    (void)unused;
    MPI_Status_set_elements(s, MPI_INT, 3);
    MPI_Status_set_cancelled(s, 0);
    s->MPI_SOURCE = 1, s->MPI_TAG = 2;
    printf("queried %d\n", ++times);
    return MPI_SUCCESS;
}
static int freed(void *unused) { return (void)unused, puts("freed"), MPI_SUCCESS; }
static int cancelled(void *unused, int complete) { return (void)unused, (void)complete, MPI_SUCCESS; }

/* What needs no message. */
static void alone(void) {
    MPI_Status s = fresh(), many[2] = {s, s};
    int flag = 0, index = -1, n = -1, indices[2], result;
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Message m;
    if (me == 0) return;
    result = MPI_Wait(r, &s), show("Wait of null", &s, result), s = fresh();
    result = MPI_Test(r, &flag, &s), show("Test of null", &s, result), s = fresh();
    result = MPI_Waitany(2, r, &index, &s), show("Waitany of null", &s, result), s = fresh();
    result = MPI_Testany(2, r, &index, &flag, &s), show("Testany of null", &s, result), s = fresh();
    result = MPI_Waitall(2, r, many), show("Waitall of null", &many[1], result), s = fresh();
    result = MPI_Waitsome(2, r, &n, indices, many), printf("Waitsome of null: %d\n", n == MPI_UNDEFINED);
    result = MPI_Recv(data, 3, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &s), show("Recv of none", &s, result), s = fresh();
    result = MPI_Probe(MPI_PROC_NULL, 5, MPI_COMM_WORLD, &s), show("Probe of none", &s, result), s = fresh();
    result = MPI_Iprobe(MPI_PROC_NULL, 5, MPI_COMM_WORLD, &flag, &s), show("Iprobe of none", &s, result), s = fresh();
    result = MPI_Mprobe(MPI_PROC_NULL, 5, MPI_COMM_WORLD, &m, &s), show("Mprobe of none", &s, result), s = fresh();
    result = MPI_Mrecv(data, 3, MPI_INT, &m, &s), show("Mrecv of none", &s, result), s = fresh();
    result = MPI_Improbe(MPI_PROC_NULL, 5, MPI_COMM_WORLD, &flag, &m, &s), show("Improbe of none", &s, result), s = fresh();
    result = MPI_Imrecv(data, 3, MPI_INT, &m, r), MPI_Wait(r, &s), show("Imrecv of none", &s, result), s = fresh();
    result = MPI_Sendrecv(data, 1, MPI_INT, MPI_PROC_NULL, 0, data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &s), show("Sendrecv of none", &s, result), s = fresh();
    MPI_Datatype nothing;
    MPI_Type_create_hindexed(2, (int[]){0, 0}, (MPI_Aint[]){0, 4}, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Irecv(NULL, 2, nothing, 0, 5, MPI_COMM_SELF, r);
    result = MPI_Send(NULL, 1, nothing, 0, 5, MPI_COMM_SELF), show_sent("nothing", &s, result);
    result = MPI_Wait(r, &s), show("Wait for nothing", &s, result), s = fresh();
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Type_free(&nothing);
    MPI_Grequest_start(queried, freed, cancelled, NULL, r);
    result = MPI_Test(r, &flag, &s), printf("Test of the program's own request: result %d, %d\n", result, flag);
    MPI_Grequest_complete(r[0]);
    result = MPI_Test(r, &flag, &s), show("Test of the program's own request", &s, result), s = fresh();
    MPI_Irecv(data, 3, MPI_INT, 0, 999, MPI_COMM_WORLD, r);
    MPI_Cancel(r);
    result = MPI_Wait(r, &s);
    MPI_Test_cancelled(&s, &flag);
    printf("cancelled: result %d, error %d, %d\n", result, s.MPI_ERROR, flag);
}

static void sends(void) {
    MPI_Status s = fresh(), many[2] = {s, s};
    int flag = 0, index, n, indices[2], result;
    MPI_Request r;
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 1) {
        for (int i = 0; i < 7; i++) MPI_Recv(data, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Isend(&me, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &r), result = MPI_Wait(&r, &s), show_sent("Wait", &s, result), s = fresh();
        MPI_Isend(&me, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &r);
        while (!flag) result = MPI_Test(&r, &flag, &s);
        show_sent("Test", &s, result), s = fresh();
        MPI_Issend(&me, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &r), result = MPI_Wait(&r, &s), show_sent("Issend, Wait", &s, result), s = fresh();
        MPI_Isend(&me, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &r), result = MPI_Waitany(1, &r, &index, &s), show_sent("Waitany", &s, result), s = fresh();
        MPI_Isend(&me, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, &r), result = MPI_Waitsome(1, &r, &n, indices, many), show_sent("Waitsome", &many[0], result);
        MPI_Isend(&me, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &r), many[0] = fresh(), result = MPI_Waitall(1, &r, many), show_sent("Waitall", &many[0], result);
        MPI_Send_init(&me, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, &r), MPI_Start(&r), result = MPI_Wait(&r, &s), show_sent("Start, Wait", &s, result), s = fresh();
        MPI_Request_free(&r);
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &r), s = fresh(), result = MPI_Wait(&r, &s), show_sent("Ibarrier, Wait", &s, result), s = fresh();
    MPI_Ibarrier(MPI_COMM_WORLD, &r), flag = 0;
    while (!flag) result = MPI_Test(&r, &flag, &s);
    show_sent("Ibarrier, Test", &s, result);
}

/* reductions asks for operations that MPI does not have for these types: every rank gets the error. */
static void reductions(void) {
    const MPI_Op ops[] = {MPI_BAND, MPI_SUM, MPI_MAXLOC, MPI_MAX, MPI_SUM};
    int in[4] = {1, 2, 3, 4}, out[4], class[4];
    MPI_Datatype two, types[] = {MPI_FLOAT, MPI_DATATYPE_NULL, MPI_INT, MPI_2INT, MPI_BYTE};
    MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_commit(&two);
    types[1] = two;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 5; i++) {
        MPI_Error_class(MPI_Allreduce(in, out, 1, types[i], ops[i], MPI_COMM_WORLD), &class[0]);
        MPI_Error_class(MPI_Reduce(in, out, 1, types[i], ops[i], 0, MPI_COMM_WORLD), &class[1]);
        MPI_Error_class(MPI_Scan(in, out, 1, types[i], ops[i], MPI_COMM_WORLD), &class[2]);
        MPI_Error_class(MPI_Reduce_scatter_block(in, out, 1, types[i], ops[i], MPI_COMM_WORLD), &class[3]);
        printf("%d: wrong reduction %d: %d %d %d %d\n", me, i, class[0], class[1], class[2], class[3]);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Type_free(&two);
}

/* wrong communicates types that are not committed, and with negative counts for single ranks. */
static void wrong(void) {
    const char *calls[] = {"Send", "Isend", "Irecv", "Send_init", "Sendrecv", "Bcast", "Gather", "Allgather", "Alltoall", "Alltoallw", "Gatherv", "Alltoallv",
        "Reduce_scatter"};
    int in[8] = {0}, out[8] = {0}, n[2] = {-1, -1}, one[2] = {1, 1}, at[2] = {0, 0}, class;
    MPI_Request r;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Datatype t;
    MPI_Type_contiguous(2, MPI_INT, &t);
    MPI_Datatype types[2] = {t, t};
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    int results[] = {MPI_Send(in, 1, t, 1 - me, 9, world), MPI_Isend(in, 1, t, 1 - me, 9, world, &r), MPI_Irecv(in, 1, t, 1 - me, 9, world, &r),
        MPI_Send_init(in, 1, t, 1 - me, 9, world, &r), MPI_Sendrecv(in, 1, t, 1 - me, 9, out, 1, t, 1 - me, 9, world, MPI_STATUS_IGNORE),
        MPI_Bcast(in, 1, t, 0, world), MPI_Gather(in, 1, t, out, 1, t, 0, world), MPI_Allgather(in, 1, t, out, 1, t, world),
        MPI_Alltoall(in, 1, t, out, 1, t, world), MPI_Alltoallw(in, one, at, types, out, one, at, types, world),
        MPI_Gatherv(in, -1, MPI_INT, out, n, at, MPI_INT, 0, world),
        MPI_Alltoallv(in, n, at, MPI_INT, out, n, at, MPI_INT, world), MPI_Reduce_scatter(in, out, n, MPI_INT, MPI_SUM, world)};
    for (unsigned i = 0; i < sizeof results / sizeof *results; i++) {
        MPI_Error_class(results[i], &class);
        printf("%d: wrong %s: %d\n", me, calls[i], class);
    }
    MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
    MPI_Type_free(&t);
}

static void refusal(const char *call, int result) {
    MPI_Error_class(result, &result);
    printf("%d: %s of its own buffer: %d\n", me, call, result);
}

/* aliases lets collectives read and write the same memory, which MPICH refuses. */
static void aliases(void) {
    int b[8] = {0}, n[2] = {2, 2}, at[2] = {0, 2}, bytes_at[2] = {0, 8};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Comm world = MPI_COMM_WORLD, self = MPI_COMM_SELF;
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
    bool refused = MPI_Allreduce(b, b, 1, MPI_INT, MPI_SUM, self) != MPI_SUCCESS;
    refusal("Allreduce", MPI_Allreduce(b, b, 1, MPI_INT, MPI_SUM, world));
    refusal("Allreduce of nothing", MPI_Allreduce(b, b, 0, MPI_INT, MPI_SUM, world));
    refusal("Scan", MPI_Scan(b, b, 1, MPI_INT, MPI_SUM, world));
    refusal("Exscan", MPI_Exscan(b, b, 1, MPI_INT, MPI_SUM, world));
    refusal("Reduce_scatter", MPI_Reduce_scatter(b, b, n, MPI_INT, MPI_SUM, world));
    refusal("Reduce_scatter_block", MPI_Reduce_scatter_block(b, b, 1, MPI_INT, MPI_SUM, world));
    refusal("Allgather", MPI_Allgather(b + 2 * me, 2, MPI_INT, b, 2, MPI_INT, world));
    refusal("Allgatherv", MPI_Allgatherv(b + 2 * me, 2, MPI_INT, b, n, at, MPI_INT, world));
    refusal("Alltoall", MPI_Alltoall(b, 2, MPI_INT, b, 2, MPI_INT, world));
    refusal("Alltoallv", MPI_Alltoallv(b, n, at, MPI_INT, b, n, at, MPI_INT, world));
    refusal("Alltoallw", MPI_Alltoallw(b, n, bytes_at, types, b, n, bytes_at, types, world));
    if (refused && me == 0) { /* by the root alone: it takes part in nothing */
        refusal("Reduce", MPI_Reduce(b, b, 1, MPI_INT, MPI_SUM, 0, world));
        refusal("Gather", MPI_Gather(b, 2, MPI_INT, b, 2, MPI_INT, 0, world));
        refusal("Gatherv", MPI_Gatherv(b, 2, MPI_INT, b, n, at, MPI_INT, 0, world));
        refusal("Scatter", MPI_Scatter(b, 2, MPI_INT, b, 2, MPI_INT, 0, world));
        refusal("Scatterv", MPI_Scatterv(b, n, at, MPI_INT, b, 2, MPI_INT, 0, world));
    }
    MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(self, MPI_ERRORS_ARE_FATAL);
}

/* later lets a collective that goes on after its call end with an error. */
static void later(void) {
    MPI_Request r;
    int class;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Ibcast(data, me == 0 ? 3 : 2, MPI_INT, 0, MPI_COMM_WORLD, &r);
    MPI_Error_class(MPI_Wait(&r, MPI_STATUS_IGNORE), &class);
    if (me == 1) printf("truncated Ibcast: %d\n", class != MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* epochs starts an epoch inside of another one, which is an error of this rank alone. */
static void epochs(void) {
    MPI_Win win;
    MPI_Group both;
    int place = me, class;
    MPI_Win_create(&place, sizeof place, sizeof place, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Comm_group(MPI_COMM_WORLD, &both);
    MPI_Win_post(both, 0, win);
    MPI_Win_start(both, 0, win);
    MPI_Error_class(MPI_Win_start(both, 0, win), &class);
    printf("%d: epoch inside of another one: %d\n", me, class);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Group_free(&both);
    MPI_Win_free(&win);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (early = 0; early < 2; early++) receives();
    failures();
    alone();
    sends();
    reductions();
    wrong();
    aliases();
    later();
    epochs();
    const char *loaded = getenv("LD_PRELOAD");
    printf("%d: programs that it starts load %s\n", me, loaded != NULL ? loaded : "nothing more");
    for (char **e = environ; *e != NULL; e++)
        if (strncmp(*e, "SLACKLINE_INJECT_", 17) == 0) printf("%d: programs that it starts see %s\n", me, *e);
    MPI_Finalize();
    return 0;
}
