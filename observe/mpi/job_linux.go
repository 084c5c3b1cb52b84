package mpi

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"slackline/internal/cluster"
)

// The descriptors and orders of the bridge; see bridge/bridge.h.
const (
	fdOrders = 3 + iota
	fdOut
	fdIn
	fdMail
	fdCrash
)

const (
	orderHello = 1 + iota
	orderExchange
	orderSend
	orderFail
	orderReceive
)

const answerFine = 1

// headSize is the size of an order or an answer: what (4 bytes), a number (4), bytes (8).
const headSize = 16

// Job is this process among those of an MPI job.
type Job struct {
	rank, size int
	host       string

	orders sync.Mutex // one order at a time
	mail   sync.Mutex // one message at a time
	out    view
	in     view
	own    []byte  // the part of the last exchange that stayed here
	shared *shared // memory of all processes; nil: they have none
	met    bool    // whether there is such memory has been found out
	broken atomic.Bool

	counts  sync.Mutex
	traffic cluster.Traffic
}

var _ cluster.Group = (*Job)(nil)

// Join makes this process, a child of the bridge, a part of its job.
func Join() (*Job, error) {
	for fd := fdOrders; fd <= fdCrash; fd++ {
		unix.CloseOnExec(fd)
	}
	// The bridge reports why this process crashed; its own output may be too long, or dropped.
	if err := debug.SetCrashOutput(os.NewFile(fdCrash, "bridge"), debug.CrashOptions{}); err != nil {
		return nil, err
	}
	j := &Job{out: view{fd: fdOut}, in: view{fd: fdIn}}
	j.host, _ = os.Hostname()
	answer, err := j.order(orderHello, 0, 0, nil)
	if err != nil {
		return nil, err
	}
	j.rank, j.size = answer.number, int(answer.bytes)
	return j, nil
}

// Rank is the number of this process.
func (j *Job) Rank() int { return j.rank }

// Size is the number of processes.
func (j *Job) Size() int { return j.size }

// Host is the name of the machine on which this process runs.
func (j *Job) Host() string { return j.host }

// Traffic is what this process has exchanged so far.
func (j *Job) Traffic() cluster.Traffic {
	j.counts.Lock()
	defer j.counts.Unlock()
	return j.traffic
}

// count adds to what this process has exchanged.
func (j *Job) count(add func(t *cluster.Traffic)) {
	j.counts.Lock()
	defer j.counts.Unlock()
	add(&j.traffic)
}

// Fail reports to the job that this process fails: process 0 shows the text, and the launcher ends all. The process is
// expected to end with the code.
func (j *Job) Fail(code int, text string) {
	head := headOf(orderFail, code, uint64(len(text)))
	j.broken.Store(true)
	writeAll(fdOrders, append(head[:], text...)) // without the bridge there is nowhere to report it
}

// answer is what the bridge answers.
type answer struct {
	number int
	bytes  uint64
}

func headOf(what, number int, bytes uint64) (h [headSize]byte) {
	binary.NativeEndian.PutUint32(h[0:], uint32(what))
	binary.NativeEndian.PutUint32(h[4:], uint32(number))
	binary.NativeEndian.PutUint64(h[8:], bytes)
	return h
}

// order gives an order, with what follows it, and waits for the answer.
func (j *Job) order(what, number int, bytes uint64, data []byte) (answer, error) {
	head := headOf(what, number, bytes)
	if err := writeAll(fdOrders, head[:]); err != nil {
		return answer{}, err
	}
	if err := writeAll(fdOrders, data); err != nil {
		return answer{}, err
	}
	return readAnswer(fdOrders)
}

func readAnswer(fd int) (answer, error) {
	var h [headSize]byte
	if err := readAll(fd, h[:]); err != nil {
		return answer{}, err
	}
	if binary.NativeEndian.Uint32(h[0:]) != answerFine {
		return answer{}, cluster.ErrBroken
	}
	return answer{int(int32(binary.NativeEndian.Uint32(h[4:]))), binary.NativeEndian.Uint64(h[8:])}, nil
}

// watch ends a call of the bridge when the context ends; what it returns gives the error of the call, and must be
// called. After an interrupt the job is of no use any more.
func (j *Job) watch(ctx context.Context) (result func(err error) error) {
	stop := context.AfterFunc(ctx, func() {
		j.broken.Store(true)
		// The blocked read of this process returns; orders can still be given.
		unix.Shutdown(fdOrders, unix.SHUT_RD)
		unix.Shutdown(fdMail, unix.SHUT_RD)
	})
	return func(err error) error {
		stop()
		if err == nil {
			return nil
		}
		j.broken.Store(true)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
}

// state is the error of an interrupted or broken job.
func (j *Job) state(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if j.broken.Load() {
		return cluster.ErrBroken
	}
	return nil
}

// Exchange is that of cluster.Group.
func (j *Job) Exchange(ctx context.Context, out [][]byte) ([][]byte, error) {
	if len(out) != j.size {
		return nil, fmt.Errorf("exchange of %d parts among %d processes", len(out), j.size)
	}
	if err := j.state(ctx); err != nil {
		return nil, err
	}
	j.orders.Lock()
	defer j.orders.Unlock()
	if !j.met && j.size > 1 {
		j.met = true
		var err error
		if j.shared, err = j.share(ctx); err != nil {
			return nil, err
		}
	}
	var in [][]byte
	var err error
	if j.shared != nil {
		in, err = j.exchangeShared(ctx, out)
	}
	if in == nil && err == nil {
		in, err = j.exchangeByBridge(ctx, out)
	}
	if err != nil {
		return nil, err
	}
	j.count(func(t *cluster.Traffic) {
		t.Exchanges++
		for p := range in {
			if p != j.rank {
				t.Sent += int64(len(out[p]))
				t.Received += int64(len(in[p]))
			}
		}
	})
	return in, nil
}

// exchangeByBridge lets the bridge exchange parts.
func (j *Job) exchangeByBridge(ctx context.Context, out [][]byte) ([][]byte, error) {
	j.own = append(j.own[:0], out[j.rank]...)
	bytes, err := j.layOut(out)
	if err != nil {
		return nil, err
	}
	result := j.watch(ctx)
	got, err := j.order(orderExchange, 0, bytes, nil)
	if err := result(err); err != nil {
		return nil, err
	}
	if err := j.in.have(got.bytes); err != nil {
		return nil, err
	}
	return j.takeUp(), nil
}

// padded is the room of a part in shared memory.
func padded(n int) int { return (n + 7) &^ 7 }

// layOut puts the parts for others into shared memory.
func (j *Job) layOut(out [][]byte) (bytes uint64, err error) {
	for p, part := range out {
		bytes += 8
		if p != j.rank {
			bytes += uint64(padded(len(part)))
		}
	}
	if err := j.out.grow(bytes); err != nil {
		return 0, err
	}
	at := 0
	for p, part := range out {
		if p == j.rank {
			part = nil
		}
		binary.NativeEndian.PutUint64(j.out.data[at:], uint64(len(part)))
		copy(j.out.data[at+8:], part)
		at += 8 + padded(len(part))
	}
	return bytes, nil
}

// takeUp finds the parts of others in shared memory.
func (j *Job) takeUp() [][]byte {
	in := make([][]byte, j.size)
	at := 0
	for p := range in {
		n := int(binary.NativeEndian.Uint64(j.in.data[at:]))
		if n > 0 {
			in[p] = j.in.data[at+8 : at+8+n : at+8+n]
		}
		at += 8 + padded(n)
	}
	in[j.rank] = j.own
	return in
}

// Send is that of cluster.Group.
func (j *Job) Send(ctx context.Context, to int, data []byte) error {
	if to < 0 || to >= j.size {
		return fmt.Errorf("message to process %d of %d", to, j.size)
	}
	if err := j.state(ctx); err != nil {
		return err
	}
	j.orders.Lock()
	defer j.orders.Unlock()
	result := j.watch(ctx)
	_, err := j.order(orderSend, to, uint64(len(data)), data)
	if err := result(err); err != nil {
		return err
	}
	j.count(func(t *cluster.Traffic) {
		t.Messages++
		if to != j.rank {
			t.Sent += int64(len(data))
		}
	})
	return nil
}

// Receive is that of cluster.Group.
func (j *Job) Receive(ctx context.Context) (from int, data []byte, err error) {
	if err := j.state(ctx); err != nil {
		return 0, nil, err
	}
	j.mail.Lock()
	defer j.mail.Unlock()
	result := j.watch(ctx)
	from, data, err = receive()
	if err := result(err); err != nil {
		return 0, nil, err
	}
	if from != j.rank {
		j.count(func(t *cluster.Traffic) { t.Received += int64(len(data)) })
	}
	return from, data, nil
}

func receive() (from int, data []byte, err error) {
	head := headOf(orderReceive, 0, 0)
	if err := writeAll(fdMail, head[:]); err != nil {
		return 0, nil, err
	}
	a, err := readAnswer(fdMail)
	if err != nil {
		return 0, nil, err
	}
	data = make([]byte, a.bytes)
	return a.number, data, readAll(fdMail, data)
}

// view is shared memory.
type view struct {
	fd   int
	data []byte
}

// grow makes the memory large enough and reserves it: memory that is missing is found here, not by a signal later.
func (v *view) grow(bytes uint64) error {
	have := uint64(len(v.data))
	if bytes <= have {
		return nil
	}
	const most = 64 << 20 // more than needed, so that memory grows seldom
	bytes = max(bytes, have+min(have, most))
	bytes = (bytes + 4095) &^ 4095
	if err := unix.Fallocate(v.fd, 0, 0, int64(bytes)); err != nil {
		return fmt.Errorf("no memory for %d bytes of an exchange: %w", bytes, err)
	}
	return v.have(bytes)
}

// have maps memory that is large enough.
func (v *view) have(bytes uint64) error {
	if bytes <= uint64(len(v.data)) {
		return nil
	}
	bytes = (bytes + 4095) &^ 4095
	if v.data != nil {
		if err := unix.Munmap(v.data); err != nil {
			return err
		}
	}
	data, err := unix.Mmap(v.fd, 0, int(bytes), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("no memory for %d bytes of an exchange: %w", bytes, err)
	}
	v.data = data
	return nil
}

// writeAll writes all bytes to a socket of the bridge. An error means that the bridge is gone.
func writeAll(fd int, data []byte) error {
	for len(data) > 0 {
		n, err := unix.SendmsgN(fd, data, nil, nil, unix.MSG_NOSIGNAL)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return cluster.ErrBroken
		}
		data = data[n:]
	}
	return nil
}

// readAll reads all bytes from a socket of the bridge. An error means that the bridge is gone.
func readAll(fd int, data []byte) error {
	for len(data) > 0 {
		n, err := unix.Read(fd, data)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			return cluster.ErrBroken
		}
		data = data[n:]
	}
	return nil
}
