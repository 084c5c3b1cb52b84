/* The records of calls on windows. */
#include "windows.h"
#include "fortran.h"

struct sl_record *sl_on_window(struct sl_thread *t, uint16_t fn, struct sl_frame frame, MPI_Win win,
                               int32_t target, int64_t sent, int64_t received) {
    struct sl_record *r = sl_call(t, target == SL_NOBODY ? SL_CALL : SL_WINDOW, fn, SL_HEAD + SL_WINDOW_WORDS, frame);
    r->data[0] = sl_pair(target, (int32_t)sl_object_id(SL_A_WINDOW, (uintptr_t)win));
    r->data[1] = (uint64_t)sent;
    r->data[2] = (uint64_t)received;
    r->data[3] = 0;
    return r;
}

/* sl_on_group makes the record of a call with a group, which becomes ranks of the window, two to a word: it may be freed after
 * the call. */
struct sl_record *sl_on_group(struct sl_thread *t, uint16_t fn, struct sl_frame frame, MPI_Win win,
                              MPI_Group group) {
    struct sl_object *w = sl_object(SL_A_WINDOW, (uintptr_t)win);
    int n = 0;
    if (w != NULL && w->group == MPI_GROUP_NULL) PMPI_Win_get_group(win, &w->group);
    if (w != NULL && group != MPI_GROUP_NULL) PMPI_Group_size(group, &n);
    struct sl_record *r = sl_call(t, SL_WINDOW, fn, SL_HEAD + SL_WINDOW_WORDS + (uint32_t)(n + 1) / 2, frame);
    r->data[0] = sl_pair(SL_EVERYBODY, (int32_t)(w == NULL ? SL_NO_OBJECT : w->id));
    r->data[1] = r->data[2] = 0;
    r->data[3] = (uint64_t)n;
    if (n == 0) return r;
    int *all = sl_room_for_fortran(t, 2 * n), *ranks = all + n;
    for (int i = 0; i < n; i++) all[i] = i;
    PMPI_Group_translate_ranks(group, n, all, w->group, ranks);
    for (int i = 0; i < n; i += 2) r->data[SL_WINDOW_WORDS + i / 2] = sl_pair(i + 1 < n ? ranks[i + 1] : 0, ranks[i]);
    return r;
}
