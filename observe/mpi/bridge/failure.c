/* Failures: whatever fails, process 0 reports it, once, and ends the job. */
#define _GNU_SOURCE
#include "bridge.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TAG_FAILURE = 1, MOST = sizeof((struct failure *)0)->text };

static struct failure received;
static int failed;

const char *bridge_host(void)
{
	static char name[256];
	if (name[0] == 0 && gethostname(name, sizeof name - 1) != 0)
		strcpy(name, "an unknown host");
	return name;
}

int bridge_introduce(char *text, size_t room)
{
	return snprintf(text, room, "process %d on %s", bridge_rank, bridge_host());
}

void bridge_sleep(int ms)
{
	nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

void bridge_die(const char *what)
{
	char text[512];
	int n = bridge_introduce(text, sizeof text);
	snprintf(text + n, sizeof text - (size_t)n, ": %s: %s", what, strerror(errno));
	bridge_say(text);
	_exit(1);
}

/* A message is written in one go, so that those of others cannot get in between. */
void bridge_say(const char *text)
{
	if (bridge_life != NULL)
		bridge_life->reported = 1;
	char line[MOST + 16];
	int n = snprintf(line, sizeof line, "slackline: %s\n", text);
	if (n > (int)sizeof line)
		n = sizeof line;
	if (write(STDERR_FILENO, line, (size_t)n) != n)
		return;
}

/* Where the kernel counts the processes that it has killed for want of memory. Tests have their own. */
#ifndef VMSTAT
#define VMSTAT "/proc/vmstat"
#endif

static long killed_before;

static long killed_for_memory(void)
{
	long n = 0;
	char line[128];
	const char *file = VMSTAT;
	FILE *f = file == NULL ? NULL : fopen(file, "r");
	if (f == NULL)
		return 0;
	while (fgets(line, sizeof line, f) != NULL && sscanf(line, "oom_kill %ld", &n) != 1)
		continue;
	fclose(f);
	return n;
}

void bridge_note_memory(void) { killed_before = killed_for_memory(); }

/* fix is what helps when memory runs out. */
static const char fix[] = "take more hosts, or fewer processes on each";

/* amount prints how much memory a process had, if that is known. */
static const char *amount(long kb)
{
	static char text[32];
	if (kb > 0)
		snprintf(text, sizeof text, kb < 1000000 ? ", with %.0f MB" : ", with %.1f GB", (double)kb / (kb < 1000000 ? 1e3 : 1e6));
	return text;
}

/* starved finds out from what a process printed whether it got no memory. Process 0 has reported to the user why it ended,
 * and the bridge learns only where that was: in Go's allocator. */
static int starved(const char *words)
{
	static const char *const signs[] = {"out of memory", "cannot allocate memory", ".allocLarge(", "runtime.sysMap", "runtime.persistentalloc"};
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (strstr(words, signs[i]) != NULL)
			return 1;
	return 0;
}

void bridge_account(char *text, size_t room, int status, long kb, const char *words)
{
	int n = 0;
	if (WIFSIGNALED(status)) {
		int number = WTERMSIG(status);
		n = snprintf(text, room, " was killed by signal %d (%s)", number, strsignal(number));
		if (number == SIGKILL && killed_for_memory() > killed_before)
			n += snprintf(text + n, room - (size_t)n, "%s: the memory of its host was used up; %s", amount(kb), fix);
		else if (number == SIGKILL)
			n += snprintf(text + n, room - (size_t)n, "%s; unless a user did that, the memory of its host was used up: %s", amount(kb), fix);
	} else if (starved(words)) {
		n = snprintf(text, room, " ran out of memory%s; %s", amount(kb), fix);
	} else {
		n = snprintf(text, room, " ended with exit code %d", WEXITSTATUS(status));
	}
	int line = (int)strcspn(words, "\n");
	if (line > 0 && n < (int)room)
		snprintf(text + n, room - (size_t)n, ": %.*s", line, words);
}

static void end(int code) __attribute__((noreturn));

void bridge_let_read(void)
{
	for (int ms = 0, left = 1; ms < 2000 && left > 0; ms += 10) {
		bridge_sleep(10);
		if (ioctl(STDERR_FILENO, FIONREAD, &left) != 0)
			left = 0;
	}
	bridge_sleep(300);
}

static void end(int code)
{
	bridge_life->stage = STAGE_ENDS;
	bridge_let_read();
	alarm(10); /* a launcher that is gone does not answer */
	MPI_Abort(MPI_COMM_WORLD, code);
	_exit(code);
}

void bridge_abort_launcher(int code)
{
	const char *fd = getenv("PMI_FD");
	if (fd == NULL || getenv("SLURM_STEP_ID") != NULL || atoi(fd) < 3)
		return;
	if (dprintf(atoi(fd), "cmd=abort exitcode=%d\n", code) > 0)
		bridge_sleep(1000);
}

/* patience is how long process 0 has to report a failure, in ms. */
enum { PATIENCE = 20000 };

/* tell_by_mpi is the other way to process 0. */
static void tell_by_mpi(struct failure *f)
{
	MPI_Request r;
	MPI_Isend(f, sizeof *f, MPI_BYTE, 0, TAG_FAILURE, bridge_failures, &r);
	for (int ms = 0, gone = 0; ms < PATIENCE && !gone && !bridge_signalled(); ms++) {
		MPI_Test(&r, &gone, MPI_STATUS_IGNORE);
		bridge_sleep(1);
	}
}

void bridge_failed(int code, const char *text)
{
	static int again;
	struct failure f = {.code = code, .rank = bridge_rank};
	snprintf(f.text, sizeof f.text, "%s", text);
	bridge_life->stage = STAGE_ENDS;
	if (bridge_rank != 0) {
		if (!bridge_tell(&f) && !again++)
			tell_by_mpi(&f);
		for (int ms = 0; ms < PATIENCE && !bridge_signalled(); ms++)
			bridge_sleep(1);
		if (bridge_signalled())
			_exit(code);
	}
	if (f.text[0] != 0)
		bridge_say(f.text);
	end(code);
}

void bridge_hear(void)
{
	static int64_t next;
	int there;
	if (failed || bridge_rank != 0 || bridge_life->reported)
		return;
	MPI_Iprobe(MPI_ANY_SOURCE, TAG_FAILURE, bridge_failures, &there, MPI_STATUS_IGNORE);
	if (there) {
		MPI_Recv(&received, sizeof received, MPI_BYTE, MPI_ANY_SOURCE, TAG_FAILURE, bridge_failures, MPI_STATUS_IGNORE);
		failed = 1;
	} else if (bridge_now() > next) {
		failed = bridge_listen(&received);
		next = bridge_now() + 5 * 1000000;
	}
}

int bridge_heard(void) { return failed; }

/* Process 0 lets slackline keep what is finished before it reports. If process 0 itself is missing, the next one reports, or
 * the one after that. */
void bridge_miss(const char *text)
{
	if (failed)
		return;
	if (bridge_rank == 0) {
		received = (struct failure){.code = 1};
		snprintf(received.text, sizeof received.text, "%s", text);
		failed = 1;
		return;
	}
	bridge_life->stage = STAGE_ENDS;
	for (int ms = 0; ms < 3000 * (bridge_rank - 1 < 10 ? bridge_rank - 1 : 10) && !bridge_signalled(); ms += 10)
		bridge_sleep(10);
	if (bridge_signalled())
		_exit(1);
	bridge_say(text);
	end(1);
}

void bridge_pass_on(void)
{
	if (received.text[0] != 0)
		bridge_say(received.text);
	end(received.code);
}

void bridge_fatal(const char *format, ...)
{
	char what[MOST / 2], text[MOST];
	va_list list;
	va_start(list, format);
	vsnprintf(what, sizeof what, format, list);
	va_end(list);
	int n = bridge_introduce(text, sizeof text);
	snprintf(text + n, sizeof text - (size_t)n, ": %s", what);
	bridge_failed(1, text);
}

void *bridge_room(size_t bytes)
{
	void *room = malloc(bytes > 0 ? bytes : 1);
	if (room == NULL)
		bridge_fatal("no memory for %zu bytes", bytes);
	return room;
}
