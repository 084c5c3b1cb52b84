package explore

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"runtime"
	"time"

	"slackline/internal/fault"
)

//go:embed all:web
var pages embed.FS

// Options are how runs are served; the zero value works.
type Options struct {
	Threads int    // 0: one per core
	Version string // of the program
}

// Server answers requests about inputs.
type Server struct {
	options Options
	token   string
	inputs  []*openInput
	handler http.Handler
	turns   chan struct{} // taken by requests that are being computed
	context context.Context
	stop    context.CancelFunc
}

// New returns a server of inputs, none of which is open yet; see Open.
func New(sources []Source, o Options) (*Server, error) {
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	s := &Server{options: o, token: newToken(), turns: make(chan struct{}, 2*o.Threads)}
	s.context, s.stop = context.WithCancel(context.Background())
	for i := range sources {
		s.inputs = append(s.inputs, &openInput{index: i, source: &sources[i], server: s})
	}
	web, err := fs.Sub(pages, "web")
	if err != nil {
		return nil, err
	}
	s.handler = &guard{token: s.token, next: s.routes(web)}
	return s, nil
}

// Open opens all inputs and prepares what the first view needs.
func (s *Server) Open(ctx context.Context) error {
	for _, in := range s.inputs {
		if err := in.open(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Close ends what goes on in the background.
func (s *Server) Close() { s.stop() }

// Listen listens on the loopback address; port 0 takes a free one.
func Listen(port int) (net.Listener, error) {
	l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil && port != 0 {
		return nil, fmt.Errorf("--port: %w; give another one, or 0 for any", err)
	}
	return l, err
}

// Address is what a browser is to open.
func (s *Server) Address(l net.Listener) string {
	return fmt.Sprintf("http://%s/?token=%s", l.Addr(), s.token)
}

// Times after which a client that is too slow is left alone.
const (
	readTimeout  = 10 * time.Second
	writeTimeout = 2 * time.Minute
	idleTimeout  = 2 * time.Minute
	endTimeout   = 2 * time.Second
)

// Serve answers requests until ctx is done.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	for _, in := range s.inputs {
		in.analyze()
	}
	server := &http.Server{
		Handler: s.handler, ReadTimeout: readTimeout, ReadHeaderTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: 1 << 16,
		BaseContext:    func(net.Listener) context.Context { return s.context },
	}
	ended := make(chan error, 1)
	fault.Go(func() { ended <- server.Serve(l) })
	select {
	case err := <-ended:
		s.Close()
		return err
	case <-ctx.Done():
	}
	s.Close() // requests that wait for something give up
	grace, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		server.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
