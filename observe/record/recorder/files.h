/* What is recorded of files: opening, closing and collective operations, with the file and the bytes; events_files.go tells by the
 * function what it means. Other operations are calls and nothing more. */
#ifndef SL_FILES_H
#define SL_FILES_H
#include "calls.h"
#include "objects.h"

enum { SL_FILE_WORDS = 3 };

struct sl_record *sl_on_file(struct sl_thread *t, uint16_t fn, struct sl_frame frame, uint32_t file, int64_t bytes);
size_t sl_trimmed(const char *text, size_t length);

#define SL_FILE_RECORD(fn, bytes) \
    struct sl_record *r = sl_on_file(t, fn, frame, sl_object_id(SL_A_FILE, (uintptr_t)fh), bytes);
#define SL_FILE_DONE if (result != MPI_SUCCESS) r->kind = SL_CALL; sl_done(t, r, leave);

/* Until there is a file, the communicator stands in the place of the bytes. */
#define BEFORE_file_open(fn) struct sl_record *r = sl_on_file(t, fn, frame, SL_NO_OBJECT, sl_comm(t, comm)->id);
#define AFTER_file_open \
    r->data[1] = 0; \
    if (result == MPI_SUCCESS) \
        r->data[0] = sl_object_add(t, SL_A_FILE, (uintptr_t)*fh, sl_comm(t, comm)->id, r->function, filename, filename_length); \
    SL_FILE_DONE
#define BEFORE_file_close(fn) \
    MPI_File before_fh = SL_AT(fh, MPI_FILE_NULL); \
    struct sl_record *r = sl_on_file(t, fn, frame, sl_object_id(SL_A_FILE, (uintptr_t)before_fh), 0);
#define AFTER_file_close if (result == MPI_SUCCESS) sl_object_forget(SL_A_FILE, (uintptr_t)before_fh); SL_FILE_DONE
#define BEFORE_file(fn) SL_FILE_RECORD(fn, 0)
#define AFTER_file SL_FILE_DONE
#define BEFORE_file_data(fn) SL_FILE_RECORD(fn, sl_bytes(count, datatype))
#define AFTER_file_data SL_FILE_DONE
#define BEFORE_ifile_data(fn) BEFORE_file_data(fn)
#define AFTER_ifile_data \
    if (result == MPI_SUCCESS) \
        r->data[2] = sl_request_add(*request, &(struct sl_request){.function = r->function, .kind = SL_REQ_FILE, .active = true, \
            .comm = (uint32_t)r->data[0]}); \
    SL_FILE_DONE
#endif
