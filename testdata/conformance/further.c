/* Forms for large counts, conversions of handles, the interface of tools, sessions, and further worlds. */
#include "conformance.h"
#include <arpa/inet.h>
#include <sys/socket.h>

#if MPI_VERSION >= 4
static void sum(void *in, void *out, MPI_Count *count, MPI_Datatype *type) {
    (void)type;
    for (MPI_Count i = 0; i < *count; i++) ((int *)out)[i] += ((int *)in)[i];
}

static int extent_of(MPI_Datatype type, MPI_Aint *extent, void *state) {
    (void)type;
    (void)state;
    *extent = 4;
    return MPI_SUCCESS;
}

static void large_types(void) {
    MPI_Datatype t, list[2] = {MPI_INT, MPI_DOUBLE}, u;
    MPI_Count size, lens[2] = {1, 2}, at[2] = {0, 8}, sizes[2] = {4, 4}, sub[2] = {2, 2}, starts[2] = {1, 1}, one[1] = {8}, lb, extent, counts[4];
    int distribs[1] = {MPI_DISTRIBUTE_BLOCK}, args[1] = {MPI_DISTRIBUTE_DFLT_DARG}, psizes[1] = {1}, ints[8], combiner;
    MPI_Aint addresses[8];
#define MADE X(Type_size_c, (t, &size)); KEEP(size); X(Type_free, (&t));
    X(Type_contiguous_c, (3, MPI_INT, &t)); MADE
    X(Type_vector_c, (2, 1, 3, MPI_INT, &t)); MADE
    X(Type_create_hvector_c, (2, 1, 12, MPI_INT, &t)); MADE
    X(Type_indexed_c, (2, lens, at, MPI_INT, &t)); MADE
    X(Type_create_hindexed_c, (2, lens, at, MPI_INT, &t)); MADE
    X(Type_create_indexed_block_c, (2, 1, at, MPI_INT, &t)); MADE
    X(Type_create_hindexed_block_c, (2, 1, at, MPI_INT, &t)); MADE
    X(Type_create_struct_c, (2, lens, at, list, &t)); MADE
    X(Type_create_subarray_c, (2, sizes, sub, starts, MPI_ORDER_C, MPI_INT, &t)); MADE
    X(Type_create_darray_c, (1, 0, 1, one, distribs, args, psizes, MPI_ORDER_C, MPI_INT, &t)); MADE
    X(Type_create_resized_c, (MPI_INT, 0, 16, &t));
    X(Type_get_extent_c, (t, &lb, &extent));
    X(Type_get_true_extent_c, (t, &lb, &extent));
    KEEP(extent);
    X(Type_get_envelope_c, (t, &counts[0], &counts[1], &counts[2], &counts[3], &combiner));
    Y(Type_get_contents_c, (t, counts[0], counts[1], counts[2], counts[3], ints, addresses, starts, &u));
    X(Type_free, (&t));
}

void large_forms(void) {
    int in[4] = {1, 2, 3, 4}, out[4] = {0}, *base, x = me, y = 0, unit;
    MPI_Count size, pos = 0, count;
    char packed[64], room[1000 + MPI_BSEND_OVERHEAD];
    void *buffer;
    MPI_Op op;
    MPI_Win win;
    MPI_Aint bytes;
    MPI_File f;
    MPI_Status s;
    large_types();
    X(Pack_size_c, (4, MPI_INT, w, &size));
    X(Pack_c, (in, 4, MPI_INT, packed, 64, &pos, w));
    pos = 0;
    X(Unpack_c, (packed, 64, &pos, out, 4, MPI_INT, w));
    KEEP(out);
    X(Pack_external_size_c, ("external32", 4, MPI_INT, &size));
    pos = 0;
    X(Pack_external_c, ("external32", in, 4, MPI_INT, packed, 64, &pos));
    pos = 0;
    X(Unpack_external_c, ("external32", packed, 64, &pos, out, 4, MPI_INT));
    KEEP(out);
    X(Op_create_c, (sum, 1, &op));
    X(Allreduce, (&x, &y, 1, MPI_INT, op, w));
    KEEP(y);
    X(Op_free, (&op));
    X(Buffer_attach_c, (room, sizeof room));
    X(Buffer_detach_c, (&buffer, &size));
    X(Sendrecv, (&x, 1, MPI_INT, (me + 1) % n, 0, &y, 1, MPI_INT, (me + n - 1) % n, 0, w, &s));
    X(Get_count_c, (&s, MPI_INT, &count));
    X(Get_elements_c, (&s, MPI_INT, &count));
    KEEP(count);
    X(Win_allocate_c, (64, 4, MPI_INFO_NULL, w, &base, &win));
    X(Win_free, (&win));
    X(Win_allocate_shared_c, (64, 4, MPI_INFO_NULL, w, &base, &win));
    Y(Win_shared_query_c, (win, 0, &bytes, &bytes, &base));
    X(Win_free, (&win));
    X(Win_create_c, (in, sizeof in, 4, MPI_INFO_NULL, w, &win));
    X(Win_free, (&win));
    X(File_open, (w, scratch, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    X(File_get_type_extent_c, (f, MPI_INT, &size));
    X(File_close, (&f));
    Y(Register_datarep_c, ("large", MPI_CONVERSION_FN_NULL_C, MPI_CONVERSION_FN_NULL_C, extent_of, NULL));
    (void)unit;
}

static void on_session(MPI_Session *s, int *code, ...) { (void)s, (void)code; }

void sessions(void) {
    MPI_Session s;
    MPI_Errhandler e;
    MPI_Info info;
    MPI_Group g;
    MPI_Comm c;
    int sets = 0, length = 0;
    X(Session_init, (MPI_INFO_NULL, MPI_ERRORS_RETURN, &s));
    X(Session_create_errhandler, (on_session, &e));
    X(Session_set_errhandler, (s, e));
    X(Session_call_errhandler, (s, MPI_ERR_OTHER));
    X(Errhandler_free, (&e));
    X(Session_get_errhandler, (s, &e));
    X(Errhandler_free, (&e));
    X(Session_get_num_psets, (s, MPI_INFO_NULL, &sets));
    X(Session_get_nth_pset, (s, MPI_INFO_NULL, 0, &length, NULL));
    X(Session_get_pset_info, (s, "mpi://WORLD", &info));
    X(Info_free, (&info));
    X(Session_get_info, (s, &info));
    X(Info_free, (&info));
    X(Group_from_session_pset, (s, "mpi://WORLD", &g));
    X(Comm_create_from_group, (g, "sessions", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
    X(Barrier, (c));
    X(Comm_free, (&c));
    X(Group_free, (&g));
    X(Session_finalize, (&s));
    MPI_Group world, near, far;
    int halves[2][1][3] = {{{0, n / 2 - 1, 1}}, {{n / 2, n - 1, 1}}}, mine = me >= n / 2;
    X(Comm_group, (w, &world));
    X(Group_range_incl, (world, 1, halves[mine], &near));
    X(Group_range_incl, (world, 1, halves[!mine], &far));
    X(Intercomm_create_from_groups, (near, 0, far, 0, "halves", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
    X(Barrier, (c));
    X(Comm_free, (&c));
    X(Group_free, (&near));
    X(Group_free, (&far));
    X(Group_free, (&world));
}
#endif

#ifdef MPICH
static void on_comm(MPI_Comm *c, int *code, ...) { (void)c, (void)code; }
#endif

/* H makes a handle one of Fortran and back. */
#define H(type, f, handle) do { counted(#f "_c2f"); counted(#f "_f2c"); if (MPI_##f##_f2c(MPI_##f##_c2f(handle)) != (handle)) failed(#f, MPI_ERR_OTHER); } while (0)
void handles(void) {
    MPI_Status s = {0}, back = {0};
    MPI_Fint fortran[sizeof(MPI_Status) / sizeof(MPI_Fint) + 8];
    H(MPI_Comm, Comm, w);
    H(MPI_Errhandler, Errhandler, MPI_ERRORS_RETURN);
    H(MPI_File, File, MPI_FILE_NULL);
    H(MPI_Group, Group, MPI_GROUP_EMPTY);
    H(MPI_Info, Info, MPI_INFO_NULL);
    H(MPI_Message, Message, MPI_MESSAGE_NULL);
    H(MPI_Op, Op, MPI_SUM);
    H(MPI_Request, Request, MPI_REQUEST_NULL);
    H(MPI_Datatype, Type, MPI_INT);
    H(MPI_Win, Win, MPI_WIN_NULL);
    s.MPI_SOURCE = 3;
    X(Status_c2f, (&s, fortran));
    X(Status_f2c, (fortran, &back));
    KEEP(back.MPI_SOURCE);
#ifdef MPICH /* what was removed before MPI-3.1 is still there */
    MPI_Aint a, lb;
    MPI_Datatype t;
    MPI_Errhandler e;
    int x, lens[1] = {1};
    X(Address, (&x, &a));
    X(Type_extent, (MPI_INT, &a));
    X(Type_lb, (MPI_INT, &lb));
    X(Type_ub, (MPI_INT, &a));
    KEEP(a);
    a = 0;
    t = MPI_INT;
    MPI_Datatype made;
    X(Type_hindexed, (1, lens, &a, t, &made));
    X(Type_free, (&made));
    X(Type_hvector, (1, 1, 4, t, &made));
    X(Type_free, (&made));
    X(Type_struct, (1, lens, &a, &t, &made));
    X(Type_free, (&made));
    X(Errhandler_get, (w, &e));
    X(Errhandler_set, (w, e));
    X(Errhandler_free, (&e));
    X(Errhandler_create, (on_comm, &e));
    X(Errhandler_free, (&e));
#endif
}

/* What the interface of tools offers depends on the library. */
void tools(void) {
    int provided, number = 0, a = 256, b = 256, v, bind, scope, class, ro, cont, atomic, index = 0, items = 0;
    int list[1], count = 1;
    char name[256], text[256];
    MPI_Datatype type;
    MPI_T_enum kind = MPI_T_ENUM_NULL;
    MPI_T_cvar_handle cvar = NULL;
    MPI_T_pvar_handle pvar = NULL;
    MPI_T_pvar_session session;
    long long value[64] = {0};
    X(T_init_thread, (MPI_THREAD_SINGLE, &provided));
    X(T_cvar_get_num, (&number));
    Y(T_cvar_get_info, (0, name, &a, &v, &type, &kind, text, &b, &bind, &scope));
    Y(T_cvar_get_index, (name, &index));
    for (int i = 0; i < number && items == 0; i++) {
        a = b = 256;
        kind = MPI_T_ENUM_NULL;
        if (PMPI_T_cvar_get_info(i, name, &a, &v, &type, &kind, text, &b, &bind, &scope) == MPI_SUCCESS && kind != MPI_T_ENUM_NULL) {
            a = 256;
            X(T_enum_get_info, (kind, &items, name, &a));
            a = 256;
            X(T_enum_get_item, (kind, 0, &v, name, &a));
        }
    }
    for (int i = 0; i < number; i++) { /* one that is a number and belongs to no object */
        a = b = 256;
        if (PMPI_T_cvar_get_info(i, name, &a, &v, &type, &kind, text, &b, &bind, &scope) != MPI_SUCCESS || type != MPI_INT || bind != MPI_T_BIND_NO_OBJECT) continue;
        X(T_cvar_handle_alloc, (i, NULL, &cvar, &count));
        X(T_cvar_read, (cvar, value));
        Y(T_cvar_write, (cvar, value));
        X(T_cvar_handle_free, (&cvar));
        break;
    }
    X(T_pvar_get_num, (&number));
    X(T_pvar_session_create, (&session));
    a = b = 256;
    class = 0;
    if (number > 0) { /* MPICH 4.0 fails where there are none */
        X(T_pvar_get_info, (0, name, &a, &v, &class, &type, &kind, text, &b, &bind, &ro, &cont, &atomic));
        X(T_pvar_get_index, (name, class, &index));
    }
    for (int i = 0; i < number; i++) {
        a = b = 256;
        if (PMPI_T_pvar_get_info(i, name, &a, &v, &class, &type, &kind, text, &b, &bind, &ro, &cont, &atomic) != MPI_SUCCESS || bind != MPI_T_BIND_NO_OBJECT) continue;
        if (PMPI_T_pvar_handle_alloc(session, i, NULL, &pvar, &count) != MPI_SUCCESS || count > 8) continue;
        PMPI_T_pvar_handle_free(session, &pvar);
        X(T_pvar_handle_alloc, (session, i, NULL, &pvar, &count));
        Y(T_pvar_start, (session, pvar));
        Y(T_pvar_read, (session, pvar, value));
        Y(T_pvar_write, (session, pvar, value));
        Y(T_pvar_readreset, (session, pvar, value));
        Y(T_pvar_reset, (session, pvar));
        Y(T_pvar_stop, (session, pvar));
        X(T_pvar_handle_free, (session, &pvar));
        break;
    }
    X(T_pvar_session_free, (&session));
    X(T_category_get_num, (&number));
    a = b = 256;
    Y(T_category_get_info, (0, name, &a, text, &b, &v, &bind, &scope));
    Y(T_category_get_index, (name, &index));
    Y(T_category_get_cvars, (0, 1, list));
    Y(T_category_get_pvars, (0, 1, list));
    Y(T_category_get_categories, (0, 1, list));
    Y(T_category_changed, (&number));
#if MPI_VERSION >= 4
    MPI_Count stamp;
    MPI_T_source_order order;
    MPI_Info info = MPI_INFO_NULL;
    Y(T_category_get_num_events, (0, &number));
    Y(T_category_get_events, (0, 1, list));
    Y(T_event_get_num, (&number));
    Y(T_event_get_index, ("none", &index));
    Y(T_source_get_num, (&number));
    Y(T_source_get_info, (number, name, &a, text, &b, &order, &stamp, &stamp, &info));
    Y(T_source_get_timestamp, (number, &stamp));
#endif
    X(T_finalize, ());
}

/* join connects ranks 0 and 1 by a socket. */
static void join(void) {
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof here;
    MPI_Comm c = MPI_COMM_NULL;
    int fd = socket(AF_INET, SOCK_STREAM, 0), port, got = 0;
    if (me == 0) {
        if (bind(fd, (struct sockaddr *)&here, size) != 0 || listen(fd, 1) != 0 || getsockname(fd, (struct sockaddr *)&here, &size) != 0) failed("join", MPI_ERR_OTHER);
        port = here.sin_port;
        X(Send, (&port, 1, MPI_INT, 1, 9, w));
        int other = accept(fd, NULL, NULL);
        close(fd);
        fd = other;
    } else {
        X(Recv, (&port, 1, MPI_INT, 0, 9, w, MPI_STATUS_IGNORE));
        here.sin_port = (in_port_t)port;
        if (connect(fd, (struct sockaddr *)&here, size) != 0) failed("join", MPI_ERR_OTHER);
    }
    X(Comm_join, (fd, &c));
    X(Sendrecv, (&me, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, c, MPI_STATUS_IGNORE));
    KEEP(got);
    X(Comm_disconnect, (&c));
    close(fd);
}

/* ports connects the lower half of the ranks with the upper one. */
static int ports(void) {
    int possible = 1;
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm half, c;
    int upper = me >= n / 2, got = -1;
    if (me == 0) {
        counted("Open_port");
        PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        PMPI_Comm_set_errhandler(w, MPI_ERRORS_RETURN);
        possible = MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS;
    }
    X(Bcast, (&possible, 1, MPI_INT, 0, w));
    if (!possible) return 0; /* MPICH with UCX connects no worlds */
    X(Comm_split, (w, upper, me, &half));
    if (me == 0) {
        Y(Publish_name, ("conformance", MPI_INFO_NULL, port)); /* there may be no server of names */
        char found[MPI_MAX_PORT_NAME];
        Y(Lookup_name, ("conformance", MPI_INFO_NULL, found));
        Y(Unpublish_name, ("conformance", MPI_INFO_NULL, port));
    }
    X(Bcast, (port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, w));
    if (upper) X(Comm_connect, (port, MPI_INFO_NULL, 0, half, &c));
    else X(Comm_accept, (port, MPI_INFO_NULL, 0, half, &c));
    X(Sendrecv, (&me, 1, MPI_INT, me % (n / 2), 0, &got, 1, MPI_INT, me % (n / 2), 0, c, MPI_STATUS_IGNORE));
    KEEP(got);
    X(Comm_disconnect, (&c));
    if (me == 0) X(Close_port, (port));
    X(Comm_free, (&half));
    return 1;
}

int child(MPI_Comm parent, const char *prefix, int number) {
    int x = number;
    X(Send, (&x, 1, MPI_INT, 0, 0, parent));
    X(Comm_disconnect, (&parent));
    counted("Finalize");
    write_counts(prefix, number);
    MPI_Finalize();
    return 0;
}

void worlds(const char *program, const char *prefix) {
    MPI_Comm c;
    int x = 0, one[1] = {1}, code[1];
    char first[16], second[16];
    snprintf(first, sizeof first, "%d", n);
    snprintf(second, sizeof second, "%d", n + 1);
    char *alone[] = {(char *)prefix, first, NULL}, *several[] = {(char *)prefix, second, NULL}, **all[] = {several}, *programs[] = {(char *)program};
    MPI_Info info[1] = {MPI_INFO_NULL};
    if (!ports()) return;
    if (me < 2) join();
    X(Comm_spawn, (program, alone, 1, MPI_INFO_NULL, 0, w, &c, code));
    if (me == 0) X(Recv, (&x, 1, MPI_INT, 0, 0, c, MPI_STATUS_IGNORE));
    X(Comm_disconnect, (&c));
    X(Comm_spawn_multiple, (1, programs, all, one, info, 0, w, &c, code));
    if (me == 0) X(Recv, (&x, 1, MPI_INT, 0, 0, c, MPI_STATUS_IGNORE));
    KEEP(x);
    X(Comm_disconnect, (&c));
}
