package browser

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// wire carries commands to the browser, their answers back, and notices to whoever listens.
type wire struct {
	in  *os.File
	out *os.File

	mu        sync.Mutex
	next      int
	waiting   map[int]chan answer
	listeners map[string]func(method string, params json.RawMessage)
	broken    error // why nothing comes any more
}

// answer is what came back for a command.
type answer struct {
	result json.RawMessage
	err    error
}

// request is a command as it goes over the wire.
type request struct {
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  any    `json:"params,omitempty"`
	Session string `json:"sessionId,omitempty"`
}

// incoming is an answer or a notice.
type incoming struct {
	ID      int             `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Session string          `json:"sessionId"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// errGone is what commands get that the browser did not live to answer.
var errGone = errors.New("the browser has ended")

func newWire(in, out *os.File) *wire {
	w := &wire{in: in, out: out, waiting: map[int]chan answer{}, listeners: map[string]func(string, json.RawMessage){}}
	go w.receive()
	return w
}

func (w *wire) close() {
	w.out.Close()
	w.in.Close()
}

// listen has the notices of a session go to f, one after the other.
func (w *wire) listen(session string, f func(method string, params json.RawMessage)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listeners[session] = f
}

func (w *wire) call(ctx context.Context, session, method string, params any) (json.RawMessage, error) {
	reply := make(chan answer, 1)
	id, err := w.send(session, method, params, reply)
	if err != nil {
		return nil, err
	}
	select {
	case a := <-reply:
		return a.result, a.err
	case <-ctx.Done():
		w.mu.Lock()
		delete(w.waiting, id)
		w.mu.Unlock()
		return nil, ctx.Err()
	}
}

func (w *wire) send(session, method string, params any, reply chan answer) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken != nil {
		return 0, w.broken
	}
	w.next++
	data, err := json.Marshal(request{ID: w.next, Method: method, Params: params, Session: session})
	if err != nil {
		return 0, err
	}
	w.waiting[w.next] = reply
	_, err = w.out.Write(append(data, 0))
	return w.next, err
}

// receive reads until the browser ends, and tells all that still wait.
func (w *wire) receive() {
	r := bufio.NewReaderSize(w.in, 1<<20)
	var err error
	for err == nil {
		var data []byte
		if data, err = r.ReadBytes(0); err == nil {
			err = w.dispatch(bytes.TrimSuffix(data, []byte{0}))
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
		err = errGone
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = err
	for id, reply := range w.waiting {
		reply <- answer{err: err}
		delete(w.waiting, id)
	}
}

func (w *wire) dispatch(data []byte) error {
	var m incoming
	if err := json.Unmarshal(data, &m); err != nil {
		return fmt.Errorf("what the browser sent is no JSON: %w", err)
	}
	w.mu.Lock()
	reply, listener := w.waiting[m.ID], w.listeners[m.Session]
	delete(w.waiting, m.ID)
	w.mu.Unlock()
	switch {
	case m.ID == 0:
		if listener != nil {
			listener(m.Method, m.Params)
		}
	case reply == nil: // nobody waits any more
	case m.Error != nil:
		reply <- answer{err: errors.New(m.Error.Message)}
	default:
		reply <- answer{result: m.Result}
	}
	return nil
}
