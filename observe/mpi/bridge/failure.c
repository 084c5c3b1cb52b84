/* Failures: whatever fails, process 0 tells of it, once, and ends the job. */
#define _GNU_SOURCE
#include "bridge.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { TAG_FAILURE = 1, MOST = 4096 };

/* What is told to process 0. */
struct failure {
	int32_t code;
	int32_t rank;
	char text[MOST];
};

static struct failure heard;
static int failed;

const char *bridge_host(void)
{
	static char name[256];
	if (name[0] == 0 && gethostname(name, sizeof name - 1) != 0)
		strcpy(name, "an unknown host");
	return name;
}

/* say writes a message in one go, so that those of others cannot get in between. */
static void say(const char *text)
{
	char line[MOST + 16];
	int n = snprintf(line, sizeof line, "slackline: %s\n", text);
	if (n > (int)sizeof line)
		n = sizeof line;
	if (write(STDERR_FILENO, line, (size_t)n) != n)
		return;
}

static void end(int code) __attribute__((noreturn));

void bridge_let_read(void)
{
	for (int ms = 0, left = 1; ms < 2000 && left > 0; ms += 10) {
		nanosleep(&(struct timespec){.tv_nsec = 10 * 1000000}, NULL);
		if (ioctl(STDERR_FILENO, FIONREAD, &left) != 0)
			left = 0;
	}
	nanosleep(&(struct timespec){.tv_nsec = 300 * 1000000}, NULL);
}

static void end(int code)
{
	bridge_let_read();
	MPI_Abort(MPI_COMM_WORLD, code);
	_exit(code);
}

/* patience is how long process 0 has to tell of a failure, in ms. */
enum { PATIENCE = 20000 };

void bridge_failed(int code, const char *text)
{
	struct failure f = {.code = code, .rank = bridge_rank};
	snprintf(f.text, sizeof f.text, "%s", text);
	if (bridge_rank != 0) {
		MPI_Request r;
		MPI_Isend(&f, sizeof f, MPI_BYTE, 0, TAG_FAILURE, bridge_failures, &r);
		for (int ms = 0, gone = 0; ms < PATIENCE && !bridge_signalled(); ms++) {
			if (!gone)
				MPI_Test(&r, &gone, MPI_STATUS_IGNORE);
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		}
		if (bridge_signalled())
			_exit(code);
	}
	if (f.text[0] != 0)
		say(f.text);
	end(code);
}

void bridge_hear(void)
{
	int there;
	if (failed || bridge_rank != 0)
		return;
	MPI_Iprobe(MPI_ANY_SOURCE, TAG_FAILURE, bridge_failures, &there, MPI_STATUS_IGNORE);
	if (!there)
		return;
	MPI_Recv(&heard, sizeof heard, MPI_BYTE, MPI_ANY_SOURCE, TAG_FAILURE, bridge_failures, MPI_STATUS_IGNORE);
	failed = 1;
}

int bridge_heard(void) { return failed; }

void bridge_pass_on(void)
{
	if (heard.text[0] != 0)
		say(heard.text);
	end(heard.code);
}

void bridge_fatal(const char *format, ...)
{
	char what[MOST / 2], text[MOST];
	va_list list;
	va_start(list, format);
	vsnprintf(what, sizeof what, format, list);
	va_end(list);
	snprintf(text, sizeof text, "process %d on %s: %s", bridge_rank, bridge_host(), what);
	bridge_failed(1, text);
}

void *bridge_room(size_t bytes)
{
	void *room = malloc(bytes > 0 ? bytes : 1);
	if (room == NULL)
		bridge_fatal("no memory for %zu bytes", bytes);
	return room;
}
