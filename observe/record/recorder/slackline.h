/* Marks regions of a program for slackline record. The functions do nothing unless the program is recorded; nothing
 * needs to be linked. Regions must be closed in the opposite order in which they were opened. */
#ifndef SLACKLINE_H
#define SLACKLINE_H

#ifdef __cplusplus
extern "C" {
#endif

void slackline_region_begin(const char *name) __attribute__((weak));
void slackline_region_end(const char *name) __attribute__((weak));

static inline void slackline_begin(const char *name) {
    if (slackline_region_begin) slackline_region_begin(name);
}

static inline void slackline_end(const char *name) {
    if (slackline_region_end) slackline_region_end(name);
}

#ifdef __cplusplus
}
#endif
#endif
