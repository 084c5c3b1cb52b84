/* Which functions of MPI a program, or a library before the preloaded one, has itself, as profilers do. */
#ifndef SL_DISPLACED_H
#define SL_DISPLACED_H
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

/* sl_displaced returns the first of these names, without MPI_, of which another object than this one has the function, and the object's
 * file; NULL: there is none. Beside is something in a library that may have them, too, or NULL. */
static const char *sl_displaced(const char *const *names, size_t count, const void *beside, const char **file) {
    Dl_info self, first, below, other = {0};
    if (dladdr((void *)(uintptr_t)sl_displaced, &self) == 0) return NULL;
    if (beside != NULL) dladdr(beside, &other);
    for (size_t i = 0; i < count; i++) {
        char name[60];
        snprintf(name, sizeof name, "PMPI_%s", names[i]);
        void *function = dlsym(RTLD_DEFAULT, name + 1);
        if (function == NULL || dladdr(function, &first) == 0) continue;
        if (first.dli_fbase == self.dli_fbase || first.dli_fbase == other.dli_fbase) continue;
        void *mpi = dlsym(RTLD_DEFAULT, name); /* a function of MPI that is not wrapped is none of another object */
        if (mpi != NULL && dladdr(mpi, &below) != 0 && below.dli_fbase == first.dli_fbase) continue;
        *file = first.dli_fname;
        return names[i];
    }
    return NULL;
}

#endif
