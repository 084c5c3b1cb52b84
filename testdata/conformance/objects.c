/* Groups, communicators, attributes, types, windows and files. */
#include "conformance.h"

void groups_and_communicators(void) {
    MPI_Group world, g, h;
    MPI_Comm c, d;
    MPI_Request r;
    MPI_Info info;
    int ranks[2] = {0, 1}, there[2], result, range[1][3] = {{0, n - 1, 1}}, length, flag;
    char name[MPI_MAX_OBJECT_NAME];
    X(Comm_group, (w, &world));
    X(Group_size, (world, &result));
    X(Group_rank, (world, &result));
    X(Group_incl, (world, 2, ranks, &g));
    X(Group_excl, (world, 1, ranks, &h));
    X(Group_translate_ranks, (h, 1, ranks, world, there));
    KEEP(there[0]);
    X(Group_compare, (g, h, &result));
    KEEP(result);
    MPI_Group u, v, x;
    X(Group_union, (g, h, &u));
    X(Group_intersection, (g, h, &v));
    X(Group_difference, (u, g, &x));
    X(Group_free, (&u));
    X(Group_free, (&v));
    X(Group_free, (&x));
    X(Group_range_incl, (world, 1, range, &u));
    X(Group_range_excl, (world, 1, range, &v));
    X(Group_free, (&u));
    if (v != MPI_GROUP_EMPTY) X(Group_free, (&v));
    X(Comm_dup, (w, &c));
    X(Comm_compare, (w, c, &result));
    KEEP(result);
    X(Comm_set_name, (c, "twin"));
    X(Comm_get_name, (c, name, &length));
    keep("name", name, (size_t)length);
    X(Info_create, (&info));
    X(Comm_set_info, (c, info));
    MPI_Info used;
    X(Comm_get_info, (c, &used));
    X(Info_free, (&used));
    X(Comm_dup_with_info, (c, info, &d));
    X(Comm_free, (&d));
    X(Comm_idup, (c, &d, &r));
    wait_for("Comm_idup", &r);
    X(Barrier, (d));
    X(Comm_free, (&d));
#if MPI_VERSION >= 4
    X(Comm_idup_with_info, (c, info, &d, &r));
    wait_for("Comm_idup_with_info", &r);
    X(Barrier, (d));
    X(Comm_free, (&d));
    X(Comm_create_from_group, (world, "conformance", MPI_INFO_NULL, MPI_ERRORS_RETURN, &d));
    X(Barrier, (d));
    X(Comm_free, (&d));
#endif
    X(Comm_disconnect, (&c));
    X(Comm_split, (w, me % 2, -me, &c));
    X(Comm_rank, (c, &result));
    KEEP(result);
    X(Comm_free, (&c));
    X(Comm_split_type, (w, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, &c));
    X(Comm_free, (&c));
    X(Comm_create, (w, g, &c));
    if (c != MPI_COMM_NULL) X(Comm_free, (&c));
    if (me < 2) {
        X(Comm_create_group, (w, g, 5, &c));
        X(Comm_free, (&c));
    }
    X(Comm_test_inter, (w, &flag));
    X(Comm_get_parent, (&c));
    X(Info_set, (info, "key", "value"));
    X(Info_get_nkeys, (info, &result));
    X(Info_get_nthkey, (info, 0, name));
    char value[32];
    X(Info_get_valuelen, (info, "key", &length, &flag));
    X(Info_get, (info, "key", 31, value, &flag));
    keep("value", value, 5);
#if MPI_VERSION >= 4
    length = 32;
    X(Info_get_string, (info, "key", &length, value, &flag));
    MPI_Info env;
    X(Info_create_env, (0, NULL, &env));
    X(Info_free, (&env));
#endif
    X(Info_dup, (info, &used));
    X(Info_free, (&used));
    X(Info_delete, (info, "key"));
    X(Info_free, (&info));
    X(Group_free, (&g));
    X(Group_free, (&h));
    X(Group_free, (&world));
}

void between_groups(void) {
    MPI_Comm half, both, merged;
    MPI_Group far;
    int size, sum = 0, one = me + 1;
    X(Comm_split, (w, me < n / 2, me, &half));
    X(Intercomm_create, (half, 0, w, me < n / 2 ? n / 2 : 0, 3, &both));
    X(Comm_remote_size, (both, &size));
    X(Comm_remote_group, (both, &far));
    X(Group_free, (&far));
    KEEP(size);
    X(Allreduce, (&one, &sum, 1, MPI_INT, MPI_SUM, both));
    KEEP(sum);
    X(Bcast, (&sum, 1, MPI_INT, me >= n / 2 ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL, both));
    KEEP(sum);
    X(Intercomm_merge, (both, me < n / 2, &merged));
    X(Barrier, (merged));
    X(Comm_free, (&merged));
    X(Comm_free, (&both));
    X(Comm_free, (&half));
}

static int copy(void *o, int k, void *e, void *in, void *out, int *flag) { (void)o; (void)k; (void)e; *(void **)out = in; *flag = 1; return MPI_SUCCESS; }
static int copy_comm(MPI_Comm c, int k, void *e, void *in, void *out, int *flag) { (void)c; return copy(NULL, k, e, in, out, flag); }
static int drop_comm(MPI_Comm c, int k, void *v, void *e) { (void)c; (void)k; (void)v; (void)e; return MPI_SUCCESS; }
static int copy_type(MPI_Datatype c, int k, void *e, void *in, void *out, int *flag) { (void)c; return copy(NULL, k, e, in, out, flag); }
static int drop_type(MPI_Datatype c, int k, void *v, void *e) { (void)c; (void)k; (void)v; (void)e; return MPI_SUCCESS; }
static void on_comm(MPI_Comm *c, int *code, ...) { (void)c; (void)code; }
static void on_win(MPI_Win *c, int *code, ...) { (void)c; (void)code; }
static void on_file(MPI_File *c, int *code, ...) { (void)c; (void)code; }
static void add(void *in, void *inout, int *len, MPI_Datatype *type) { (void)type; for (int i = 0; i < *len; i++) ((int *)inout)[i] += ((int *)in)[i]; }

void attributes(void) {
    int key, value = 5, flag, *got;
    MPI_Errhandler e, f;
    MPI_Comm c;
    MPI_Op op;
    X(Comm_create_keyval, (copy_comm, drop_comm, &key, NULL));
    X(Comm_set_attr, (w, key, &value));
    X(Comm_get_attr, (w, key, &got, &flag));
    KEEP(*got);
    X(Comm_delete_attr, (w, key));
    X(Comm_free_keyval, (&key));
    X(Keyval_create, ((MPI_Copy_function *)copy_comm, (MPI_Delete_function *)drop_comm, &key, NULL));
    X(Attr_put, (w, key, &value));
    X(Attr_get, (w, key, &got, &flag));
    X(Attr_delete, (w, key));
    X(Keyval_free, (&key));
    X(Type_create_keyval, (copy_type, drop_type, &key, NULL));
    MPI_Datatype t;
    X(Type_dup, (MPI_INT, &t));
    X(Type_set_attr, (t, key, &value));
    X(Type_get_attr, (t, key, &got, &flag));
    X(Type_delete_attr, (t, key));
    X(Type_free_keyval, (&key));
    X(Type_free, (&t));
    X(Comm_dup, (w, &c));
    X(Comm_create_errhandler, (on_comm, &e));
    X(Comm_set_errhandler, (c, e));
    X(Comm_get_errhandler, (c, &f));
    X(Comm_call_errhandler, (c, MPI_ERR_OTHER));
    X(Errhandler_free, (&e));
    X(Errhandler_free, (&f));
    X(Comm_free, (&c));
    X(Op_create, (add, 1, &op));
    int a = me, b = 0;
    X(Allreduce, (&a, &b, 1, MPI_INT, op, w));
    KEEP(b);
    X(Op_free, (&op));
#if MPI_VERSION >= 4
    X(Reduce_local_c, (&a, &b, 1, MPI_INT, MPI_SUM));
    KEEP(b);
#endif
}

void types(void) {
    MPI_Datatype t, u;
    MPI_Aint lb, extent, at[2] = {0, 8}, address;
    MPI_Count wide, wide2;
    int size, lens[2] = {1, 2}, displs[2] = {0, 4}, sizes[2] = {4, 4}, sub[2] = {2, 2}, starts[2] = {1, 1}, ni, na, nd, comb, pos = 0, out[4] = {0}, in[4] = {1, 2, 3, 4};
    MPI_Datatype list[2] = {MPI_INT, MPI_DOUBLE};
    int distribs[1] = {MPI_DISTRIBUTE_BLOCK}, args[1] = {MPI_DISTRIBUTE_DFLT_DARG}, psizes[1] = {1}, gsizes[1] = {8};
    char packed[64], name[MPI_MAX_OBJECT_NAME];
#define MADE X(Type_size, (t, &size)); KEEP(size); X(Type_free, (&t));
    X(Type_contiguous, (3, MPI_INT, &t)); MADE
    X(Type_vector, (2, 1, 3, MPI_INT, &t)); MADE
    X(Type_create_hvector, (2, 1, 12, MPI_INT, &t)); MADE
    X(Type_indexed, (2, lens, displs, MPI_INT, &t)); MADE
    X(Type_create_hindexed, (2, lens, at, MPI_INT, &t)); MADE
    X(Type_create_indexed_block, (2, 1, displs, MPI_INT, &t)); MADE
    X(Type_create_hindexed_block, (2, 1, at, MPI_INT, &t)); MADE
    X(Type_create_struct, (2, lens, at, list, &t)); MADE
    X(Type_create_subarray, (2, sizes, sub, starts, MPI_ORDER_C, MPI_INT, &t)); MADE
    X(Type_create_darray, (1, 0, 1, gsizes, distribs, args, psizes, MPI_ORDER_C, MPI_INT, &t)); MADE
    X(Type_create_resized, (MPI_INT, 0, 16, &t));
    X(Type_commit, (&t));
    X(Type_get_extent, (t, &lb, &extent));
    KEEP(extent);
    X(Type_get_extent_x, (t, &wide, &wide2));
    X(Type_get_true_extent, (t, &lb, &extent));
    X(Type_get_true_extent_x, (t, &wide, &wide2));
    X(Type_size_x, (t, &wide));
    X(Type_set_name, (t, "wide"));
    X(Type_get_name, (t, name, &size));
    keep("name", name, (size_t)size);
    X(Type_get_envelope, (t, &ni, &na, &nd, &comb));
    X(Type_get_contents, (t, ni, na, nd, displs, at, &u));
    X(Type_free, (&t));
    Y(Type_create_f90_integer, (9, &t));
    Y(Type_create_f90_real, (6, 30, &t));
    Y(Type_create_f90_complex, (6, 30, &t));
    X(Type_match_size, (MPI_TYPECLASS_INTEGER, 4, &t));
    X(Get_address, (in, &address));
    counted("Aint_add");
    counted("Aint_diff");
    extent = MPI_Aint_diff(MPI_Aint_add(address, 8), address);
    KEEP(extent);
    X(Pack_size, (4, MPI_INT, w, &size));
    X(Pack, (in, 4, MPI_INT, packed, 64, &pos, w));
    pos = 0;
    X(Unpack, (packed, 64, &pos, out, 4, MPI_INT, w));
    KEEP(out);
    MPI_Aint apos = 0, asize;
    X(Pack_external_size, ("external32", 4, MPI_INT, &asize));
    X(Pack_external, ("external32", in, 4, MPI_INT, packed, 64, &apos));
    apos = 0;
    X(Unpack_external, ("external32", packed, 64, &apos, out, 4, MPI_INT));
    KEEP(out);
    void *memory;
    X(Alloc_mem, (64, MPI_INFO_NULL, &memory));
    X(Free_mem, (memory));
}

void one_sided(void) {
    int *base, x = 10 + me, y = 0, z = 0, cmp = 0, flag = 0, to = (me + 1) % n, key, *got, length, unit;
    MPI_Win win, dyn;
    MPI_Group world, origin, target;
    MPI_Request r;
    MPI_Errhandler e;
    MPI_Info info;
    MPI_Aint size;
    char name[MPI_MAX_OBJECT_NAME];
    int from = (me + n - 1) % n;
    X(Win_allocate, (64, 4, MPI_INFO_NULL, w, &base, &win));
    memset(base, 0, 64);
    X(Win_set_name, (win, "window"));
    X(Win_get_name, (win, name, &length));
    X(Win_get_info, (win, &info));
    X(Win_set_info, (win, info));
    X(Info_free, (&info));
    X(Win_create_errhandler, (on_win, &e));
    X(Win_set_errhandler, (win, e));
    X(Win_call_errhandler, (win, MPI_ERR_OTHER));
    X(Errhandler_free, (&e));
    X(Win_get_errhandler, (win, &e));
    X(Errhandler_free, (&e));
    X(Win_create_keyval, (MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL));
    X(Win_set_attr, (win, key, &x));
    X(Win_get_attr, (win, key, &got, &flag));
    X(Win_delete_attr, (win, key));
    X(Win_free_keyval, (&key));
    X(Win_get_group, (win, &world));
    X(Win_fence, (0, win));
    X(Put, (&x, 1, MPI_INT, to, 0, 1, MPI_INT, win));
    X(Win_fence, (0, win));
    KEEP(base[0]);
    X(Get, (&y, 1, MPI_INT, to, 0, 1, MPI_INT, win));
    X(Accumulate, (&x, 1, MPI_INT, to, 1, 1, MPI_INT, MPI_SUM, win));
    X(Win_fence, (0, win));
    KEEP(y);
    KEEP(base[1]);
    X(Win_lock, (MPI_LOCK_EXCLUSIVE, to, 0, win));
    X(Get_accumulate, (&x, 1, MPI_INT, &y, 1, MPI_INT, to, 2, 1, MPI_INT, MPI_SUM, win));
    X(Win_flush, (to, win));
    X(Fetch_and_op, (&x, &y, MPI_INT, to, 3, MPI_SUM, win));
    X(Win_flush_local, (to, win));
    X(Compare_and_swap, (&x, &cmp, &z, MPI_INT, to, 4, win));
    X(Win_unlock, (to, win));
    KEEP(z);
    X(Win_lock_all, (0, win));
    X(Rput, (&x, 1, MPI_INT, to, 5, 1, MPI_INT, win, &r));
    wait_for("Rput", &r);
    X(Rget, (&y, 1, MPI_INT, me, 0, 1, MPI_INT, win, &r));
    wait_for("Rget", &r);
    X(Raccumulate, (&x, 1, MPI_INT, to, 6, 1, MPI_INT, MPI_SUM, win, &r));
    wait_for("Raccumulate", &r);
    X(Rget_accumulate, (&x, 1, MPI_INT, &y, 1, MPI_INT, to, 7, 1, MPI_INT, MPI_SUM, win, &r));
    wait_for("Rget_accumulate", &r);
    X(Win_flush_all, (win));
    X(Win_flush_local_all, (win));
    X(Win_sync, (win));
    X(Win_unlock_all, (win));
    X(Barrier, (w));
    KEEP(base[5]);
    X(Group_incl, (world, 1, &from, &origin));
    X(Group_incl, (world, 1, &to, &target));
    for (int i = 0; i < 2; i++) {
        X(Win_post, (origin, 0, win));
        X(Win_start, (target, 0, win));
        X(Put, (&x, 1, MPI_INT, to, 8, 1, MPI_INT, win));
        X(Win_complete, (win));
        if (i == 0) X(Win_wait, (win));
        else for (flag = 0; !flag;) X(Win_test, (win, &flag));
    }
    KEEP(base[8]);
#if MPI_VERSION >= 4
    X(Win_fence, (0, win));
    X(Put_c, (&x, 1, MPI_INT, to, 9, 1, MPI_INT, win));
    X(Win_fence, (0, win));
    X(Get_c, (&y, 1, MPI_INT, to, 9, 1, MPI_INT, win));
    X(Accumulate_c, (&x, 1, MPI_INT, to, 10, 1, MPI_INT, MPI_SUM, win));
    X(Win_fence, (0, win));
    KEEP(y);
    KEEP(base[10]);
    X(Win_lock_all, (0, win));
    X(Get_accumulate_c, (&x, 1, MPI_INT, &y, 1, MPI_INT, to, 2, 1, MPI_INT, MPI_SUM, win));
    X(Rput_c, (&x, 1, MPI_INT, to, 5, 1, MPI_INT, win, &r));
    wait_for("Rput_c", &r);
    X(Rget_c, (&y, 1, MPI_INT, me, 0, 1, MPI_INT, win, &r));
    wait_for("Rget_c", &r);
    X(Raccumulate_c, (&x, 1, MPI_INT, to, 6, 1, MPI_INT, MPI_SUM, win, &r));
    wait_for("Raccumulate_c", &r);
    X(Rget_accumulate_c, (&x, 1, MPI_INT, &y, 1, MPI_INT, to, 7, 1, MPI_INT, MPI_SUM, win, &r));
    wait_for("Rget_accumulate_c", &r);
    X(Win_unlock_all, (win));
#endif
    X(Group_free, (&origin));
    X(Group_free, (&target));
    X(Group_free, (&world));
    X(Win_free, (&win));
    int own[4];
    X(Win_create, (own, sizeof own, 4, MPI_INFO_NULL, w, &win));
    X(Win_free, (&win));
    X(Win_create_dynamic, (MPI_INFO_NULL, w, &dyn));
    X(Win_attach, (dyn, own, sizeof own));
    X(Win_detach, (dyn, own));
    X(Win_free, (&dyn));
    MPI_Comm node;
    X(Comm_split_type, (w, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    X(Win_allocate_shared, (64, 4, MPI_INFO_NULL, node, &base, &win));
    X(Win_shared_query, (win, 0, &size, &unit, &base));
    KEEP(size);
    X(Win_free, (&win));
    X(Comm_free, (&node));
}

static int extent_of(MPI_Datatype type, MPI_Aint *extent, void *state) { (void)state; MPI_Aint lb; return PMPI_Type_get_extent(type, &lb, extent); }

void files(void) {
    MPI_File f;
    MPI_Offset offset;
    MPI_Info info;
    MPI_Group g;
    MPI_Datatype et, ft;
    MPI_Errhandler e;
    MPI_Request r;
    MPI_Status s;
    MPI_Aint extent;
    int x = 40 + me, y = 0, amode, flag;
    char rep[MPI_MAX_DATAREP_STRING];
#define BACK KEEP(y); y = 0;
    X(File_open, (w, scratch, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    X(File_set_size, (f, 0));
    X(File_preallocate, (f, 4096));
    X(File_get_size, (f, &offset));
    KEEP(offset);
    X(File_get_amode, (f, &amode));
    X(File_get_group, (f, &g));
    X(Group_free, (&g));
    X(File_get_info, (f, &info));
    X(File_set_info, (f, info));
    X(Info_free, (&info));
    X(File_set_view, (f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    X(File_get_view, (f, &offset, &et, &ft, rep));
    X(File_get_type_extent, (f, MPI_INT, &extent));
    X(File_set_atomicity, (f, 0));
    X(File_get_atomicity, (f, &flag));
    X(File_create_errhandler, (on_file, &e));
    X(File_set_errhandler, (f, e));
    X(File_call_errhandler, (f, MPI_ERR_OTHER));
    X(Errhandler_free, (&e));
    X(File_set_errhandler, (f, MPI_ERRORS_RETURN));
    X(File_get_errhandler, (f, &e));
    X(Errhandler_free, (&e));
#define C(f) f
#include "fileops.h"
#undef C
#if MPI_VERSION >= 4
#define C(f) f##_c
#include "fileops.h"
#undef C
#endif
    X(File_close, (&f));
    X(Barrier, (w));
    if (me == 0) X(File_delete, (scratch, MPI_INFO_NULL));
    Y(Register_datarep, ("conformance", NULL, NULL, extent_of, NULL));
    X(Barrier, (w));
}
