package explore

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"slackline/model/machine"
	"slackline/model/timeline"
)

// serverOf serves runs to a test.
func serverOf(t testing.TB, runs ...*timeline.Timeline) (*Server, *httptest.Server) {
	t.Helper()
	chic, err := machine.Named("chic")
	if err != nil {
		t.Fatal(err)
	}
	var sources []Source
	for i, tl := range runs {
		sources = append(sources, Source{Name: fmt.Sprint("run ", i), Open: func(context.Context) (*Opened, error) {
			return &Opened{Timeline: tl, Machines: []*machine.Machine{chic}, OwnMachine: "chic"}, nil
		}})
	}
	return serve(t, sources)
}

func serve(t testing.TB, sources []Source) (*Server, *httptest.Server) {
	t.Helper()
	s, err := New(sources, Options{Threads: 2, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s.Handler())
	t.Cleanup(h.Close)
	t.Cleanup(s.Close)
	return s, h
}

// ask makes a request with the token and the given headers.
func ask(t testing.TB, s *Server, h *httptest.Server, at string, headers ...string) (*http.Response, []byte) {
	t.Helper()
	return request(t, http.MethodGet, h.URL+at, append([]string{TokenHeader, s.Token()}, headers...)...)
}

func request(t testing.TB, method, url string, headers ...string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, body
}

// get asks for JSON.
func get[T any](t testing.TB, s *Server, h *httptest.Server, at string) *T {
	t.Helper()
	answer, body := ask(t, s, h, at)
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s: %s", at, answer.Status, body)
	}
	value := new(T)
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields()
	if err := d.Decode(value); err != nil {
		t.Fatalf("%s: %v", at, err)
	}
	return value
}

func TestOnlyThoseWithTheToken(t *testing.T) {
	s, h := serverOf(t, halo(t, 4, 2))
	host := strings.TrimPrefix(h.URL, "http://")
	_, port, err := net.SplitHostPort(host)
	if err != nil {
		t.Fatal(err)
	}
	other := newToken()
	for _, tc := range []struct {
		name    string
		method  string
		path    string
		headers []string
		want    int
	}{
		{"header", "GET", "/api/runs", []string{TokenHeader, s.Token()}, 200},
		{"HEAD", "HEAD", "/api/runs", []string{TokenHeader, s.Token()}, 200},
		{"localhost", "GET", "/api/runs", []string{TokenHeader, s.Token(), "Host", "localhost:" + port}, 200},
		{"own page", "GET", "/api/runs", []string{TokenHeader, s.Token(), "Origin", h.URL, "Sec-Fetch-Site", "same-origin"}, 200},
		{"page", "GET", "/", nil, 200},
		{"asset", "GET", "/app.js", nil, 200},
		{"first visit", "GET", "/?token=" + s.Token(), nil, 200},
		{"link to the first visit", "GET", "/?token=" + s.Token(),
			[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 200},

		{"nothing", "GET", "/api/runs", nil, 403},
		{"token in the address of the API", "GET", "/api/runs?token=" + s.Token(), nil, 403},
		{"wrong header", "GET", "/api/runs", []string{TokenHeader, other}, 403},
		{"token in a cookie", "GET", "/api/runs", []string{"Cookie", "slackline_" + port + "=" + s.Token()}, 403},
		{"part of the token", "GET", "/api/runs", []string{TokenHeader, s.Token()[:31]}, 403},
		{"another name (DNS rebinding)", "GET", "/api/runs", []string{TokenHeader, s.Token(), "Host", "evil.example:" + port}, 403},
		{"another name with our beginning", "GET", "/api/runs", []string{TokenHeader, s.Token(), "Host", "127.0.0.1.evil.example:" + port}, 403},
		{"another port", "GET", "/api/runs", []string{TokenHeader, s.Token(), "Host", "127.0.0.1:1"}, 403},
		{"another origin", "GET", "/api/runs", []string{TokenHeader, s.Token(), "Origin", "http://evil.example"}, 403},
		{"no origin", "GET", "/api/runs", []string{TokenHeader, s.Token(), "Origin", "null"}, 403},
		{"another port's origin", "GET", "/api/runs", []string{TokenHeader, s.Token(), "Origin", "http://127.0.0.1:1"}, 403},
		{"another site", "GET", "/api/runs", []string{TokenHeader, s.Token(), "Sec-Fetch-Site", "cross-site"}, 403},
		{"the same site", "GET", "/api/runs", []string{TokenHeader, s.Token(), "Sec-Fetch-Site", "same-site"}, 403},
		{"frame of another site", "GET", "/?token=" + s.Token(),
			[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, 403},

		{"POST", "POST", "/api/runs", []string{TokenHeader, s.Token()}, 405},
		{"DELETE", "DELETE", "/api/runs", []string{TokenHeader, s.Token()}, 405},
		{"OPTIONS", "OPTIONS", "/api/runs", []string{TokenHeader, s.Token()}, 405},
		{"PUT on a page", "PUT", "/", []string{TokenHeader, s.Token()}, 405},

		{"unknown question", "GET", "/api/nothing", []string{TokenHeader, s.Token()}, 404},
		{"unknown page", "GET", "/nothing.html", []string{TokenHeader, s.Token()}, 404},
		{"directory", "GET", "/style/", []string{TokenHeader, s.Token()}, 404},
		{"way out", "GET", "/../server.go", []string{TokenHeader, s.Token()}, 404},
		{"hidden way out", "GET", "/%2e%2e/server.go", []string{TokenHeader, s.Token()}, 404},
		{"API without question", "GET", "/api/", []string{TokenHeader, s.Token()}, 404},
		{"API without slash", "GET", "/api", []string{TokenHeader, s.Token()}, 404},
	} {
		t.Run(tc.name, func(t *testing.T) {
			answer, body := request(t, tc.method, h.URL+tc.path, tc.headers...)
			if answer.StatusCode != tc.want {
				t.Fatalf("status = %d, want %d: %s", answer.StatusCode, tc.want, body)
			}
			for name, want := range map[string]string{
				"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Frame-Options": "DENY",
				"Content-Security-Policy": pagePolicy, "Cross-Origin-Resource-Policy": "same-origin",
			} {
				if got := answer.Header.Get(name); got != want {
					t.Errorf("%s = %q, want %q", name, got, want)
				}
			}
			if tc.want >= 400 {
				var e Error
				if err := json.Unmarshal(body, &e); err != nil || e.Error == "" || e.Code == "" {
					t.Errorf("body = %q, want an error as JSON", body)
				}
				if strings.Contains(string(body), s.Token()) {
					t.Error("the answer gives the token away")
				}
			}
			if tc.method == "HEAD" && len(body) > 0 {
				t.Errorf("HEAD has %d bytes", len(body))
			}
		})
	}
	if strings.Contains(pagePolicy, "unsafe") || !strings.HasPrefix(pagePolicy, "default-src 'none'") {
		t.Errorf("pages may too much: %s", pagePolicy)
	}
}

// TestNoCookies checks that the token is not given to the browser as something that it sends to other ports of the
// machine, and that nothing but the API knows the runs.
func TestNoCookies(t *testing.T) {
	s, h := serverOf(t, halo(t, 4, 2))
	for _, path := range []string{"/", "/?token=" + s.Token(), "/app.js", "/api/runs"} {
		answer, body := request(t, "GET", h.URL+path, TokenHeader, s.Token())
		if answer.StatusCode != 200 || len(answer.Cookies()) > 0 {
			t.Errorf("%s: status %d, cookies %v, want none", path, answer.StatusCode, answer.Cookies())
		}
		if strings.Contains(string(body), s.Token()) {
			t.Errorf("%s gives the token away", path)
		}
	}
	if len(s.Token()) != 32 || s.Token() == newToken() {
		t.Errorf("token %q: want 128 bits, each time others", s.Token())
	}
}

func TestMistakesInParameters(t *testing.T) {
	s, h := serverOf(t, halo(t, 9, 6))
	for _, tc := range []struct{ at, parameter string }{
		{"/api/timeline?from=-1", "from"},
		{"/api/timeline?from=NaN", "from"},
		{"/api/timeline?from=1e3", "from"},
		{"/api/timeline?from=+1", "from"},
		{"/api/timeline?from=%2B1", "from"},
		{"/api/timeline?from=0x10", "from"},
		{"/api/timeline?from=", "from"},
		{"/api/timeline?from=1.5", "from"},
		{"/api/timeline?from=9223372036854775808", "from"},
		{"/api/timeline?from=9223372036854775807", "to"},
		{"/api/timeline?from=9223372036854775806&to=9223372036854775807", "from"},
		{"/api/timeline?from=5&to=5", "to"},
		{"/api/timeline?from=6&to=5", "to"},
		{"/api/timeline?to=0", "to"},
		{"/api/timeline?width=0", "width"},
		{"/api/timeline?width=8193", "width"},
		{"/api/timeline?width=99999999999999999999", "width"},
		{"/api/timeline?rows=0", "rows"},
		{"/api/timeline?rows=4097", "rows"},
		{"/api/timeline?width=8192&rows=4096", "rows"},
		{"/api/timeline?first=9", "first"},
		{"/api/timeline?last=10", "last"},
		{"/api/timeline?first=2&last=2", "last"},
		{"/api/timeline?color=red", "color"},
		{"/api/timeline?colour=kind", "colour"},
		{"/api/timeline?run=1", "run"},
		{"/api/timeline?run=-1", "run"},
		{"/api/timeline?run=0&run=0", "run"},
		{"/api/calls?limit=0", "limit"},
		{"/api/calls?limit=20001", "limit"},
		{"/api/states?largest=0", "largest"},
		{"/api/states?largest=3&from=0", "from"},
		{"/api/wait", "state"},
		{"/api/wait?state=99999999", "state"},
		{"/api/wait?location=0", "state"},
		{"/api/wait?location=9&time=0", "location"},
		{"/api/wait?location=0&time=-1", "time"},
		{"/api/distribution?path=100000", "path"},
		{"/api/distribution?metric=beauty", "metric"},
		{"/api/distribution?inclusive=2", "inclusive"},
		{"/api/matrix?size=513", "size"},
		{"/api/tolerance?machine=abacus", "machine"},
		{"/api/tolerance?latency=1000000000001", "latency"},
		{"/api/figure?kind=sculpture", "kind"},
		{"/api/figure?dark=yes", "dark"},
		{"/api/series", "run"},
		{"/api/runs?reload=1", "reload"},
		{"/api/runs?run=0", "run"},
		{"/api/tree?x=" + strings.Repeat("y", 10_000), "x"},
		{"/api/timeline?from=" + strings.Repeat("9", 10_000), "from"},
		{"/api/timeline?%zz", ""},
	} {
		answer, body := ask(t, s, h, tc.at)
		var e Error
		if err := json.Unmarshal(body, &e); err != nil {
			t.Errorf("%.60s: %v", tc.at, err)
		}
		if answer.StatusCode != http.StatusBadRequest || e.Code != "bad_request" || e.Parameter != tc.parameter || len(body) > 500 {
			t.Errorf("%.60s: status %d, %.200s, want 400 about %q", tc.at, answer.StatusCode, body, tc.parameter)
		}
	}
}

// A client may go away, and others must not notice.
func TestClientGoesAway(t *testing.T) {
	s, h := serverOf(t, halo(t, 64, 20))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	in := s.inputs[0].view.Load()
	if _, err := in.kinds.paint(ctx, 0, in.length(), 100, rows{last: 64}, 64); err == nil {
		t.Error("a picture was painted for nobody")
	}
	for range 20 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		r, err := http.NewRequestWithContext(ctx, "GET", h.URL+"/api/timeline?color=cause", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(TokenHeader, s.Token())
		if answer, err := http.DefaultClient.Do(r); err == nil {
			answer.Body.Close()
		}
		cancel()
	}
	get[Runs](t, s, h, "/api/runs")
}

// While the run is analyzed the timeline can be looked at, however many ask for what is not there yet.
func TestAnalysisHoldsNobodyUp(t *testing.T) {
	s, h := serverOf(t, halo(t, 9, 4))
	v := s.inputs[0].view.Load()
	v.analysis.start.Do(func() {}) // it never ends
	v.patience = 300 * time.Millisecond
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			answer, body := ask(t, s, h, "/api/waits")
			var e Error
			if err := json.Unmarshal(body, &e); err != nil || answer.StatusCode != http.StatusServiceUnavailable || e.Code != "not_ready" ||
				answer.Header.Get("Retry-After") == "" {
				t.Errorf("waits: %s: %s, want that it is not ready", answer.Status, body)
			}
		})
	}
	if r := get[Runs](t, s, h, "/api/runs").Runs[0]; r.Analysis != "running" || !slices.Equal(r.Colors, []string{"kind", "path"}) {
		t.Errorf("run = %+v, want that it is being analyzed", r)
	}
	for _, at := range []string{"timeline", "timeline?color=path", "calls", "messages", "matrix", "legend"} {
		if answer, body := ask(t, s, h, "/api/"+at); answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %s: %s", at, answer.Status, body)
		}
	}
	all.Wait()
}

// Many clients ask for everything at once; the race detector looks on.
func TestClientsAtOnce(t *testing.T) {
	s, h := serverOf(t, halo(t, 16, 6), halo(t, 9, 3))
	var all sync.WaitGroup
	answers := make([][]string, 4)
	for client := range answers {
		all.Go(func() {
			for run := range 2 {
				for _, at := range []string{
					"timeline?color=kind", "timeline?color=path", "timeline?color=wait", "timeline?color=cause&width=37", "legend?color=cause",
					"calls?", "states?",
					"states?largest=3", "messages?", "critical?", "waits?", "wait?state=1", "tree?", "distribution?metric=waiting", "matrix?",
					"iterations?",
					"composition?", "tolerance?latency=1000000", "locations?", "figure?kind=tolerance",
				} {
					answer, body := ask(t, s, h, fmt.Sprintf("/api/%s&run=%d", at, run))
					if answer.StatusCode != http.StatusOK && !strings.HasPrefix(at, "iterations") {
						t.Errorf("%s: %s: %s", at, answer.Status, body)
					}
					answers[client] = append(answers[client], string(body))
				}
			}
		})
	}
	all.Wait()
	for client := range answers {
		for i, body := range answers[client] {
			if body != answers[0][i] {
				t.Errorf("client %d got another answer to question %d", client, i)
			}
		}
	}
}

func TestServeEnds(t *testing.T) {
	s, err := New([]Source{{Name: "a", Open: func(context.Context) (*Opened, error) { return &Opened{Timeline: halo(t, 4, 2)}, nil }}},
		Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	l, err := Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	if host, _, err := net.SplitHostPort(l.Addr().String()); err != nil || host != "127.0.0.1" {
		t.Errorf("it listens on %s, not on the loopback address", l.Addr())
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, l) }()
	answer, body := request(t, "GET", "http://"+l.Addr().String()+"/api/runs", TokenHeader, s.Token())
	if answer.StatusCode != 200 {
		t.Errorf("status = %d: %s", answer.StatusCode, body)
	}
	if at := s.Address(l); !strings.HasPrefix(at, "http://127.0.0.1:") || !strings.HasSuffix(at, "/?token="+s.Token()) {
		t.Errorf("address = %s", at)
	}
	if _, err := Listen(l.Addr().(*net.TCPAddr).Port); err == nil || !strings.Contains(err.Error(), "--port") {
		t.Errorf("error about a port that is in use = %v", err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Serve = %v, want nil", err)
	}
}

// Token is what requests must know.
func (s *Server) Token() string { return s.token }

// Handler answers the requests.
func (s *Server) Handler() http.Handler { return s.handler }
