package measure

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// A TCP link has two connections: one for what is timed, one for saying what to do. Both sides use the
// system calls themselves: the scheduler of the runtime would be part of every time.

type tcpOrder struct {
	What  int64 // an order
	N     int64
	Pause float64
	Size  int64
	Count int64
}

const (
	orderBurst = iota + 1
	orderDrain
	orderEager
	orderEnd
)

// mostTCP bounds what an order may ask for.
const (
	mostTCPSize   = 1 << 30
	mostTCPTimes  = 1 << 20
	lateReceive   = 50 * time.Millisecond           // when the late receiver looks
	earlyReturn   = earlyReturnNS * time.Nanosecond // a send that returned by then did not wait for it
	tcpGreeting   = "slackline measure network 1\n"
	greetingLimit = 10 * time.Second
)

// tcpEnd is one side of a link.
type tcpEnd struct {
	data    int // descriptor, blocking
	control net.Conn
	close   []io.Closer
	buffer  []byte
	err     error // the first one; after it nothing is sent or received
}

// Close ends the link.
func (e *tcpEnd) Close() error {
	var all []error
	for _, c := range e.close {
		all = append(all, c.Close())
	}
	return errors.Join(all...)
}

// newTCPEnd takes over the two connections.
func newTCPEnd(control, data net.Conn) (*tcpEnd, error) {
	tcp, ok := data.(*net.TCPConn)
	if !ok {
		return nil, errors.New("not a TCP connection")
	}
	if err := tcp.SetNoDelay(true); err != nil {
		return nil, err
	}
	file, err := tcp.File()
	if err != nil {
		return nil, err
	}
	fd := int(file.Fd())
	if err := unix.SetNonblock(fd, false); err != nil {
		return nil, err
	}
	return &tcpEnd{data: fd, control: control, close: []io.Closer{control, data, file}}, nil
}

func (e *tcpEnd) room(size int) []byte {
	if len(e.buffer) < size {
		e.buffer = make([]byte, size)
		for i := range e.buffer {
			e.buffer[i] = byte(i)
		}
	}
	return e.buffer[:size]
}

func (e *tcpEnd) send(b []byte) {
	for len(b) > 0 && e.err == nil {
		n, err := unix.Write(e.data, b)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			e.err = fmt.Errorf("send: %w", err)
			return
		}
		b = b[n:]
	}
}

func (e *tcpEnd) receive(b []byte) {
	for len(b) > 0 && e.err == nil {
		n, err := unix.Read(e.data, b)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			e.err = fmt.Errorf("receive: %w", err)
			return
		case n == 0:
			e.err = io.ErrUnexpectedEOF
			return
		}
		b = b[n:]
	}
}

// sendOrder sends a value over the connection for orders, receiveAnswer receives one.
func (e *tcpEnd) sendOrder(v any) {
	if e.err == nil {
		e.err = binary.Write(e.control, binary.LittleEndian, v)
	}
}

func (e *tcpEnd) receiveAnswer(v any) {
	if e.err == nil {
		e.err = binary.Read(e.control, binary.LittleEndian, v)
	}
}

// spin waits for so many nanoseconds without giving up the CPU.
func spin(ns float64) {
	for end := monotonic() + int64(ns); monotonic() < end; {
	}
}

// ServeTCP waits for a client and does what it asks for until it ends the link.
func ServeTCP(ctx context.Context, l net.Listener) error {
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	control, err := acceptGreeting(l)
	if err != nil {
		return orCause(ctx, err)
	}
	data, err := acceptGreeting(l)
	if err != nil {
		return orCause(ctx, err)
	}
	e, err := newTCPEnd(control, data)
	if err != nil {
		return err
	}
	defer e.Close()
	defer context.AfterFunc(ctx, func() { e.Close() })()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		var o tcpOrder
		if err := binary.Read(control, binary.LittleEndian, &o); err != nil {
			return orCause(ctx, fmt.Errorf("the client went away: %w", err))
		}
		if o.What == orderEnd {
			return nil
		}
		if o.N < 1 || o.N > mostTCPTimes || o.Size < 1 || o.Size > mostTCPSize || o.Count < 1 || o.Count > mostTCPTimes ||
			!(o.Pause >= 0 && o.Pause < 1e10) {
			return fmt.Errorf("unexpected request of the client: %+v", o)
		}
		if err := e.serve(&o); err != nil {
			return orCause(ctx, err)
		}
	}
}

// acceptGreeting accepts a connection that identifies itself.
func acceptGreeting(l net.Listener) (net.Conn, error) {
	c, err := l.Accept()
	if err != nil {
		return nil, err
	}
	text := make([]byte, len(tcpGreeting))
	if err := c.SetReadDeadline(time.Now().Add(greetingLimit)); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(c, text); err != nil || string(text) != tcpGreeting {
		c.Close()
		return nil, fmt.Errorf("%s connected, but not a slackline of the same version", c.RemoteAddr())
	}
	return c, c.SetReadDeadline(time.Time{})
}

// serve is the server's part of an order.
func (e *tcpEnd) serve(o *tcpOrder) error {
	b := e.room(int(o.Size))
	for i := int64(0); i < o.Count && e.err == nil; i++ {
		switch o.What {
		case orderBurst:
			for range o.N {
				e.receive(b)
			}
			e.send(b)
		case orderDrain:
			e.receive(b)
			start := monotonic()
			for k := int64(1); k < o.N && e.err == nil; k++ {
				spin(o.Pause)
				e.receive(b)
			}
			e.sendOrder(monotonic() - start)
		case orderEager:
			time.Sleep(lateReceive)
			e.receive(b)
			e.sendOrder(int64(0))
		default:
			return fmt.Errorf("the client gave the unknown order %d", o.What)
		}
	}
	return e.err
}

// TCPLink is the client of a link over TCP.
type TCPLink struct{ *tcpEnd }

// DialTCP connects to a server.
func DialTCP(ctx context.Context, address string) (*TCPLink, error) {
	var d net.Dialer
	var conns [2]net.Conn
	for i := range conns {
		c, err := d.DialContext(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		if _, err := io.WriteString(c, tcpGreeting); err != nil {
			return nil, err
		}
		conns[i] = c
	}
	e, err := newTCPEnd(conns[0], conns[1])
	if err != nil {
		return nil, err
	}
	return &TCPLink{e}, nil
}

// Close ends the server and the link.
func (l *TCPLink) Close() error {
	err := binary.Write(l.control, binary.LittleEndian, &tcpOrder{What: orderEnd})
	return errors.Join(err, l.tcpEnd.Close())
}

const warmUps = 10

// Burst implements Link.
func (l *TCPLink) Burst(n int, pause float64, size, repeat int) ([]float64, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	l.sendOrder(&tcpOrder{What: orderBurst, N: int64(n), Size: int64(size), Count: int64(repeat + warmUps)})
	b := l.room(size)
	times := make([]float64, 0, repeat)
	for i := 0; i < repeat+warmUps && l.err == nil; i++ {
		start := monotonic()
		for k := 0; k < n && l.err == nil; k++ {
			if k > 0 {
				spin(pause)
			}
			l.send(b)
		}
		if l.receive(b); i >= warmUps {
			times = append(times, float64(monotonic()-start))
		}
	}
	return times, l.err
}

// Drain implements Link.
func (l *TCPLink) Drain(n int, pause float64, size, repeat int) ([]float64, error) {
	l.sendOrder(&tcpOrder{What: orderDrain, N: int64(n), Pause: pause, Size: int64(size), Count: int64(repeat)})
	b := l.room(size)
	times := make([]float64, repeat)
	for i := range times {
		for range n {
			l.send(b)
		}
		var ns int64
		l.receiveAnswer(&ns)
		times[i] = float64(ns)
	}
	return times, l.err
}

// Eager implements Link. The receiver of TCP is the kernel, which always works.
func (l *TCPLink) Eager(size int, _ bool) (bool, error) {
	for range eagerTries {
		took, err := l.lateReceive(size)
		if err != nil || took < earlyReturn.Nanoseconds() {
			return err == nil, err
		}
	}
	return false, nil
}

// lateReceive returns how long a send takes whose receiver is late. Its time starts before the receiver
// knows of it, so a send that waits never looks short.
func (l *TCPLink) lateReceive(size int) (took int64, err error) {
	b := l.room(size)
	start := monotonic()
	l.sendOrder(&tcpOrder{What: orderEager, N: 1, Size: int64(size), Count: 1})
	l.send(b)
	took = monotonic() - start
	var done int64
	l.receiveAnswer(&done)
	return took, l.err
}
