/* Call paths as a tree per thread: a path is an address called from a path. */
#include "core.h"
#include <sys/mman.h>

enum { FIRST_SLOTS = 1 << 14, MOST_NODES = 1 << 22, NAMES = 256 };

struct slot { uintptr_t address; uint32_t parent, node; };

struct sl_paths {
    struct slot *slots; /* open addressing; node 0: free */
    uint32_t mask, nodes;
    int last_depth; /* the path found last, outermost first */
    uintptr_t last_address[SL_MOST_DEPTH];
    uint32_t last_node[SL_MOST_DEPTH];
    int levels;     /* the stack of a program without Python that was found last, outermost first, with the paths of its levels */
    struct sl_level level[2 * SL_MOST_DEPTH];
    uint32_t names;
    const char *name[NAMES];
};

struct sl_paths *sl_paths_new(void) {
    struct sl_paths *p = sl_memory(sizeof *p);
    if (p == NULL) return NULL;
    p->slots = sl_memory(FIRST_SLOTS * sizeof *p->slots);
    p->mask = FIRST_SLOTS - 1;
    return p->slots == NULL ? NULL : p;
}

static inline uint32_t place(const struct sl_paths *p, uint32_t parent, uintptr_t address) {
    return (uint32_t)(((address ^ (uint64_t)parent << 40) * 0x9e3779b97f4a7c15u) >> 33) & p->mask;
}

static void grow(struct sl_paths *p) {
    uint32_t mask = p->mask * 2 + 1;
    struct slot *fresh = sl_memory(((size_t)mask + 1) * sizeof *fresh), *old = p->slots;
    if (fresh == NULL) return;
    uint32_t count = p->mask + 1;
    p->slots = fresh;
    p->mask = mask;
    for (uint32_t i = 0; i < count; i++) {
        if (old[i].node == 0) continue;
        uint32_t at = place(p, old[i].parent, old[i].address);
        while (fresh[at].node != 0) at = (at + 1) & mask;
        fresh[at] = old[i];
    }
    sl_unmap(old, (size_t)count * sizeof *old);
}

/* sl_define keeps a definition. */
void sl_define(struct sl_thread *t, uint16_t kind, uint32_t number, const void *data, size_t words) {
    if (atomic_load_explicit(&sl_over, memory_order_relaxed)) return;
    struct sl_stream *s = &t->definitions;
    uint32_t all = SL_HEAD + (uint32_t)words;
    struct sl_record *r = (struct sl_record *)(void *)s->next;
    if (s->next + all * 8u + 8 > s->end) r = sl_stream_room(t, s, all);
    sl_head(r, kind, 0, all, number, 0);
    memcpy(r->data, data, words * 8);
    if ((uint8_t *)r != s->next) return;
    s->next += all * 8u;
    *(uint64_t *)(void *)s->next = 0;
    atomic_store_explicit(&((struct sl_chunk *)(void *)s->chunk)->used, (uint64_t)(s->next - s->chunk), memory_order_release);
}

static uint32_t node_of(struct sl_thread *t, uint32_t parent, uintptr_t address) {
    struct sl_paths *p = t->paths;
    uint32_t at = place(p, parent, address);
    for (; p->slots[at].node != 0; at = (at + 1) & p->mask)
        if (p->slots[at].address == address && p->slots[at].parent == parent) return p->slots[at].node;
    if (p->nodes >= MOST_NODES || p->nodes > p->mask - p->mask / 8) return parent; /* no room: the path ends here */
    uint32_t node = ++p->nodes;
    p->slots[at] = (struct slot){address, parent, node};
    sl_define(t, SL_DEF_PATH, node, (uint64_t[]){parent, address}, 2);
    if (p->nodes > p->mask / 2) grow(p);
    return node;
}

/* path_of_levels finds the path of a stack of which some outer levels are known. */
static uint32_t path_of_levels(struct sl_thread *t, int known) {
    struct sl_paths *p = t->paths;
    uint32_t node = known > 0 ? p->level[known - 1].node : 0;
    for (int i = known; i < p->levels; i++) node = p->level[i].node = node_of(t, node, p->level[i].frame.pc);
    return node;
}

/* path_of_frame finds the path of a frame from the addresses of its stack. */
static __attribute__((noinline)) uint32_t path_of_frame(struct sl_thread *t, struct sl_frame f, bool exact) {
    struct sl_paths *p = t->paths;
    uintptr_t frames[SL_MOST_DEPTH];
    int n = sl_unwind(f, &t->stack, frames, SL_MOST_DEPTH);
    n = sl_python(t, frames, n, SL_MOST_DEPTH, exact);
    uint32_t node = 0;
    int depth = 0;
    while (depth < n && depth < p->last_depth && p->last_address[depth] == frames[n - 1 - depth]) depth++;
    if (depth > 0) node = p->last_node[depth - 1];
    for (; depth < n; depth++) {
        uintptr_t address = frames[n - 1 - depth];
        node = node_of(t, node, address);
        p->last_address[depth] = address;
        p->last_node[depth] = node;
    }
    p->last_depth = n;
    return node;
}

/* sl_path_of finds the path of a frame. */
uint32_t sl_path_of(struct sl_thread *t, struct sl_frame f, bool exact) {
    if (exact) f.pc |= SL_EXACT;
    int known = sl_python_known() ? -1 : sl_unwind_again(f, &t->stack, t->paths->level, &t->paths->levels);
    return known >= 0 ? path_of_levels(t, known) : path_of_frame(t, f, exact);
}

uint32_t sl_path_caller(struct sl_thread *t, uintptr_t address) {
    uintptr_t python = sl_python_caller(t);
    return node_of(t, python == 0 ? 0 : node_of(t, 0, python), address);
}

/* sl_name is the number of a name; names are few and mostly literals. */
uint32_t sl_name(struct sl_thread *t, const char *text) {
    struct sl_paths *p = t->paths;
    for (uint32_t i = 0; i < p->names; i++)
        if (p->name[i] == text || strcmp(p->name[i], text) == 0) return i + 1;
    if (p->names >= NAMES) return NAMES;
    size_t length = strnlen(text, 500);
    char *copy = sl_memory(length + 9);
    if (copy == NULL) return NAMES;
    memcpy(copy, text, length);
    p->name[p->names++] = copy;
    sl_define(t, SL_DEF_NAME, p->names, copy, length / 8 + 1);
    return p->names;
}
