/* When messages may be delivered: what they take by themselves, the latency, the gap per byte, handshakes. */
#include "inject.h"

/* Base: how long a message takes without anything injected, for 0, 1, 2, 4 ... bytes, and straight lines between. */
int64_t inj_base(int64_t bytes, bool far) {
    enum { LAST = 23 };
    const int64_t *base = inj_report->base[far];
    if (inj_settings.base_ns >= 0) return inj_settings.base_ns;
    if (bytes <= 0) return base[0];
    int k = 63 - __builtin_clzll((uint64_t)bytes); /* 2^k <= bytes */
    if (k + 1 >= LAST) return (int64_t)((double)base[LAST] * ((double)bytes / (double)(1 << (LAST - 1))));
    int64_t low = base[k + 1], high = base[k + 2];
    return low + (int64_t)((double)(high - low) * ((double)(bytes - ((int64_t)1 << k)) / (double)((int64_t)1 << k)));
}

/* With a gap per byte, messages of a rank leave one after another: the next one when the last byte has left. */
static pthread_mutex_t wire = PTHREAD_MUTEX_INITIALIZER;
static int64_t wire_free;

static int64_t leave_wire(int64_t now, int64_t bytes) {
    int64_t cost = bytes > 1 ? (int64_t)((double)(bytes - 1) * inj_settings.gap_ns) : 0;
    pthread_mutex_lock(&wire);
    int64_t start = now > wire_free ? now : wire_free;
    wire_free = start + cost;
    pthread_mutex_unlock(&wire);
    return start + cost;
}

/* inj_delay is the latency of messages to a rank; -1: nothing is injected, as to itself. */
int64_t inj_delay(const struct comm *c, int dest) {
    if (c->delay != NULL) return dest >= 0 && dest < c->size ? c->delay[dest] : -1;
    return dest < 0 || (!c->inter && dest == c->rank) ? -1 : inj_settings.latency_ns;
}

static bool far_away(const struct comm *c, int peer) { return c->far != NULL && peer >= 0 && peer < c->size && c->far[peer]; }

/* inj_arrival is when data that are sent now arrive at another rank. */
int64_t inj_arrival(const struct comm *c, int dest, int64_t bytes) {
    int64_t now = inj_now();
    if (inj_settings.gap_ns > 0) now = leave_wire(now, bytes);
    return now + inj_delay(c, dest) + inj_base(bytes, far_away(c, dest));
}

/* inj_delay_back is the latency of messages from a rank, 0 if nothing is injected; inj_answer is how long data from there take. */
int64_t inj_delay_back(const struct comm *c, int source) {
    int64_t delay = c->incoming != NULL ? c->incoming[source] : inj_settings.latency_ns;
    return delay > 0 ? delay : 0;
}

int64_t inj_answer(const struct comm *c, int source, int64_t bytes) {
    int64_t gap = bytes > 1 ? (int64_t)((double)(bytes - 1) * inj_settings.gap_ns) : 0;
    return inj_delay_back(c, source) + gap + inj_base(bytes, far_away(c, source));
}

/* inj_stamp_late stamps an empty message that is not delivered before a time, either. */
void inj_stamp_late(struct head *h, struct comm *c, int dest, int64_t due) {
    inj_stamp(h, c, dest, 0, NULL);
    if (h->release == 0 || due <= inj_release(h, 0)) return;
    h->release = h->release & 1 ? inj_common(due) | 1 : due & ~(int64_t)1;
}

/* inj_stamp returns when a message that is sent now may be delivered. What a rank sends to itself crosses no network.
 *
 * A large message is three: a request to the receiver, a grant back when the receive is posted, and the data. Each is late
 * by the latency, and the sender is done when the data have left (LogGPS, as in docs/tolerance.md). hand: NULL if the
 * message has no handshake, whatever its size. */
void inj_stamp(struct head *h, struct comm *c, int dest, int64_t bytes, struct handshake *hand) {
    int64_t now = inj_now(), delay = inj_delay(c, dest);
    inj_add(&inj_report->sent, 1);
    *h = (struct head){0};
    if (hand != NULL) *hand = (struct handshake){0};
    if (delay < 0) return;
    if (inj_settings.gap_ns > 0) now = leave_wire(now, bytes);
    if (inj_settings.panel == 'b') { /* figure 8 (b): the send is delayed */
        int64_t until = inj_now() + delay;
        while (inj_now() < until) {}
        return;
    }
    bool far = far_away(c, dest);
    int64_t base = inj_base(bytes, far);
    bool asks = hand != NULL && delay > 0 && bytes > inj_report->eager[far] && inj_settings.panel == 'd';
    h->release = (now + (asks ? 3 : 1) * delay + base) & ~(int64_t)1;
    if (far) h->release = inj_common(h->release) | 1;
    if (!asks) return;
    h->after = 2 * delay + base;
    *hand = (struct handshake){.until = now + 2 * delay + base, .back = delay};
}

/* inj_release is when a message may be delivered to a receive that was posted at a time. */
int64_t inj_release(const struct head *h, int64_t posted) {
    int64_t release = h->release & 1 ? inj_own_time(h->release) : h->release;
    return h->after != 0 && posted + h->after > release ? posted + h->after : release;
}

/* inj_look_at takes note of whether a send was complete when it was tested: MPI reports nothing else about its match. */
void inj_look_at(struct handshake *h, bool complete) {
    if (!complete) {
        h->open = inj_now();
    } else if (!h->seen) {
        h->seen = true;
        h->closed = h->open;
    }
}

/* inj_granted is when the sender of a message that is complete for MPI is done. If it was seen incomplete, and was not tested
 * since, it became complete in the call that waited for it. */
int64_t inj_granted(struct handshake *h) {
    if (h->until == 0) return 0;
    if (!h->seen && h->open != 0) h->closed = inj_now();
    h->seen = true;
    return h->closed != 0 && h->closed + h->back > h->until ? h->closed + h->back : h->until;
}

/* inj_sending_mode makes a send with a handshake wait for its receive also if MPI would not. */
int inj_sending_mode(int mode, int64_t bytes) {
    return inj_settings.eager >= 0 && bytes > inj_settings.eager && mode != BUFFERED ? SYNCHRONOUS : mode;
}

/* inj_due is when a message that had not arrived at a time may be reported, at the earliest; 0: at once. */
int64_t inj_due(const struct comm *c, int source, int64_t before) {
    int64_t delay = inj_settings.latency_ns;
    if (c->incoming != NULL) delay = source >= 0 && source < c->size ? c->incoming[source] : -1;
    else if (!c->inter && source == c->rank) delay = -1;
    return delay < 0 || inj_settings.panel == 'b' ? 0 : before + delay;
}
