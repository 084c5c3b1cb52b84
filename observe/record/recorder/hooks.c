/* Regions of the program: functions compiled with -finstrument-functions, those marked with slackline.h, and
 * MPI_Pcontrol. */
#include "calls.h"
#include "fortran.h"
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

/* Functions that are left out, by the address they have in the file of the program. */
static uintptr_t *filter;
static size_t filter_mask;
static uintptr_t filter_bias;

enum { EARLY = 256 };
static __thread uintptr_t early[EARLY]; /* functions that were open before recording began */
static __thread int early_count;

static int first_module(struct dl_phdr_info *info, size_t size, void *bias) {
    (void)size;
    *(uintptr_t *)bias = info->dlpi_addr;
    return 1;
}

static size_t filter_place(uintptr_t a) { return (size_t)((a * 0x9e3779b97f4a7c15u) >> 20) & filter_mask; }

/* sl_filter_load reads the list of functions that are not recorded. */
void sl_filter_load(void) {
    const char *path = getenv("SLACKLINE_RECORD_FILTER");
    FILE *f = path == NULL || *path == 0 ? NULL : fopen(path, "re");
    if (f == NULL) return;
    unsigned long count = 0, address;
    if (fscanf(f, "%lu", &count) == 1 && count > 0) {
        size_t slots = 16;
        while (slots < count * 2) slots *= 2;
        filter = calloc(slots, sizeof *filter);
        filter_mask = slots - 1;
        while (filter != NULL && count-- > 0 && fscanf(f, "%lx", &address) == 1) {
            size_t at = filter_place(address);
            while (filter[at] != 0) at = (at + 1) & filter_mask;
            filter[at] = address;
        }
        dl_iterate_phdr(first_module, &filter_bias);
    }
    fclose(f);
}

static bool left_out(uintptr_t function) {
    if (filter == NULL) return false;
    function -= filter_bias;
    for (size_t at = filter_place(function); filter[at] != 0; at = (at + 1) & filter_mask)
        if (filter[at] == function) return true;
    return false;
}

static void enter_function(struct sl_thread *t, uintptr_t function, uint64_t time) {
    t->functions++;
    if (sl_settings.depth > 0 && t->functions > sl_settings.depth) return;
    if (!left_out(function)) sl_small(t, SL_ENTER, 0, time, function);
}

/* sl_hooks_attach records the functions that were entered before recording began. */
void sl_hooks_attach(struct sl_thread *t) {
    for (int i = 0; i < early_count && i < EARLY; i++) enter_function(t, early[i], sl_loaded);
    early_count = 0;
}

SL_EXPORT void __cyg_profile_func_enter(void *function, void *site);
SL_EXPORT void __cyg_profile_func_exit(void *function, void *site);

void __cyg_profile_func_enter(void *function, void *site) {
    (void)site;
    struct sl_thread *t = sl_self;
    if (t == NULL) {
        if (early_count >= 0 && early_count < EARLY) early[early_count] = (uintptr_t)function;
        early_count++;
        return;
    }
    if (!sl_busy(t)) enter_function(t, (uintptr_t)function, sl_now());
}

void __cyg_profile_func_exit(void *function, void *site) {
    (void)site;
    struct sl_thread *t = sl_self;
    if (t == NULL) {
        if (early_count > 0) early_count--;
        return;
    }
    if (sl_busy(t)) return;
    int level = t->functions--;
    if (level <= 0) t->functions = 0;
    if (sl_settings.depth > 0 && level > sl_settings.depth) return;
    if (!left_out((uintptr_t)function)) sl_small(t, SL_LEAVE, 0, sl_now(), (uint64_t)(uintptr_t)function);
}

/* slackline.h */

SL_EXPORT void slackline_region_begin(const char *name);
SL_EXPORT void slackline_region_end(const char *name);

static void region(uint16_t kind, const char *name) {
    struct sl_thread *t = sl_self;
    if (t == NULL || name == NULL || sl_busy(t)) return;
    uint64_t now = sl_now();
    t->depth++;
    uint32_t number = sl_name(t, name);
    t->depth--;
    sl_small(t, kind, 0, now, number);
}

void slackline_region_begin(const char *name) { region(SL_REGION_ENTER, name); }
void slackline_region_end(const char *name) { region(SL_REGION_LEAVE, name); }

/* control is MPI_Pcontrol: 0 stops recording of the process, 1 goes on, n > 1 begins the region "phase n", -n ends it. Other threads
 * follow with what they do next. */
static void control(int level) {
    struct sl_thread *t = sl_self;
    if (t == NULL || sl_busy(t)) return;
    if (level == 0 || level == 1) {
        if (atomic_exchange(&sl_switched_off, level == 0) && level != 0) atomic_fetch_add(&sl_switched_on, 1);
        atomic_store(&sl_bounded, true);
        sl_check_window(t, sl_now());
    } else if (level > 1 || level < -1) {
        char name[32];
        snprintf(name, sizeof name, "phase %d", level < 0 ? -level : level);
        region(level > 0 ? SL_REGION_ENTER : SL_REGION_LEAVE, name);
    }
}

SL_EXPORT int MPI_Pcontrol(const int level, ...) {
    control(level);
    return MPI_SUCCESS;
}

SL_EXPORT void mpi_pcontrol_(const MPI_Fint *level) { control(*level); }
SL_ALIAS(mpi_pcontrol_, mpi_pcontrol__)
SL_ALIAS(mpi_pcontrol_, mpi_pcontrol)
SL_ALIAS(mpi_pcontrol_, MPI_PCONTROL)
#ifdef OPEN_MPI
SL_EXPORT void ompi_pcontrol_f(const MPI_Fint *level) { control(*level); }
#else
SL_EXPORT void mpi_pcontrol_f08_(const MPI_Fint *level) { control(*level); }
#endif
