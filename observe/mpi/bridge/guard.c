/* The guard: the process that the launcher has started. The bridge proper is its child, and slackline
 * is the child of that. MPI and slackline may be killed by anybody; the guard, which does next to
 * nothing, is still there to report which process of the job it was, before the launcher ends the rest. */
#define _GNU_SOURCE
#include "bridge.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct life *bridge_life;

static pid_t launcher, guard, bridge;
static int bridge_gone, status, asked; /* asked: for the end, by so many signals */
static struct rusage use;
static int64_t deadline; /* when the bridge is ended by force */

/* How long MPI may take to start, in s: far longer than on the largest machines, but not forever, as it does if one
 * of the processes never joins. Tests make it short. */
#ifndef START_LIMIT
#define START_LIMIT 150
#endif

static int64_t start;
static int late; /* MPI has not started in time */
static int stopped; /* the signal that has stopped the bridge; 0: none */
static int64_t stopped_at;
static int stuck; /* it has not gone on in time */

int bridge_orphaned(void) { return getppid() != guard; }

/* Signals that the guard waits for. All that would end a process are a wish to end the job: so does a
 * batch system announce that time is up. */
static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU, SIGQUIT};

static sigset_t awaited(void)
{
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		sigaddset(&set, ends[i]);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTSTP);
	sigaddset(&set, SIGCONT);
	return set;
}

/* grace is how long the bridge may take to end when it is asked to, in s. MPI that is just being
 * started or ended does not look at signals. */
static int grace(void) { return bridge_life->stage == STAGE_STARTS ? 1 : 14; }

static void pass_on(int number)
{
	switch (number) {
	case SIGTSTP: /* all have groups of their own: a terminal stops only the guard's */
		kill(bridge, SIGSTOP);
		if (bridge_life->child > 0)
			kill(bridge_life->child, SIGSTOP);
		raise(SIGSTOP);
		stopped_at = bridge_now();
		return;
	case SIGCONT:
		if (bridge_life->child > 0)
			kill(bridge_life->child, SIGCONT);
		kill(bridge, SIGCONT);
		return;
	}
	kill(bridge, number == SIGINT ? SIGINT : SIGTERM);
	kill(bridge, SIGCONT); /* one that is stopped could not obey */
	if (asked++ == 0)
		deadline = bridge_now() + grace() * INT64_C(1000000000);
}

/* look takes leave of the bridge, or of slackline, which is the guard's child when the bridge is gone. */
static void look(void)
{
	int how;
	struct rusage used;
	for (;;) {
		pid_t who = wait4(-1, &how, WNOHANG | WUNTRACED | WCONTINUED, &used);
		if (who <= 0)
			return;
		if (WIFSTOPPED(how) || WIFCONTINUED(how)) {
			if (who == bridge) {
				stopped = WIFSTOPPED(how) ? WSTOPSIG(how) : 0;
				stopped_at = bridge_now();
			}
			continue;
		}
		if (who == bridge) {
			bridge_gone = 1;
			status = how;
			use = used;
		} else if (who == bridge_life->child) {
			bridge_life->child = 0;
		}
	}
}

/* wait_for_end waits for a signal of the launcher. */
static void wait_for_end(int ms)
{
	sigset_t set = awaited();
	int64_t until = bridge_now() + ms * INT64_C(1000000);
	while (asked == 0 && bridge_now() < until) {
		struct timespec some = {.tv_nsec = 100 * 1000000};
		int number = sigtimedwait(&set, NULL, &some);
		asked += number > 0 && number != SIGCHLD && number != SIGCONT && number != SIGTSTP;
		look();
	}
}

/* outlive waits for slackline, which keeps its results: it knows from the death of the bridge. */
static void outlive(void)
{
	enum { PATIENCE = 11000 };
	for (int ms = 0; ms < PATIENCE && bridge_life->child > 0; ms += 10) {
		bridge_sleep(10);
		look();
	}
	if (bridge_life->child > 0)
		kill(bridge_life->child, SIGKILL);
}

/* outcry reports the end of the bridge: to process 0, if it can be reached, or else to all. */
static void outcry(int code)
{
	struct failure f = {.code = code, .rank = bridge_rank};
	int n = bridge_introduce(f.text, sizeof f.text);
	if (late)
		snprintf(f.text + n, sizeof f.text - (size_t)n, " has waited for %d s for others to join the job; do all processes run the same command?", START_LIMIT);
	else if (stuck)
		snprintf(f.text + n, sizeof f.text - (size_t)n, " was stopped by signal %d (%s) and has not gone on for %d s", stopped, strsignal(stopped), STOP_LIMIT);
	else if (WIFEXITED(status))
		snprintf(f.text + n, sizeof f.text - (size_t)n, ": MPI %s (exit code %d)", bridge_life->stage == STAGE_STARTS ? "could not be started" : "has ended it", code);
	else
		bridge_account(f.text + n, sizeof f.text - (size_t)n, status, 0, "");
	if (bridge_rank != 0 && bridge_tell(&f)) {
		wait_for_end(12000);
		return;
	}
	/* If MPI does not work that is so for all of them: process 0 reports it first. */
	if ((late || WIFEXITED(status)) && bridge_rank != 0)
		wait_for_end(3000);
	if (asked == 0) {
		bridge_say(f.text);
		bridge_let_read();
	}
}

/* mourn ends the process when the bridge is gone. */
static void mourn(void)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : asked > 0 ? 130 : 1;
	int expected = WIFEXITED(status) && (code == 0 || bridge_life->stage == STAGE_ENDS);
	if (!expected && !bridge_life->reported && asked == 0)
		outcry(code);
	outlive();
	if (code != 0 && asked == 0 && bridge_life->stage == STAGE_STARTS)
		bridge_abort_launcher(code);
	_exit(code); /* what libraries of MPI do at the end of a process is not for this one */
}

static void watch(void) __attribute__((noreturn));

static void watch(void)
{
	sigset_t set = awaited();
	for (;;) {
		struct timespec second = {.tv_sec = 1};
		int number = sigtimedwait(&set, NULL, &second);
		if (number > 0 && number != SIGCHLD)
			pass_on(number);
		if (getppid() != launcher && asked == 0) /* no other process would end the job */
			pass_on(SIGTERM);
		look();
		if (bridge_gone)
			mourn();
		late |= asked == 0 && bridge_life->stage == STAGE_STARTS && bridge_now() - start > START_LIMIT * INT64_C(1000000000);
		stuck |= asked == 0 && stopped != 0 && bridge_now() - stopped_at > STOP_LIMIT * INT64_C(1000000000);
		if (late || stuck || (deadline > 0 && bridge_now() > deadline))
			kill(bridge, SIGKILL);
	}
}

void bridge_part(void)
{
	bridge_life = mmap(NULL, sizeof *bridge_life, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (bridge_life == MAP_FAILED)
		bridge_die("mmap");
	bridge_note_memory();
	sigset_t set = awaited(), before;
	sigprocmask(SIG_BLOCK, &set, &before);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	launcher = getppid();
	guard = getpid();
	start = bridge_now();
	bridge = fork();
	if (bridge < 0)
		bridge_die("fork");
	if (bridge > 0) {
		prctl(PR_SET_NAME, "slackline-guard");
		watch();
	}
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	prctl(PR_SET_NAME, "slackline-mpi");
	if (bridge_orphaned())
		_exit(1);
	sigprocmask(SIG_SETMASK, &before, NULL);
}
