/* The functions of a Python program, by the frames that CPython keeps for each thread.
 *
 * A thread's own frames do not change while it is in a call of C, so they are read without the GIL, which bindings of MPI release.
 * Where a sample interrupts the interpreter they may be in the middle of a change: then the kernel copies the memory, which fails
 * where there is none, and the type of each object decides whether it is what it should be.
 *
 * The places of members are the same in all releases of a minor version. Of versions that are not in the table nothing is read;
 * the collector then shows one frame for the interpreter. */
#include "core.h"
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

enum { CODES = 1 << 12, NAME = 256, FILE_NAME = 1024, NO_ROOM = -1 };

/* Where the frames that one call of the evaluation function runs end. */
enum bound { EACH_FRAME, IS_ENTRY, C_STACK };

/* Offsets in bytes. */
static const struct layout {
    int minor;
    int thread_frame;  /* in the state of a thread: the frame, or a structure that has it */
    int inner_frame;   /* in that structure; -1: there is none */
    int code, previous, bound_at; /* in a frame */
    enum bound bound;
    int file, name, line; /* in a code object; the qualified name where there is one */
    int ascii, compact;   /* in a string: where its characters begin */
} layouts[] = {
    {8, 24, -1, 32, 24, 0, EACH_FRAME, 104, 112, 40, 48, 72},
    {9, 24, -1, 32, 24, 0, EACH_FRAME, 104, 112, 40, 48, 72},
    {10, 24, -1, 32, 24, 0, EACH_FRAME, 104, 112, 40, 48, 72},
    {11, 56, 8, 32, 48, 68, IS_ENTRY, 112, 128, 72, 48, 72},
    {12, 56, 0, 0, 8, 70, C_STACK, 112, 128, 68, 40, 56},
    {13, 72, -1, 0, 8, 70, C_STACK, 112, 128, 68, 40, 56},
};
enum { FRAME_BYTES = 72, CODE_BYTES = 136, TYPE = 8, LENGTH = 16, STATE = 32, OWNED_BY_C_STACK = 3 };

static const struct layout *layout; /* NULL: this is no Python that we know */
static uintptr_t code_type, text_type, eval_begin, eval_end;
static void *(*this_thread)(void);
static int (*is_initialized)(void);
static pid_t process;
static bool copies; /* the kernel copies memory for us */

struct code { uintptr_t object, name; int line; uint32_t number; };
struct sl_codes { uint32_t count; struct code list[CODES]; };

/* free_threaded reports whether objects have the head of a Python without GIL. */
static bool free_threaded(void) {
    const char *runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");
    uint64_t flag = 1;
    if (runtime != NULL && memcmp(runtime, "xdebugpy", 8) == 0) memcpy(&flag, runtime + 16, sizeof flag);
    return flag != 0;
}

static const struct layout *layout_of(const char *version) {
    char *rest = NULL;
    if (version == NULL || strncmp(version, "3.", 2) != 0) return NULL;
    long minor = strtol(version + 2, &rest, 10);
    if (minor >= 13 && free_threaded()) return NULL;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].minor == minor && *rest == '.') return &layouts[i];
    return NULL;
}

/* sl_python_find looks for an interpreter; the program may have loaded one meanwhile. It returns an address in its code, or 0. */
uintptr_t sl_python_find(void) {
    if (layout != NULL || sizeof(void *) != 8) return eval_begin;
    const char *(*version)(void) = (const char *(*)(void))dlsym(RTLD_DEFAULT, "Py_GetVersion");
    void *eval = dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault");
    this_thread = (void *(*)(void))dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
    is_initialized = (int (*)(void))dlsym(RTLD_DEFAULT, "Py_IsInitialized");
    code_type = (uintptr_t)dlsym(RTLD_DEFAULT, "PyCode_Type");
    text_type = (uintptr_t)dlsym(RTLD_DEFAULT, "PyUnicode_Type");
    Dl_info info;
    ElfW(Sym) *symbol = NULL;
    if (version == NULL || eval == NULL || this_thread == NULL || is_initialized == NULL || code_type == 0 || text_type == 0 ||
        dladdr1(eval, &info, (void **)&symbol, RTLD_DL_SYMENT) == 0 || symbol == NULL) return 0;
    process = getpid();
    uint64_t from = 1, to = 0;
    copies = process_vm_readv(process, &(struct iovec){&to, 8}, 1, &(struct iovec){&from, 8}, 1, 0) == 8 && to == 1;
    eval_begin = (uintptr_t)eval;
    eval_end = eval_begin + symbol->st_size;
    layout = layout_of(version());
    return layout == NULL ? 0 : eval_begin;
}

bool sl_python_known(void) { return layout != NULL; }

static bool copy(void *to, uintptr_t from, size_t n, bool by_kernel) {
    if (from < SL_PAGE || (from & 7) != 0) return false;
    if (by_kernel) return process_vm_readv(process, &(struct iovec){to, n}, 1, &(struct iovec){(void *)from, n}, 1, 0) == (ssize_t)n;
    memcpy(to, (const void *)from, n);
    return true;
}

static uintptr_t pointer_at(const uint8_t *bytes, int offset) {
    uintptr_t p;
    memcpy(&p, bytes + offset, sizeof p);
    return p;
}

static size_t utf8(uint32_t c, char *to) {
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    size_t more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    for (size_t i = more; i > 0; i--, c >>= 6) to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)((0xff00 >> (more + 1) & 0xff) | c);
    return more + 1;
}

/* text stores what a string says, at most size - 4 bytes, and returns how many; NO_ROOM if it is none. */
static int text(uintptr_t object, char *to, size_t size, bool by_kernel) {
    uint8_t head[40];
    if (!copy(head, object, sizeof head, by_kernel) || pointer_at(head, TYPE) != text_type) return NO_ROOM;
    size_t length = (size_t)pointer_at(head, LENGTH), n = 0;
    uint32_t state, wide;
    memcpy(&state, head + STATE, sizeof state);
    wide = state >> 2 & 7;
    if ((state & 32) == 0 || (wide != 1 && wide != 2 && wide != 4)) return NO_ROOM;
    uintptr_t data = object + (uintptr_t)((state & 64) != 0 ? layout->ascii : layout->compact);
    for (size_t i = 0; i < length && n < size - 8; i++) {
        uint8_t eight[8]; /* characters are copied by words */
        if (i * wide % 8 == 0 && !copy(eight, data + i * wide, 8, by_kernel)) return NO_ROOM;
        uint32_t c = 0;
        memcpy(&c, eight + i * wide % 8, wide);
        n += utf8(c, to + n);
    }
    to[n] = 0;
    return (int)n;
}

/* define tells the collector about a code object. */
static bool define(struct sl_thread *t, uint32_t number, const uint8_t *code, int line, bool by_kernel) {
    union { uint64_t words[1 + (NAME + FILE_NAME) / 8]; char bytes[8 + NAME + FILE_NAME]; } d = {{(uint64_t)line}};
    int name = text(pointer_at(code, layout->name), d.bytes + 8, NAME, by_kernel);
    if (name < 0) return false;
    int file = text(pointer_at(code, layout->file), d.bytes + 8 + name + 1, FILE_NAME, by_kernel);
    if (file < 0) return false;
    sl_define(t, SL_DEF_CODE, number, d.words, (size_t)(8 + name + 1 + file + 1 + 7) / 8);
    return true;
}

/* number_of is the number of a code object; 0 if it is none, or if there are too many. */
static uint32_t number_of(struct sl_thread *t, uintptr_t object, bool by_kernel) {
    uint8_t code[CODE_BYTES];
    if (!copy(code, object, sizeof code, by_kernel) || pointer_at(code, TYPE) != code_type) return 0;
    if (t->codes == NULL && (t->codes = sl_memory(sizeof *t->codes)) == NULL) return 0;
    uintptr_t name = pointer_at(code, layout->name);
    int line;
    memcpy(&line, code + layout->line, sizeof line);
    uint32_t at = (uint32_t)((object * 0x9e3779b97f4a7c15u) >> 52) & (CODES - 1);
    struct code *c = &t->codes->list[at];
    while (c->number != 0 && (c->object != object || c->name != name || c->line != line)) { /* another one may get its place in memory */
        at = (at + 1) & (CODES - 1);
        c = &t->codes->list[at];
    }
    if (c->number != 0) return c->number;
    if (t->codes->count >= CODES - CODES / 4 || !define(t, t->codes->count + 1, code, line, by_kernel)) return 0;
    *c = (struct code){object, name, line, ++t->codes->count};
    return c->number;
}

/* A walk goes from a frame to those that called it. */
struct walk { struct sl_thread *t; uintptr_t frame; bool by_kernel; };

static struct walk innermost(struct sl_thread *t, bool exact) {
    struct walk w = {t, 0, exact};
    if (layout == NULL || (exact && !copies) || !is_initialized()) return w;
    uintptr_t thread = (uintptr_t)this_thread(), frame = 0;
    if (thread == 0 || !copy(&frame, thread + (uintptr_t)layout->thread_frame, 8, exact)) return w;
    if (layout->inner_frame >= 0 && !copy(&frame, frame + (uintptr_t)layout->inner_frame, 8, exact)) return w;
    w.frame = frame;
    return w;
}

/* next takes one frame and returns the number of its code, or 0; last: no further frame belongs to this call of the evaluation. */
static uint32_t next(struct walk *w, bool *last) {
    uint8_t frame[FRAME_BYTES];
    *last = true;
    if (!copy(frame, w->frame, sizeof frame, w->by_kernel)) {
        w->frame = 0;
        return 0;
    }
    uint8_t bound = frame[layout->bound_at];
    *last = layout->bound == EACH_FRAME || (layout->bound == IS_ENTRY ? bound != 0 : bound == OWNED_BY_C_STACK);
    w->frame = pointer_at(frame, layout->previous);
    if (layout->bound == C_STACK && *last) return 0; /* it only marks the bound */
    return number_of(w->t, pointer_at(frame, layout->code), w->by_kernel);
}

static bool in_evaluation(uintptr_t address) {
    return address >= eval_begin && address < eval_end;
}

/* sl_python puts the frames of Python in the place of those of its interpreter, innermost first, and returns how many there are.
 * One call of the evaluation function runs one frame of Python, or several; the outermost call takes what is left. */
int sl_python(struct sl_thread *t, uintptr_t *addresses, int n, int most, bool exact) {
    struct walk w = innermost(t, exact);
    if (w.frame == 0) return n;
    uintptr_t native[SL_MOST_DEPTH];
    int evaluations = 0, m = 0;
    for (int i = 0; i < n; i++) evaluations += in_evaluation(addresses[i] & ~SL_EXACT);
    memcpy(native, addresses, (size_t)n * sizeof *native);
    for (int i = 0; i <= n && m < most; i++) {
        if (i < n && !sl_in_python(native[i] & ~SL_EXACT)) addresses[m++] = native[i];
        bool rest = i == n || (in_evaluation(native[i] & ~SL_EXACT) && --evaluations == 0);
        if (!rest && !in_evaluation(native[i] & ~SL_EXACT)) continue;
        for (bool last = false; w.frame != 0 && m < most && (rest || !last);) {
            uint32_t number = next(&w, &last);
            if (number != 0) addresses[m++] = SL_CODE | number;
        }
    }
    return m;
}

/* sl_python_caller is the innermost function of Python, or 0. */
uintptr_t sl_python_caller(struct sl_thread *t) {
    struct walk w = innermost(t, false);
    bool last = false;
    while (w.frame != 0) {
        uint32_t number = next(&w, &last);
        if (number != 0) return SL_CODE | number;
    }
    return 0;
}
