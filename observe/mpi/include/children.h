/* Programs that a program with a preloaded library starts are not to load it, and MPI with it, nor to see its settings. */
#ifndef SL_CHILDREN_H
#define SL_CHILDREN_H
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

/* sl_unset takes the variables whose names start with a prefix out of the environment. What getenv has returned stays valid. */
static void sl_unset(const char *prefix) {
    for (char **at = environ; at != NULL && *at != NULL;) {
        char name[100];
        size_t length = strcspn(*at, "=");
        if (length >= sizeof name || strncmp(*at, prefix, strlen(prefix)) != 0) {
            at++;
            continue;
        }
        memcpy(name, *at, length);
        name[length] = 0;
        unsetenv(name); /* which moves the next one here */
    }
}

/* sl_free_children takes the library in which it is out of LD_PRELOAD, and its settings out of the environment. */
static void sl_free_children(const char *settings) {
    sl_unset(settings);
    const char *all = getenv("LD_PRELOAD");
    Dl_info self;
    if (all == NULL || dladdr((void *)(uintptr_t)sl_free_children, &self) == 0) return;
    char *rest = calloc(1, strlen(all) + 1), *copy = strdup(all), *next = copy;
    for (char *word; rest != NULL && next != NULL && (word = strsep(&next, ": ")) != NULL;) {
        if (*word == 0 || strcmp(word, self.dli_fname) == 0) continue;
        if (*rest != 0) strcat(rest, ":");
        strcat(rest, word);
    }
    if (rest != NULL && copy != NULL && *rest != 0) setenv("LD_PRELOAD", rest, 1);
    else unsetenv("LD_PRELOAD");
    free(rest);
    free(copy);
}

#endif
