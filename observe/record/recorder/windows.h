/* What is recorded of one-sided communication: the window, the target and the bytes; events_rma.go tells by the function
 * what it means. A call that fails, or goes to nobody, is a call and nothing more. */
#ifndef SL_WINDOWS_H
#define SL_WINDOWS_H
#include "calls.h"
#include "objects.h"

/* The target of a call by which collective operations or epochs are counted, and that of a lock or flush of all. */
enum { SL_EVERYBODY = -6, SL_ALL_TARGETS = -7 };
enum { SL_WINDOW_WORDS = 4 };

struct sl_record *sl_on_window(struct sl_thread *t, uint16_t fn, struct sl_frame frame, MPI_Win win,
                               int32_t target, int64_t sent, int64_t received);
struct sl_record *sl_on_group(struct sl_thread *t, uint16_t fn, struct sl_frame frame, MPI_Win win,
                              MPI_Group group);

#define SL_WINDOW_RECORD(fn, target, sent, received) struct sl_record *r = sl_on_window(t, fn, frame, win, target, sent, received);
#define SL_WINDOW_DONE if (result != MPI_SUCCESS) r->kind = SL_CALL; sl_done(t, r, leave);

/* Until there is a window, the communicator stands in its place. */
#define BEFORE_win_new(fn) \
    struct sl_record *r = sl_call(t, SL_WINDOW, fn, SL_HEAD + SL_WINDOW_WORDS, frame); \
    r->data[0] = sl_pair(SL_EVERYBODY, (int32_t)SL_NO_OBJECT); \
    r->data[1] = sl_comm(t, comm)->id; \
    r->data[2] = r->data[3] = 0;
#define AFTER_win_new \
    if (result == MPI_SUCCESS) { \
        uint32_t id = sl_object_add(t, SL_A_WINDOW, (uintptr_t)*win, sl_comm(t, comm)->id, r->function, NULL, 0); \
        r->data[0] = sl_pair(SL_EVERYBODY, (int32_t)id); \
        r->data[1] = r->data[2] = r->data[3] = 0; \
    } \
    SL_WINDOW_DONE
#define BEFORE_win_free(fn) \
    MPI_Win before_win = SL_AT(win, MPI_WIN_NULL); \
    struct sl_record *r = sl_on_window(t, fn, frame, before_win, SL_EVERYBODY, 0, 0);
#define AFTER_win_free if (result == MPI_SUCCESS) sl_object_forget(SL_A_WINDOW, (uintptr_t)before_win); SL_WINDOW_DONE
#define BEFORE_win(fn) SL_WINDOW_RECORD(fn, SL_EVERYBODY, 0, 0)
#define AFTER_win SL_WINDOW_DONE
#define BEFORE_win_all(fn) SL_WINDOW_RECORD(fn, SL_ALL_TARGETS, 0, 0)
#define AFTER_win_all SL_WINDOW_DONE
#define BEFORE_win_at(fn) SL_WINDOW_RECORD(fn, sl_peer(rank), 0, 0)
#define AFTER_win_at SL_WINDOW_DONE
#define BEFORE_win_lock(fn) BEFORE_win_at(fn) r->data[3] = lock_type == MPI_LOCK_SHARED;
#define AFTER_win_lock SL_WINDOW_DONE
#define BEFORE_win_group(fn) struct sl_record *r = sl_on_group(t, fn, frame, win, group);
#define AFTER_win_group SL_WINDOW_DONE
#define BEFORE_win_test(fn) BEFORE_win(fn) sl_poll_again(t, r);
#define AFTER_win_test r->data[3] = result == MPI_SUCCESS && *flag; SL_FOUND(*flag) { SL_WINDOW_DONE }

/* Operations. What is moved is counted in the origin's type; MPI_NO_OP sends nothing. */
#define SL_ORIGIN sl_bytes(origin_count, origin_datatype)
#define BEFORE_access(fn) SL_WINDOW_RECORD(fn, sl_peer(target_rank), SL_ORIGIN, 0)
#define AFTER_access SL_WINDOW_DONE
#define BEFORE_accumulate(fn) SL_WINDOW_RECORD(fn, sl_peer(target_rank), op == MPI_NO_OP ? 0 : SL_ORIGIN, 0)
#define AFTER_accumulate SL_WINDOW_DONE
#define BEFORE_get_accumulate(fn) \
    SL_WINDOW_RECORD(fn, sl_peer(target_rank), op == MPI_NO_OP ? 0 : SL_ORIGIN, sl_bytes(result_count, result_datatype))
#define AFTER_get_accumulate SL_WINDOW_DONE
#define BEFORE_fetch(fn) \
    const int64_t size = sl_bytes(1, datatype); \
    SL_WINDOW_RECORD(fn, sl_peer(target_rank), op == MPI_NO_OP ? 0 : size, size)
#define AFTER_fetch SL_WINDOW_DONE
#define BEFORE_swap(fn) \
    const int64_t size = sl_bytes(1, datatype); \
    SL_WINDOW_RECORD(fn, sl_peer(target_rank), 2 * size, size)
#define AFTER_swap SL_WINDOW_DONE

/* Operations with a request, which is known by window and target. */
#define AFTER_iaccess \
    if (result == MPI_SUCCESS && target_rank != MPI_PROC_NULL) \
        r->data[3] = sl_request_add(*request, &(struct sl_request){.function = r->function, .kind = SL_REQ_WINDOW, .active = true, \
            .peer = target_rank, .comm = (uint32_t)r->data[0]}); \
    SL_WINDOW_DONE
#define BEFORE_iaccess(fn) BEFORE_access(fn)
#define BEFORE_iaccumulate(fn) BEFORE_accumulate(fn)
#define AFTER_iaccumulate AFTER_iaccess
#define BEFORE_iget_accumulate(fn) BEFORE_get_accumulate(fn)
#define AFTER_iget_accumulate AFTER_iaccess
#endif
