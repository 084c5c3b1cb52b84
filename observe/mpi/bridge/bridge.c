/* The bridge: starts slackline, then MPI, and serves. */
#define _GNU_SOURCE
#include "bridge.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

MPI_Comm bridge_exchanges, bridge_messages, bridge_failures;
int bridge_rank, bridge_size;
int bridge_orders, bridge_mail, bridge_out, bridge_in;

static pid_t child;
static int complaints = -1;          /* what the child prints when it crashes */
static char complaint[1024];         /* the start of that */
static size_t complained;
static int ended, status_of_child;   /* the child is gone */
static struct rusage use_of_child;
static int stopped;                  /* the signal that has stopped the child; 0: none */
static int64_t stopped_at;
static char (*hosts)[HOST_NAME];     /* of all processes; process 0 alone knows them */
static char *last_output;             /* what the child reported of its failure */

static volatile sig_atomic_t caught; /* the last signal */
static volatile sig_atomic_t signals;
static int passed_on;                /* signals the child knows of */
static int64_t out_of_patience;      /* when the child is killed after a signal */

/* How long a child has to keep its results, in s. */
enum { GRACE = 8 };

static void on_signal(int number)
{
	if (number == SIGCHLD)
		return;
	/* While MPI starts or ends signals are not looked at, and it may wait for processes that are gone. */
	if (bridge_life->stage == STAGE_STARTS)
		_exit(130);
	alarm(bridge_life->stage == STAGE_ENDS ? 5 : GRACE + 8);
	caught = number;
	signals++;
}

/* on_alarm ends a bridge that hangs in MPI when it should end. The guard would do that, but launchers kill guards; and
 * they wait for all processes that still have the standard output. */
static void on_alarm(int number)
{
	(void)number;
	if (bridge_life->child > 0)
		kill(bridge_life->child, SIGKILL);
	_exit(130);
}

static void catch_signals(void)
{
	struct sigaction a = {.sa_handler = on_signal};
	sigemptyset(&a.sa_mask);
	sigaction(SIGINT, &a, NULL);
	sigaction(SIGTERM, &a, NULL);
	sigaction(SIGHUP, &a, NULL);
	sigaction(SIGCHLD, &a, NULL);
	a.sa_handler = on_alarm;
	sigaction(SIGALRM, &a, NULL);
	a.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &a, NULL);
}

int bridge_signalled(void) { return signals > 0; }

/* take_up reads what the child complains of, so that it does not block. */
static void take_up(void)
{
	char buffer[4096];
	for (;;) {
		ssize_t n = read(complaints, buffer, sizeof buffer);
		if (n <= 0)
			return;
		size_t room = sizeof complaint - 1 - complained;
		if ((size_t)n < room)
			room = (size_t)n;
		memcpy(complaint + complained, buffer, room);
		complained += room;
	}
}

static int64_t from_now(int seconds) { return bridge_now() + seconds * INT64_C(1000000000); }

static void look_at_child(void)
{
	int how;
	while (!ended && wait4(child, &how, WNOHANG | WUNTRACED | WCONTINUED, &use_of_child) == child) {
		if (WIFSTOPPED(how) || WIFCONTINUED(how)) {
			stopped = WIFSTOPPED(how) ? WSTOPSIG(how) : 0;
			stopped_at = bridge_now();
			continue;
		}
		status_of_child = how;
		ended = 1;
		bridge_life->child = 0;
	}
	take_up();
}

/* mind_stopped ends the job if the child was stopped and does not go on: the others would wait for it forever. First it
 * may keep what is finished. */
static void mind_stopped(void)
{
	static int64_t before;
	int64_t now = bridge_now();
	if (now - before > STOP_LIMIT * INT64_C(500000000)) /* this process was stopped, too */
		stopped_at = now;
	before = now;
	if (ended || stopped == 0 || signals > 0 || now - stopped_at < STOP_LIMIT * INT64_C(1000000000))
		return;
	char text[512];
	int n = bridge_introduce(text, sizeof text);
	snprintf(text + n, sizeof text - (size_t)n, " was stopped by signal %d (%s) and has not gone on for %d s", stopped, strsignal(stopped), STOP_LIMIT);
	kill(child, SIGTERM);
	kill(child, SIGCONT);
	for (int64_t until = from_now(GRACE); !ended && bridge_now() < until; bridge_sleep(10))
		look_at_child();
	bridge_failed(1, text);
}

/* pass_on lets the child know of signals. One that is stopped could not obey. */
static void pass_on(void)
{
	if (signals > passed_on) {
		/* A second signal is for those who cannot wait; but one also comes when the launcher kills the guard. */
		if (passed_on == 0)
			kill(child, caught);
		else if (!bridge_orphaned())
			kill(child, SIGKILL);
		kill(child, SIGCONT);
		if (passed_on == 0)
			out_of_patience = from_now(GRACE);
		passed_on = signals;
	}
	if (out_of_patience > 0 && bridge_now() > out_of_patience)
		kill(child, SIGKILL);
}

/* lament reports that the guard was killed. Launchers end a job by killing all guards, if one of them is
 * gone: the first one to complain is right. */
static void lament(void)
{
	static int done;
	if (done++ > 0 || !bridge_orphaned() || bridge_life->reported)
		return;
	struct failure f = {.code = 1, .rank = bridge_rank};
	int n = bridge_introduce(f.text, sizeof f.text);
	bridge_account(f.text + n, sizeof f.text - (size_t)n, SIGKILL, 0, "");
	if (bridge_rank != 0) {
		bridge_tell(&f);
		return;
	}
	for (int ms = 0; ms < 100 && !bridge_heard(); ms += 5) {
		bridge_sleep(5);
		bridge_hear();
	}
	if (!bridge_heard())
		bridge_say(f.text);
}

/* mind_child looks whether the child is gone or stopped, and whether the guard is gone. */
static void mind_child(void)
{
	look_at_child();
	mind_stopped();
	if (signals == 0 && bridge_orphaned()) { /* even if the signal that reports it was lost */
		caught = SIGTERM;
		signals++;
	}
}

static void tell_child(void)
{
	if (signals > 0 && !ended && !bridge_heard())
		pass_on();
}

int bridge_tick(void)
{
	mind_child();
	bridge_pulse();
	if (signals > 0)
		lament();
	bridge_hear();
	tell_child();
	return !ended && !bridge_heard();
}

/* A child that is stopped in the middle of a message must hear of signals here, too. */
int bridge_child_is_here(void)
{
	mind_child();
	tell_child();
	return !ended;
}

/* start_child starts slackline. MPI has not been started: a process that uses it must not fork. */
static void start_child(char **arguments, int leader)
{
	int orders[2], mail[2], words[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, orders) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, mail))
		bridge_die("socketpair");
	bridge_out = memfd_create("slackline-out", MFD_CLOEXEC);
	bridge_in = memfd_create("slackline-in", MFD_CLOEXEC);
	if (bridge_out < 0 || bridge_in < 0)
		bridge_die("memfd_create");
	if (pipe2(words, O_CLOEXEC))
		bridge_die("pipe");
	pid_t self = getpid();
	child = fork();
	if (child < 0)
		bridge_die("fork");
	if (child == 0) {
		/* Away from the low numbers first, so that none is overwritten. */
		int from[] = {orders[1], bridge_out, bridge_in, mail[1], words[1]};
		int to[] = {CHILD_ORDERS, CHILD_OUT, CHILD_IN, CHILD_MAIL, CHILD_CRASH};
		for (int i = 0; i < 5; i++)
			from[i] = fcntl(from[i], F_DUPFD_CLOEXEC, 16);
		for (int i = 0; i < 5; i++)
			dup2(from[i], to[i]);
		if (!leader) {
			int nothing = open("/dev/null", O_RDWR);
			dup2(nothing, STDIN_FILENO);
			dup2(nothing, STDOUT_FILENO);
			dup2(CHILD_CRASH, STDERR_FILENO);
		}
		/* The bridge passes signals on, each once; a launcher or a terminal sends them to whole groups. */
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != self)
			_exit(1);
		char mark[64];
		snprintf(mark, sizeof mark, "joined:%ld", (long)self);
		setenv("SLACKLINE_MPI_JOB", mark, 1);
		execv(arguments[0], arguments + 1);
		bridge_die(arguments[0]);
	}
	close(orders[1]);
	close(mail[1]);
	bridge_orders = orders[0];
	bridge_mail = mail[0];
	bridge_life->child = child;
	close(words[1]);
	complaints = words[0];
	fcntl(complaints, F_SETFL, O_NONBLOCK);
}

/* take_last_output takes what the child reports of its failure. */
static int take_last_output(uint64_t bytes)
{
	last_output = bridge_room(bytes + 1);
	last_output[bytes] = 0;
	return bridge_read(bridge_orders, last_output, bytes);
}

/* take_rest takes the last output of a child that is gone. */
static void take_rest(void)
{
	struct head h;
	while (last_output == NULL && recv(bridge_orders, &h, sizeof h, MSG_DONTWAIT) == sizeof h) {
		if (h.what == ORDER_FAIL)
			take_last_output(h.bytes);
		else if (h.what == ORDER_SEND)
			return; /* its bytes follow */
	}
}

/* obey carries out one order. */
static void obey(const struct head *h)
{
	switch (h->what) {
	case ORDER_HELLO:
		bridge_answer(bridge_orders, ANSWER_FINE, bridge_rank, (uint64_t)bridge_size);
		return;
	case ORDER_EXCHANGE:
		if (!bridge_exchange(h->bytes))
			bridge_answer(bridge_orders, ANSWER_BROKEN, 0, 0);
		return;
	case ORDER_SEND:
		if (h->number < 0 || h->number >= bridge_size)
			bridge_fatal("a message to process %d of %d", (int)h->number, bridge_size);
		bridge_send(h->number, h->bytes);
		return;
	case ORDER_FAIL:
		take_last_output(h->bytes);
		return;
	}
	bridge_fatal("an order %u that is not known", h->what);
}

/* look takes orders, waiting for up to so many us, and reports whether there were any. */
static int look(long us)
{
	struct pollfd p[] = {
		{.fd = bridge_orders, .events = POLLIN}, {.fd = bridge_mail, .events = POLLIN}, {.fd = complaints, .events = POLLIN}, {.fd = bridge_listener(), .events = POLLIN}};
	struct timespec t = {.tv_nsec = us * 1000};
	if (ppoll(p, 4, &t, NULL) <= 0)
		return 0;
	int some = 0;
	struct head h;
	if ((p[0].revents & POLLIN) && bridge_read(bridge_orders, &h, sizeof h))
		obey(&h), some = 1;
	if ((p[1].revents & POLLIN) && bridge_read(bridge_mail, &h, sizeof h) && h.what == ORDER_RECEIVE)
		bridge_receive(), some = 1;
	take_up();
	if (!some) /* the child has closed its ends: do not spin until it is gone */
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	return some;
}

/* serve obeys until the child is gone or another process has failed. While messages are under way it
 * looks for them, first often, then seldom: the core is for those who work. */
static void serve(void)
{
	unsigned idle = 0;
	while (bridge_tick()) {
		int moved = bridge_mail_progress();
		long us = moved ? 0 : bridge_mail_busy() ? bridge_nap(idle) : 20000;
		if (look(us) || moved)
			idle = 0;
		else
			idle++;
	}
}

/* give_up ends the job because another process has failed. The child learns it when it asks. */
static void give_up(void)
{
	bridge_mail_broken();
	int64_t until = from_now(GRACE);
	while (!ended && bridge_now() < until) {
		struct pollfd p[] = {{.fd = bridge_orders, .events = POLLIN}, {.fd = bridge_mail, .events = POLLIN}};
		struct head h;
		poll(p, 2, 10);
		for (int i = 0; i < 2; i++) {
			if (!(p[i].revents & POLLIN) || !bridge_read(p[i].fd, &h, sizeof h))
				continue;
			if (h.what == ORDER_FAIL)
				take_last_output(h.bytes);
			else if (h.what != ORDER_SEND)
				bridge_answer(p[i].fd, ANSWER_BROKEN, 0, 0);
			else /* what it sends is not read: it need not wait */
				shutdown(bridge_orders, SHUT_RDWR);
		}
		look_at_child();
	}
	if (!ended)
		kill(child, SIGKILL);
	take_rest();
	/* All may have found the same mistake: the report of process 0 is what a user expects. */
	if (last_output != NULL && last_output[0] != 0)
		bridge_failed(WIFEXITED(status_of_child) ? WEXITSTATUS(status_of_child) : 1, last_output);
	bridge_pass_on();
}

/* leave_together ends the process with all others, if they are all about to end: MPI tidies up, and the
 * launcher has no reason to kill any process. */
static void leave_together(void)
{
	MPI_Request all;
	int there = 0;
	MPI_Ibarrier(bridge_failures, &all);
	for (int ms = 0; ms < 1500 && !there && !bridge_orphaned(); ms += 5) {
		MPI_Test(&all, &there, MPI_STATUS_IGNORE);
		bridge_sleep(5);
	}
	if (!there)
		return;
	bridge_pulse_end();
	alarm(2); /* what was under way may keep MPI from ending */
	MPI_Finalize();
	if (bridge_rank == 0)
		bridge_let_read();
	_exit(130); /* after a signal MPICH's launcher returns the code of the first one to end */
}

/* obey_signal ends the process after an interrupt. The first one to end makes the launcher end the
 * others: that should be process 0, when it has reported everything. */
static void obey_signal(void)
{
	bridge_life->stage = STAGE_ENDS;
	if (!bridge_orphaned())
		leave_together();
	if (bridge_rank == 0) {
		bridge_let_read();
	} else {
		for (int ms = 0; ms < 1500 && !bridge_orphaned(); ms += 10)
			bridge_sleep(10);
	}
	_exit(130);
}

/* depart ends the process when all others are there, too. */
static void depart(int code)
{
	MPI_Request all;
	int there = 0;
	unsigned times = 0;
	bridge_mail_flush();
	for (MPI_Ibarrier(bridge_failures, &all); !there; bridge_doze(&times)) {
		MPI_Test(&all, &there, MPI_STATUS_IGNORE);
		if (!there)
			bridge_pulse();
		bridge_hear();
		if (bridge_heard())
			bridge_pass_on();
		if (signals > 0)
			_exit(130); /* all have finished, or are about to */
	}
	bridge_pulse_end();
	bridge_life->stage = STAGE_ENDS;
	MPI_Finalize();
	exit(bridge_rank == 0 ? code : 0);
}

/* conclude ends the job as the child ended. */
static void conclude(void)
{
	take_rest();
	take_up();
	int code = WIFEXITED(status_of_child) ? WEXITSTATUS(status_of_child) : 1;
	if (signals > 0)
		obey_signal();
	if (WIFEXITED(status_of_child) && last_output == NULL && (code == 0 || code == 3 || code == 4))
		depart(code);
	if (last_output != NULL)
		bridge_failed(code, last_output);
	char text[2048] = "";
	int n = bridge_introduce(text, sizeof text);
	if (code == 130 && bridge_rank == 0) /* it has reported it itself */
		bridge_failed(code, "");
	if (code == 130) {
		snprintf(text + n, sizeof text - (size_t)n, " was interrupted");
		bridge_failed(code, text);
	}
	bridge_account(text + n, sizeof text - (size_t)n, status_of_child, use_of_child.ru_maxrss, complaint);
	bridge_failed(1, text);
}

/* on_error ends the job when MPI reports an error. If another process is gone, its guard reports that,
 * and the launcher ends this one: that is to be received first. */
static void on_error(MPI_Comm *where, int *error, ...)
{
	char what[MPI_MAX_ERROR_STRING] = "";
	int n = 0;
	(void)where;
	MPI_Error_string(*error, what, &n);
	for (int ms = 0; ms < 2000 && signals == 0; ms += 10)
		bridge_sleep(10);
	if (signals > 0)
		obey_signal();
	bridge_fatal("MPI reports: %.*s", (int)strcspn(what, "\n"), what);
}

/* check wants the job to be the one that the launcher has started. Without its launcher's help each
 * process would be a job of its own. */
static void check(const char *launcher, int rank, int size)
{
	if (rank == bridge_rank && size == bridge_size)
		return;
	char library[MPI_MAX_LIBRARY_VERSION_STRING] = "", text[1024];
	int n;
	MPI_Get_library_version(library, &n);
	library[strcspn(library, ",\n")] = 0;
	for (char *tab = library; (tab = strchr(tab, '\t')) != NULL;)
		*tab = ' ';
	snprintf(text, sizeof text,
		"%s has started this as process %d of %d, but for %s it is process %d of %d: that MPI does not belong to the launcher; "
		"SLACKLINE_MPI names another, SLACKLINE_MPI_JOB=off runs every process by itself",
		launcher, rank, size, library, bridge_rank, bridge_size);
	if (rank != 0)
		for (int ms = 0; ms < 3000 && signals == 0; ms += 10)
			bridge_sleep(10);
	if (signals == 0)
		bridge_say(text);
	bridge_let_read();
	kill(child, SIGKILL);
	bridge_abort_launcher(1);
	bridge_life->stage = STAGE_ENDS;
	MPI_Finalize();
	exit(1);
}

/* What a process is, in a form that no version of the bridge changes: it is compared before anything else is
 * exchanged. */
struct card {
	char host[HOST_NAME];
	char program[256]; /* version and build of slackline */
};

/* compare wants all processes to run the same program: others may understand each other wrongly, or not at all. */
static void compare(const char *program)
{
	struct card here, *all = NULL;
	int other = 0;
	memset(&here, 0, sizeof here);
	strncpy(here.host, bridge_host(), sizeof here.host - 1);
	strncpy(here.program, program, sizeof here.program - 1);
	if (bridge_rank == 0)
		all = bridge_room(sizeof *all * (size_t)bridge_size);
	MPI_Gather(&here, (int)sizeof here, MPI_BYTE, all, (int)sizeof here, MPI_BYTE, 0, MPI_COMM_WORLD);
	for (int p = bridge_rank == 0 ? bridge_size - 1 : 0; p > 0; p--)
		if (strncmp(all[p].program, here.program, sizeof here.program) != 0)
			other = p;
	MPI_Bcast(&other, 1, MPI_INT, 0, MPI_COMM_WORLD);
	if (other > 0) {
		char text[2048];
		kill(child, SIGKILL);
		for (int ms = 0; bridge_rank != 0; ms += 10) { /* process 0 ends the job */
			bridge_sleep(10);
			if (signals > 0 || ms > 20000)
				_exit(1);
		}
		snprintf(text, sizeof text, "process %d on %.255s runs %.255s, but process 0 on %s runs %s; start the same program on all hosts",
			other, all[other].host, all[other].program, here.host, here.program);
		bridge_failed(1, text);
	}
	if (bridge_rank == 0) {
		hosts = bridge_room(sizeof *hosts * (size_t)bridge_size);
		for (int p = 0; p < bridge_size; p++)
			memcpy(hosts[p], all[p].host, sizeof hosts[p]);
	}
	free(all);
}

static void start_mpi(const char *launcher, int rank, int size, const char *program)
{
	MPI_Errhandler handler;
	MPI_Init(NULL, NULL);
	catch_signals();
	MPI_Comm_rank(MPI_COMM_WORLD, &bridge_rank);
	MPI_Comm_size(MPI_COMM_WORLD, &bridge_size);
	check(launcher, rank, size);
	compare(program);
	MPI_Comm_create_errhandler(on_error, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	MPI_Comm_dup(MPI_COMM_WORLD, &bridge_exchanges);
	MPI_Comm_dup(MPI_COMM_WORLD, &bridge_messages);
	MPI_Comm_dup(MPI_COMM_WORLD, &bridge_failures);
	bridge_open_line();
	bridge_look_round();
	bridge_pulse_begin(hosts);
	prctl(PR_SET_TIMERSLACK, 1000); /* ns: sleeps are short */
	bridge_life->stage = STAGE_RUNS;
}

int main(int argc, char **argv)
{
	if (argc < 7) {
		fprintf(stderr, "usage: %s LAUNCHER RANK SIZE BUILD PROGRAM ARGUMENTS..., with its name first\n", argv[0]);
		return 2;
	}
	bridge_rank = atoi(argv[2]);
	bridge_part();
	catch_signals();
	start_child(argv + 5, bridge_rank == 0);
	start_mpi(argv[1], bridge_rank, atoi(argv[3]), argv[4]);
	serve();
	if (bridge_heard())
		give_up();
	conclude();
	return 1;
}
