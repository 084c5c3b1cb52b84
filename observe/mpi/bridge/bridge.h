/* The bridge between slackline and MPI: it owns MPI, and slackline, its child, asks it to exchange
 * data. The two communicate over two sockets; parts of exchanges are in shared memory. The Go side of all
 * this is in job_linux.go. */
#ifndef SLACKLINE_BRIDGE_H
#define SLACKLINE_BRIDGE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

/* The largest message, in bytes: MPI counts with an int. Tests make it small. */
#ifndef LARGEST_PIECE
#define LARGEST_PIECE (UINT64_C(1) << 30)
#endif

/* How long a part of a process may be stopped, in s, before the job is given up. Tests make it short. */
#ifndef STOP_LIMIT
#define STOP_LIMIT 30
#endif

/* Descriptors of the child. */
enum { CHILD_ORDERS = 3, CHILD_OUT = 4, CHILD_IN = 5, CHILD_MAIL = 6, CHILD_CRASH = 7 };

/* What the child orders, and what it is answered. Every order and answer is such a head. */
enum { ORDER_HELLO = 1, ORDER_EXCHANGE, ORDER_SEND, ORDER_FAIL, ORDER_RECEIVE };
enum { ANSWER_FINE = 1, ANSWER_BROKEN };

struct head {
	uint32_t what;   /* an order or an answer */
	int32_t number;  /* a process or an exit code */
	uint64_t bytes;  /* of what follows, or of the shared memory in use */
};

/* Communicators: exchanges, messages, failures. */
extern MPI_Comm bridge_exchanges, bridge_messages, bridge_failures;
extern int bridge_rank, bridge_size;

/* The bridge's ends. */
extern int bridge_orders, bridge_mail, bridge_out, bridge_in;

/* bridge_tick looks after everything that is not being waited for: signals, the child, failures of
 * others. It returns 0 if it is useless to wait any longer. */
int bridge_tick(void);

/* bridge_fatal ends the job because of something that should not happen. */
void bridge_fatal(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* bridge_room returns memory or ends the job. */
void *bridge_room(size_t bytes);

/* bridge_length is the length of a part, which comes before it. */
static inline uint64_t bridge_length(const char *part)
{
	uint64_t n;
	memcpy(&n, part, sizeof n);
	return n;
}

/* bridge_child_is_here looks after the child and reports whether it is there. */
int bridge_child_is_here(void);

/* bridge_signalled reports that the process was asked to end. */
int bridge_signalled(void);

/* wait.c */

/* bridge_now is the time in ns. */
int64_t bridge_now(void);

/* bridge_done reports whether all requests are done, from *at on, which moves on. */
int bridge_done(int n, MPI_Request *requests, int *at);

/* bridge_wait waits for all requests; it spins, then sleeps. Of so many bytes it is known that their sender and
 * their receiver are here. It returns 0 if it is useless to wait any longer. */
int bridge_wait(int n, MPI_Request *requests, uint64_t bytes);

/* bridge_doze sleeps longer the more often it is called in a row; bridge_nap returns how long, in us. */
void bridge_doze(unsigned *times);
long bridge_nap(unsigned times);

/* bridge_read and bridge_write move all bytes and return 0 if the child is gone. */
int bridge_read(int socket, void *to, size_t bytes);
int bridge_write(int socket, const void *from, size_t bytes);
int bridge_answer(int socket, uint32_t what, int32_t number, uint64_t bytes);

/* crowd.c */
void bridge_look_round(void);    /* finds out who else runs on the cores of this process; all call it */
int bridge_crowded(void);        /* there are more processes than cores for them */

/* pulse.c */
enum { HOST_NAME = 256 };
void bridge_pulse_begin(char (*hosts)[HOST_NAME]); /* process 0 knows the hosts of all */
void bridge_pulse(void);                           /* are all processes still there? */
void bridge_pulse_end(void);                       /* no process waits any more */

/* exchange.c */
int bridge_exchange(uint64_t bytes);

/* relay.c */
int bridge_is_short(uint64_t bytes);       /* a part that is passed on */
int bridge_relay(char *const *part);       /* passes short parts on, and the lengths of the others; 0: it is useless to wait */
const char *bridge_relayed(int from);      /* what has come from a process: a length, and the bytes of a short part */

/* mail.c */
int bridge_send(int to, uint64_t bytes);
void bridge_receive(void);       /* the child waits for a message from now on */
int bridge_mail_progress(void);  /* moves messages; 1 if something was done */
int bridge_mail_busy(void);      /* something is under way */
int bridge_mail_flush(void);     /* waits until all that was sent has left */
void bridge_mail_broken(void);   /* the child need not wait any longer */

/* What is reported to process 0 of a failure. */
struct failure {
	int32_t code;
	int32_t rank;
	char text[4096];
};

/* Where process 0 listens. */
enum { SECRET = 16, MOST_ADDRESSES = 16 };
struct line {
	unsigned char secret[SECRET];
	char host[256];
	int n, loop; /* addresses; the last ones are of the host itself */
	struct sockaddr_storage address[MOST_ADDRESSES];
};

/* line.c */
void bridge_open_line(void);               /* process 0 listens, the others know where */
int bridge_listener(void);
int bridge_listen(struct failure *f);      /* process 0: another process has reported a failure */
int bridge_tell(struct failure *f);        /* another: process 0 has understood */

/* What guard and bridge know of each other. */
enum { STAGE_STARTS, STAGE_RUNS, STAGE_ENDS };
struct life {
	volatile pid_t child; /* slackline */
	volatile int stage;   /* MPI is being started, has been started; the process ends as it should */
	volatile int reported; /* the end has been reported */
	struct line line;
};
extern struct life *bridge_life;

/* guard.c */
void bridge_part(void);          /* starts the guard and returns as its child */
int bridge_orphaned(void);       /* the guard is gone: it was killed */

/* failure.c */
void bridge_die(const char *what) __attribute__((noreturn)); /* MPI has not been started */
void bridge_say(const char *text); /* writes a message */
int bridge_introduce(char *text, size_t room); /* names process and host */
void bridge_sleep(int ms);

/* bridge_abort_launcher asks the launcher to end a job whose MPI has not been started. That of MPICH
 * does not do so by itself. */
void bridge_abort_launcher(int code);

/* bridge_account describes how a process ended: its status, the most memory that it has had (kB), and the
 * first line of what it printed. Bridge_note_memory is to be called before. */
void bridge_account(char *text, size_t room, int status, long kb, const char *words);
void bridge_note_memory(void);
void bridge_failed(int code, const char *text) __attribute__((noreturn)); /* this process */
void bridge_miss(const char *text); /* another process is silent: ends the job */
void bridge_hear(void);          /* listens to failures of others; process 0 alone */
int bridge_heard(void);          /* one of them has failed */
void bridge_pass_on(void) __attribute__((noreturn)); /* reports the failure received, and ends the job */
const char *bridge_host(void);

/* bridge_let_read gives the launcher time to read what was printed: what is still on its way when the
 * job is ended is lost. */
void bridge_let_read(void);

#endif
