/* Call stacks from the tables that compilers leave for exceptions (.eh_frame), which ordinary optimised code has.
 *
 * It is written to be called from a signal handler: no lock, no memory from malloc, no read outside of the stack.
 * Only the three registers that matter are followed: the program counter, the stack pointer, the frame pointer.
 * Where there is no table, a chain of frame pointers is tried. */
#include "core.h"
#include <elf.h>
#include <link.h>

struct module {
    uintptr_t low;
    _Atomic uintptr_t high;     /* addresses of its code; high is 0 when it is no longer loaded */
    bool mpi;                   /* a part of the MPI library */
    const uint8_t *header;      /* .eh_frame_hdr */
    const int32_t *table;       /* sorted pairs (function, FDE), relative to header */
    size_t entries;
};

enum { MOST_MODULES = 1024 };
struct module_list { size_t count; struct module modules[MOST_MODULES]; };
static struct module_list *_Atomic modules;
_Atomic bool sl_modules_stale; /* there was code that belongs to no known module */

/* How to go from a place in the code to its caller. */
enum cfa_kind { CFA_UNKNOWN, CFA_SP, CFA_BP, CFA_BP_AT, CFA_PLT, CFA_END, CFA_FRAME };
enum bp_kind { BP_SAME, BP_AT_CFA, BP_AT_BP };
struct rule {
    _Atomic uint64_t pc;
    _Atomic uint64_t how; /* cfa kind, bp kind, two offsets */
};
enum { RULES = 1 << 14 };
static struct rule rules[RULES];

/* --- reading of DWARF --- */

static uint64_t uleb(const uint8_t **p) {
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        uint8_t b = *(*p)++;
        v |= (uint64_t)(b & 0x7f) << shift;
        if ((b & 0x80) == 0) break;
    }
    return v;
}

static int64_t sleb(const uint8_t **p) {
    int64_t v = 0;
    int shift = 0;
    uint8_t b;
    do {
        b = *(*p)++;
        v |= (int64_t)(b & 0x7f) << shift;
        shift += 7;
    } while ((b & 0x80) != 0 && shift < 64);
    if (shift < 64 && (b & 0x40) != 0) v |= -((int64_t)1 << shift);
    return v;
}

static uint64_t fixed(const uint8_t **p, int bytes) {
    uint64_t v = 0;
    memcpy(&v, *p, (size_t)bytes);
    *p += bytes;
    return v;
}

/* encoded reads a pointer in one of DWARF's encodings. */
static uintptr_t encoded(const uint8_t **p, uint8_t encoding, const uint8_t *data_base) {
    const uint8_t *at = *p;
    uintptr_t v = 0;
    switch (encoding & 0x0f) {
    case 0x00: case 0x04: case 0x0c: v = (uintptr_t)fixed(p, 8); break;
    case 0x01: v = (uintptr_t)uleb(p); break;
    case 0x02: v = (uintptr_t)fixed(p, 2); break;
    case 0x03: v = (uintptr_t)fixed(p, 4); break;
    case 0x09: v = (uintptr_t)sleb(p); break;
    case 0x0a: v = (uintptr_t)(intptr_t)(int16_t)fixed(p, 2); break;
    case 0x0b: v = (uintptr_t)(intptr_t)(int32_t)fixed(p, 4); break;
    default: return 0;
    }
    if (v == 0) return 0;
    switch (encoding & 0x70) {
    case 0x10: v += (uintptr_t)at; break;
    case 0x30: v += (uintptr_t)data_base; break;
    default: break;
    }
    return v;
}

/* --- modules --- */

/* The code of the interpreter of Python, and an address in it; 0: there is none. */
static uintptr_t python_low, python_high, python_code;

static int add_module(struct dl_phdr_info *info, size_t size, void *list_pointer) {
    (void)size;
    struct module_list *list = list_pointer;
    if (list->count >= MOST_MODULES) return 1;
    struct module m = {.low = UINTPTR_MAX};
    uintptr_t high = 0;
    const char *name = info->dlpi_name == NULL ? "" : strrchr(info->dlpi_name, '/');
    m.mpi = name != NULL && strncmp(name, "/libmpi", 7) == 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uintptr_t low = info->dlpi_addr + h->p_vaddr;
        if (h->p_type == PT_LOAD && (h->p_flags & PF_X) != 0) {
            if (low < m.low) m.low = low;
            if (low + h->p_memsz > high) high = low + h->p_memsz;
        } else if (h->p_type == PT_GNU_EH_FRAME) {
            m.header = (const uint8_t *)low;
        }
    }
    if (high == 0) return 0;
    if (python_code >= m.low && python_code < high) {
        python_low = m.low;
        python_high = high;
    }
    if (m.header != NULL && m.header[0] == 1 && m.header[3] == 0x3b) { /* version, table of 4-byte pairs */
        const uint8_t *p = m.header + 4;
        encoded(&p, m.header[1], m.header);
        m.entries = (size_t)encoded(&p, m.header[2], m.header);
        m.table = (const int32_t *)(const void *)p;
    }
    struct module *to = &list->modules[list->count++];
    *to = m;
    atomic_store(&to->high, high);
    return 0;
}

/* sl_modules_load looks anew at what is loaded. Readers may still use the lists before this one. */
void sl_modules_load(void) {
    struct module_list *fresh = sl_memory(sizeof *fresh);
    if (fresh == NULL) return;
    python_code = sl_python_find();
    atomic_store(&sl_modules_stale, false);
    dl_iterate_phdr(add_module, fresh);
    atomic_store(&modules, fresh);
}

struct loaded { struct module_list *list; bool found[MOST_MODULES]; };

static int mark_loaded(struct dl_phdr_info *info, size_t size, void *loaded_pointer) {
    (void)size;
    struct loaded *l = loaded_pointer;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t low = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        for (size_t k = 0; k < l->list->count; k++) l->found[k] = l->found[k] || l->list->modules[k].low == low;
    }
    return 0;
}

/* sl_modules_forget takes out what is no longer loaded: other code may get its addresses, and its tables are gone. */
void sl_modules_forget(void) {
    struct loaded l = {.list = atomic_load(&modules)};
    if (l.list == NULL) return;
    dl_iterate_phdr(mark_loaded, &l);
    for (size_t k = 0; k < l.list->count; k++)
        if (!l.found[k]) atomic_store(&l.list->modules[k].high, 0);
}

static const struct module *module_of(uintptr_t pc) {
    const struct module_list *list = atomic_load_explicit(&modules, memory_order_acquire);
    if (list == NULL) return NULL;
    for (size_t i = 0; i < list->count; i++)
        if (pc >= list->modules[i].low && pc < list->modules[i].high) return &list->modules[i];
    return NULL;
}

/* sl_in_python reports whether an address is in the interpreter of Python. */
bool sl_in_python(uintptr_t address) {
    return address >= python_low && address < python_high;
}

/* --- rules --- */

#if defined(__x86_64__)
enum { REG_BP = 6, REG_SP = 7, REG_RA = 16 };

struct state { int cfa_register; int64_t cfa_offset; int cfa_special; enum bp_kind bp; int64_t bp_offset; bool end; };
enum { PLAIN, AT_BP, PLT, STRANGE };

/* special reads the expressions that occur in compiled code: the frame of a function that aligns its stack, and the
 * entries of the procedure linkage table. */
static void special(struct state *s, const uint8_t *p, size_t length) {
    const uint8_t *end = p + length;
    s->cfa_special = STRANGE;
    if (length == 0) return;
    if (p[0] == 0x70 + REG_BP) { /* breg6 n; deref */
        p++;
        int64_t n = sleb(&p);
        if (p + 1 == end && *p == 0x06) {
            s->cfa_special = AT_BP;
            s->cfa_offset = n;
        }
    } else if (p[0] == 0x70 + REG_SP && length == 11) { /* breg7 8; breg16 0; lit15; and; lit11; ge; lit3; shl; plus */
        static const uint8_t plt[] = {0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
        if (memcmp(p, plt, sizeof plt) == 0) s->cfa_special = PLT;
        else if (p[8] == 0x33) s->cfa_special = PLT; /* lit10 in newer tables */
    }
}

/* run carries out the instructions of a table up to the place pc. */
static void run(struct state *s, const struct state *initial, const uint8_t *p, const uint8_t *end, uintptr_t loc,
                uintptr_t pc, uint64_t code_factor, int64_t data_factor, uint8_t encoding) {
    struct state saved[8];
    int depth = 0;
    while (p < end) {
        uint8_t op = *p++;
        uint64_t reg;
        int64_t offset;
        switch (op & 0xc0) {
        case 0x40: /* advance_loc */
            loc += (op & 0x3fu) * code_factor;
            if (loc > pc) return;
            continue;
        case 0x80: /* offset */
            offset = (int64_t)uleb(&p) * data_factor;
            if ((op & 0x3f) == REG_BP) { s->bp = BP_AT_CFA; s->bp_offset = offset; }
            continue;
        case 0xc0: /* restore */
            if ((op & 0x3f) == REG_BP && initial != NULL) { s->bp = initial->bp; s->bp_offset = initial->bp_offset; }
            continue;
        default: break;
        }
        switch (op) {
        case 0x00: break;
        case 0x01: loc = encoded(&p, encoding, NULL); if (loc > pc) return; break;
        case 0x02: loc += fixed(&p, 1) * code_factor; if (loc > pc) return; break;
        case 0x03: loc += fixed(&p, 2) * code_factor; if (loc > pc) return; break;
        case 0x04: loc += fixed(&p, 4) * code_factor; if (loc > pc) return; break;
        case 0x05: /* offset_extended */
            reg = uleb(&p);
            offset = (int64_t)uleb(&p) * data_factor;
            if (reg == REG_BP) { s->bp = BP_AT_CFA; s->bp_offset = offset; }
            break;
        case 0x06: /* restore_extended */
            reg = uleb(&p);
            if (reg == REG_BP && initial != NULL) { s->bp = initial->bp; s->bp_offset = initial->bp_offset; }
            break;
        case 0x07: if (uleb(&p) == REG_RA) s->end = true; break; /* undefined */
        case 0x08: if (uleb(&p) == REG_BP) s->bp = BP_SAME; break;
        case 0x09: uleb(&p); uleb(&p); break;
        case 0x0a: if (depth < 8) saved[depth++] = *s; break;
        case 0x0b: if (depth > 0) *s = saved[--depth]; break;
        case 0x0c: s->cfa_register = (int)uleb(&p); s->cfa_offset = (int64_t)uleb(&p); s->cfa_special = PLAIN; break;
        case 0x0d: s->cfa_register = (int)uleb(&p); s->cfa_special = PLAIN; break;
        case 0x0e: s->cfa_offset = (int64_t)uleb(&p); break;
        case 0x0f: reg = uleb(&p); special(s, p, reg); p += reg; break;
        case 0x10: { /* expression: where a register was saved */
            reg = uleb(&p);
            uint64_t length = uleb(&p);
            if (reg == REG_BP && length > 0 && p[0] == 0x70 + REG_BP) {
                const uint8_t *q = p + 1;
                s->bp_offset = sleb(&q);
                s->bp = BP_AT_BP;
            }
            p += length;
            break;
        }
        case 0x11: /* offset_extended_sf */
            reg = uleb(&p);
            offset = sleb(&p) * data_factor;
            if (reg == REG_BP) { s->bp = BP_AT_CFA; s->bp_offset = offset; }
            break;
        case 0x12: s->cfa_register = (int)uleb(&p); s->cfa_offset = sleb(&p) * data_factor; s->cfa_special = PLAIN; break;
        case 0x13: s->cfa_offset = sleb(&p) * data_factor; break;
        case 0x14: uleb(&p); uleb(&p); break;
        case 0x15: uleb(&p); sleb(&p); break;
        case 0x16: uleb(&p); reg = uleb(&p); p += reg; break;
        case 0x2e: uleb(&p); break;
        case 0x2f: uleb(&p); uleb(&p); break;
        default: s->cfa_special = STRANGE; return;
        }
    }
}

/* find carries out the tables for the place pc; false if there are none. */
static bool find(const struct module *m, uintptr_t pc, struct state *s) {
    if (m->entries == 0) return false;
    size_t low = 0, high = m->entries;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if ((uintptr_t)(m->header + m->table[2 * middle]) <= pc) low = middle; else high = middle;
    }
    if ((uintptr_t)(m->header + m->table[2 * low]) > pc) return false;
    const uint8_t *fde = m->header + m->table[2 * low + 1], *p = fde;
    uint64_t length = fixed(&p, 4);
    if (length == 0 || length == 0xffffffffu) return false;
    const uint8_t *fde_end = p + length;
    const uint8_t *c = p; /* the CIE is so far before this place */
    c -= (int32_t)fixed(&p, 4);
    length = fixed(&c, 4);
    const uint8_t *cie_end = c + length;
    c += 4; /* id */
    uint8_t version = *c++;
    const char *augmentation = (const char *)c;
    c += strlen(augmentation) + 1;
    uint64_t code_factor = uleb(&c);
    int64_t data_factor = sleb(&c);
    uint64_t return_register = version == 1 ? *c++ : uleb(&c);
    uint8_t encoding = 0;
    bool sized = augmentation[0] == 'z';
    if (sized) {
        uint64_t n = uleb(&c);
        const uint8_t *instructions = c + n;
        for (const char *a = augmentation + 1; *a != 0 && c < instructions; a++) {
            if (*a == 'R') encoding = *c++;
            else if (*a == 'L') c++;
            else if (*a == 'P') { uint8_t e = *c++; encoded(&c, e, NULL); }
        }
        c = instructions;
    }
    if (return_register != REG_RA) return false;
    uintptr_t begin = encoded(&p, encoding, m->header);
    uintptr_t extent = encoded(&p, encoding & 0x0f, m->header);
    if (pc < begin || pc >= begin + extent) return false;
    if (sized) { uint64_t n = uleb(&p); p += n; }
    run(s, NULL, c, cie_end, 0, UINTPTR_MAX, code_factor, data_factor, encoding);
    struct state initial = *s;
    run(s, &initial, p, fde_end, begin, pc, code_factor, data_factor, encoding);
    return true;
}

static uint64_t pack(enum cfa_kind cfa, int64_t offset, enum bp_kind bp, int64_t bp_offset) {
    if (offset != (int32_t)offset || bp_offset != (int64_t)(int32_t)(bp_offset << 8) >> 8) return (uint64_t)CFA_UNKNOWN;
    return (uint64_t)cfa | (uint64_t)bp << 4 | (uint64_t)((uint32_t)bp_offset & 0xffffff) << 8 | (uint64_t)(uint32_t)offset << 32;
}

/* rule_for finds how to leave the function at pc. */
static uint64_t rule_for(uintptr_t pc) {
    const struct module *m = module_of(pc);
    if (m == NULL) atomic_store(&sl_modules_stale, true);
    struct state s = {REG_SP, 8, PLAIN, BP_SAME, 0, false};
    if (m == NULL || !find(m, pc, &s)) return pack(CFA_FRAME, 0, BP_SAME, 0);
    if (s.end) return pack(CFA_END, 0, BP_SAME, 0);
    switch (s.cfa_special) {
    case AT_BP: return pack(CFA_BP_AT, s.cfa_offset, s.bp, s.bp_offset);
    case PLT: return pack(CFA_PLT, 0, BP_SAME, 0);
    case STRANGE: return pack(CFA_UNKNOWN, 0, BP_SAME, 0);
    default: break;
    }
    if (s.cfa_register == REG_SP) return pack(CFA_SP, s.cfa_offset, s.bp, s.bp_offset);
    if (s.cfa_register == REG_BP) return pack(CFA_BP, s.cfa_offset, s.bp, s.bp_offset);
    return pack(CFA_UNKNOWN, 0, BP_SAME, 0);
}

static uint64_t cached_rule(uintptr_t pc) {
    struct rule *r = &rules[(pc * 0x9e3779b97f4a7c15u) >> 50];
    uint64_t how = atomic_load_explicit(&r->how, memory_order_acquire);
    if (SL_LIKELY(atomic_load_explicit(&r->pc, memory_order_acquire) == (pc ^ how))) return how;
    how = rule_for(pc);
    if ((how & 0xf) == CFA_FRAME) return how; /* the module may become known */
    atomic_store_explicit(&r->how, how, memory_order_release); /* pc ^ how: a mixture of two writers is not taken */
    atomic_store_explicit(&r->pc, pc ^ how, memory_order_release);
    return how;
}

static inline bool readable(uintptr_t address, uintptr_t low, uintptr_t top) {
    return address >= low && address + 8 <= top && (address & 7) == 0;
}

/* load reads a word of the stack, and keeps that it did. */
static inline uintptr_t load(struct sl_level *l, uintptr_t address) {
    uintptr_t value = *(uintptr_t *)address;
    l->at[l->reads] = address;
    l->value[l->reads++] = value;
    return value;
}

/* step goes to the caller of a frame. Where it depends on more than the frame and the words that it reads, unsure is set. */
static inline bool step(struct sl_frame *f, uintptr_t low, uintptr_t top, struct sl_level *l, bool *unsure) {
    l->frame = *f;
    l->reads = 0;
    bool leaf = (f->pc & SL_EXACT) != 0;
    f->pc &= ~SL_EXACT;
    uint64_t how = cached_rule(leaf ? f->pc : f->pc - 1);
    int64_t offset = (int32_t)(how >> 32), bp_offset = (int64_t)(int32_t)((uint32_t)(how >> 8) << 8) >> 8;
    uintptr_t cfa;
    switch (how & 0xf) {
    case CFA_SP: cfa = f->sp + (uintptr_t)offset; break;
    case CFA_BP: cfa = f->bp + (uintptr_t)offset; break;
    case CFA_BP_AT:
        if (!readable(f->bp + (uintptr_t)offset, low, top)) return !(*unsure = true);
        cfa = load(l, f->bp + (uintptr_t)offset);
        break;
    case CFA_PLT: cfa = f->sp + 8 + ((f->pc & 15) >= 11 ? 8 : 0); break;
    case CFA_FRAME: /* no table: believe in the frame pointer */
        *unsure = true;
        if (!readable(f->bp, low, top) || f->bp < f->sp) return false;
        cfa = f->bp + 16;
        bp_offset = -16;
        how = (how & ~(uint64_t)0xf0) | BP_AT_CFA << 4;
        break;
    default: return false;
    }
    if (!readable(cfa - 8, low, top) || cfa <= f->sp) return !(*unsure = true);
    uintptr_t bp = f->bp, saved = 0;
    switch (how >> 4 & 0xf) {
    case BP_AT_CFA: saved = cfa + (uintptr_t)bp_offset; break;
    case BP_AT_BP: saved = f->bp + (uintptr_t)bp_offset; break;
    default: break;
    }
    if (saved != 0 && readable(saved, low, top)) bp = load(l, saved);
    else if (saved != 0) *unsure = true;
    f->pc = load(l, cfa - 8);
    f->sp = cfa;
    f->bp = bp;
    return f->pc > 4096;
}
#else
/* Elsewhere the chain of frame pointers must do. */
static inline bool step(struct sl_frame *f, uintptr_t low, uintptr_t top, struct sl_level *l, bool *unsure) {
    l->frame = *f;
    l->reads = 0;
    *unsure = true;
    if (f->bp < low || f->bp + 16 > top || (f->bp & 7) != 0) return false;
    uintptr_t *frame = (uintptr_t *)f->bp;
    if (frame[0] <= f->bp && frame[0] != 0) return false;
    f->sp = f->bp + 16;
    f->pc = frame[1];
    f->bp = frame[0];
    return f->pc > 4096;
}
#endif

/* sl_unwind stores the addresses of the frames from f outwards and returns how many. */
int sl_unwind(struct sl_frame f, const struct sl_stack *stack, uintptr_t *addresses, int most) {
    uintptr_t low = f.sp & ~(uintptr_t)7, top = stack->top;
    int n = 0;
    struct sl_level level;
    bool unsure = false;
    addresses[n++] = f.pc;
    if (f.sp < stack->low || f.sp >= top) return n; /* another stack than the thread's own: it may end anywhere */
    while (n < most && step(&f, low, top, &level, &unsure)) addresses[n++] = f.pc;
    return n;
}

/* holds reports whether all words that the steps from level k outwards have read are as they were. */
static bool holds(const struct sl_level *levels, int k, uintptr_t low) {
    uintptr_t changed = 0;
    if (levels[k].lowest < low) return false;
    for (const struct sl_level *l = levels + k; l >= levels; l--) {
        changed |= (*(uintptr_t *)l->at[0] ^ l->value[0]) | (*(uintptr_t *)l->at[1] ^ l->value[1]);
        if (SL_UNLIKELY(l->reads > 2)) changed |= *(uintptr_t *)l->at[2] ^ l->value[2];
    }
    return changed == 0;
}

/* push puts a frame on those below it. A level that has read less reads a word twice, or something that stays. */
static void push(struct sl_level *levels, int n, const struct sl_level *fresh) {
    static const uintptr_t nothing = 0;
    struct sl_level *l = &levels[n];
    *l = *fresh;
    l->lowest = n == 0 ? UINTPTR_MAX : levels[n - 1].lowest;
    for (uint32_t r = 0; r < l->reads; r++)
        if (l->at[r] < l->lowest) l->lowest = l->at[r];
    for (uint32_t r = l->reads; r < 2; r++) {
        l->at[r] = (uintptr_t)&nothing;
        l->value[r] = nothing;
    }
}

/* sl_unwind_again is sl_unwind for a thread that was somewhere near a moment ago. A step depends on its frame, on tables that do not
 * change, and on words of the stack: from a frame on that is there again it suffices to look at these words. The levels are those of
 * the time before, outermost first, with as much room behind them; it changes *count, and returns how many of them have stayed;
 * -1: use sl_unwind. */
int sl_unwind_again(struct sl_frame f, const struct sl_stack *stack, struct sl_level *levels, int *count) {
    struct sl_level *fresh = levels + SL_MOST_DEPTH;
    uintptr_t low = f.sp & ~(uintptr_t)7, top = stack->top;
    int n = 0, old = *count - 1;
    bool unsure = false, more = true;
    *count = 0;
    if (f.sp < stack->low || f.sp >= top) return -1;
    while (more) {
        while (old >= 0 && levels[old].frame.sp < f.sp) old--;
        if (old >= 0 && levels[old].frame.sp == f.sp && levels[old].frame.pc == f.pc && levels[old].frame.bp == f.bp) {
            if (holds(levels, old, low)) break;
            old = -1;
        }
        if (n == SL_MOST_DEPTH) return -1;
        more = step(&f, low, top, &fresh[n++], &unsure);
        if (unsure) return -1;
    }
    int stayed = more ? old + 1 : 0;
    if (stayed + n > SL_MOST_DEPTH) return -1;
    *count = stayed + n;
    for (int i = 0; i < n; i++) push(levels, stayed + i, &fresh[n - 1 - i]);
    return stayed;
}

/* sl_runs reports whether the recorder's function with this place on the stack is among the callers of a frame, or may be: not
 * everything can be followed. */
bool sl_runs(struct sl_frame f, const struct sl_stack *stack, uintptr_t place) {
    const struct module *own = module_of((uintptr_t)sl_runs);
    uintptr_t low = f.sp & ~(uintptr_t)7, top = stack->top;
    struct sl_level level;
    bool unsure = false, ours = own == NULL || f.sp < stack->low || f.sp >= top;
    while (f.sp <= place && !ours) {
        ours = module_of(f.pc) == own;
        if (!step(&f, low, top, &level, &unsure) || unsure) return true;
        ours = ours && f.sp > place;
    }
    return ours;
}

/* sl_caller is the address from which the program called: MPI's bindings for Fortran lie in between. */
uintptr_t sl_caller(struct sl_frame f, const struct sl_stack *stack) {
    const struct module *m = module_of(f.pc);
    if (m == NULL || !m->mpi) return f.pc;
    uintptr_t frames[8];
    int n = sl_unwind(f, stack, frames, 8);
    for (int i = 1; i < n; i++) {
        m = module_of(frames[i]);
        if (m == NULL || !m->mpi) return frames[i];
    }
    return f.pc;
}
