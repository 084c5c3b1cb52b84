/* Opens the library of its first argument and calls MPI by what dlsym finds, in it or, with a second argument, anywhere. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

int main(int argc, char **argv) {
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL), *where = argc > 2 ? RTLD_DEFAULT : library;
    int (*init)(int *, char ***) = (int (*)(int *, char ***))dlsym(where, "MPI_Init");
    int (*finalize)(void) = (int (*)(void))dlsym(where, "MPI_Finalize");
    return library == NULL || init(&argc, &argv) != 0 || finalize() != 0;
}
