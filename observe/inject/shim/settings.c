/* Settings from the environment, and the report. */
#include "inject.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct settings inj_settings;
static struct report own_report;
struct report *inj_report = &own_report;
atomic_bool inj_active;
bool inj_crowded;
int inj_rank = -1, inj_ranks;

void inj_say(const char *format, ...) {
    char text[500];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "slackline: inject: %s\n", text);
}

static const char *value_of(const char *name) {
    char full[100];
    snprintf(full, sizeof full, "SLACKLINE_INJECT_%s", name);
    const char *v = getenv(full);
    return v != NULL && v[0] != 0 ? v : NULL;
}

static int64_t number_of(const char *name, int64_t otherwise) {
    const char *v = value_of(name);
    return v != NULL ? strtoll(v, NULL, 10) : otherwise;
}

/* The rules are numbers, five for each: from low, high, to low, high (-1: no end), nanoseconds. */
static void load_rules(const char *text) {
    int room = 1;
    for (const char *p = text; *p != 0; p++) room += *p == ';';
    inj_settings.rules = calloc((size_t)room, sizeof *inj_settings.rules);
    while (inj_settings.rules != NULL && *text != 0 && inj_settings.n_rules < room) {
        struct rule r;
        long long ns;
        int length = 0;
        if (sscanf(text, "%d %d %d %d %lld%n", &r.from_low, &r.from_high, &r.to_low, &r.to_high, &ns, &length) < 5) break;
        r.ns = ns;
        inj_settings.rules[inj_settings.n_rules++] = r;
        text += length;
        if (*text == ';') text++;
    }
}

static const char *kept(const char *value) { return value != NULL ? strdup(value) : NULL; }

/* load reads the settings before the program can change its environment. */
static __attribute__((constructor)) void load(void) {
    struct settings *s = &inj_settings;
    s->directory = kept(value_of("DIR"));
    s->latency = value_of("LATENCY") != NULL;
    s->latency_ns = number_of("LATENCY", 0);
    const char *rules = value_of("RULES");
    if (rules != NULL) load_rules(rules);
    const char *gap = value_of("GAP"); /* femtoseconds per byte */
    s->gap_ns = gap != NULL ? (double)strtoll(gap, NULL, 10) * 1e-6 : 0;
    s->base_ns = number_of("BASE", -1);
    const char *bases = value_of("BASES");
    for (int i = 0; bases != NULL && i < 24; i++) {
        char *rest;
        s->bases[i] = strtoll(bases, &rest, 10);
        bases = *rest == ',' ? rest + 1 : NULL;
    }
    s->eager = number_of("EAGER", -1);
    s->noise = kept(value_of("NOISE"));
    s->crowded = (int)number_of("CROWDED", 2);
    s->panel = (int)number_of("PANEL", 'd');
}

void inj_report_open(void) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%d.report", inj_settings.directory, inj_rank);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST) {
        char apart[4096];
        snprintf(apart, sizeof apart, "%s/apart", inj_settings.directory);
        int note = inj_ranks == 1 ? open(apart, O_WRONLY | O_CREAT | O_CLOEXEC, 0666) : -1;
        if (note >= 0) close(note); /* processes that do not know of each other */
        fd = open(path, O_RDWR | O_CLOEXEC);
    }
    void *m = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, sizeof(struct report)) == 0) m = mmap(NULL, sizeof(struct report), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (m == MAP_FAILED) {
        inj_say("rank %d: %s: %s; it will be missing in the report", inj_rank, path, strerror(errno));
    } else {
        inj_report = m;
    }
    if (fd >= 0) close(fd);
    inj_report->magic = 0x7463656a6e69; /* "inject" */
    inj_report->version = 3;
    inj_report->waited_ns = -1;
    inj_report->rank = inj_rank;
    inj_report->ranks = inj_ranks;
}
