/* The records of calls on files. */
#include "files.h"

struct sl_record *sl_on_file(struct sl_thread *t, uint16_t fn, struct sl_frame frame, uint32_t file, int64_t bytes) {
    struct sl_record *r = sl_call(t, SL_FILE, fn, SL_HEAD + SL_FILE_WORDS, frame);
    r->data[0] = file;
    r->data[1] = (uint64_t)bytes;
    r->data[2] = 0;
    return r;
}

/* sl_trimmed is the length of a text of Fortran without the blanks at its end. */
size_t sl_trimmed(const char *text, size_t length) {
    while (length > 0 && text[length - 1] == ' ') length--;
    return length;
}
