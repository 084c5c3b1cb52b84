package explore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"slackline/internal/fault"
)

// endpoint answers a request: a value that becomes JSON, or a *binaryAnswer.
type endpoint[F any] struct {
	parameters []string // beside run
	answer     F
}

type answerFunc func(context.Context, *view, *query) (any, error)

// ofRun is an answer about a run; a dataset has none.
func ofRun(f answerFunc) answerFunc {
	return func(ctx context.Context, v *view, q *query) (any, error) {
		if v.tl == nil {
			return nil, errNoRun
		}
		return f(ctx, v, q)
	}
}

// ofAnalysis is an answer about a run that needs its analysis.
func ofAnalysis(f func(*view, *findings, *query) (any, error)) answerFunc {
	return func(ctx context.Context, v *view, q *query) (any, error) {
		found, err := v.analyzed(ctx)
		if err != nil {
			return nil, err
		}
		return f(v, found, q)
	}
}

// general are the questions about all that is open, by name.
var general = map[string]endpoint[func(*Server, context.Context, *query) (any, error)]{
	"runs":     {[]string{"reload", "whole"}, (*Server).answerRuns},
	"progress": {nil, (*Server).answerProgress},
	"compare":  {[]string{"before", "after"}, (*Server).answerCompare},
}

// endpoints are the questions about a run, by name. The list with their meaning is in the package's comment.
var endpoints = map[string]endpoint[answerFunc]{
	"locations": {[]string{"first", "last", "ranks"}, ofRun(answerLocations)},
	"legend":    {[]string{"color"}, ofRun(answerLegend)},
	"timeline":  {[]string{"from", "to", "width", "first", "last", "ranks", "rows", "color"}, ofRun(answerTimeline)},
	"calls":     {[]string{"from", "to", "first", "last", "ranks", "limit", "location"}, ofRun(answerCalls)},
	"stack":     {[]string{"location", "from", "to", "width"}, ofRun(answerStack)},
	"states":    {[]string{"from", "to", "first", "last", "ranks", "limit", "largest"}, ofAnalysis(answerStates)},
	"messages":  {[]string{"from", "to", "first", "last", "ranks", "limit", "least", "sender", "receiver"}, ofRun(answerMessages)},
	"launches":  {[]string{"from", "to", "first", "last", "ranks", "limit"}, ofRun(answerLaunches)},
	"critical":  {[]string{"from", "to", "width"}, ofAnalysis(answerCritical)},
	"waits":     {[]string{"limit"}, ofAnalysis(answerWaits)},
	"wait":      {[]string{"state", "location", "time"}, ofAnalysis(answerWait)},

	"tree":         {nil, ofAnalysis(answerTree)},
	"distribution": {[]string{"path", "metric", "inclusive"}, ofAnalysis(answerDistribution)},
	"matrix":       {[]string{"size"}, ofRun(answerMatrix)},
	"iterations":   {nil, ofAnalysis(answerIterations)},
	"composition":  {nil, ofAnalysis(answerComposition)},
	"phases":       {nil, ofRun(answerPhases)},
	"search":       {[]string{"text"}, ofRun(answerSearch)},
	"occurrence":   {[]string{"paths", "ranks", "time", "location", "back"}, ofRun(answerOccurrence)},
	"clusters":     {nil, ofAnalysis(answerClusters)},
	"selection":    {[]string{"from", "to", "ranks"}, answerSelection},
	"tolerance":    {[]string{"machine", "latency"}, ofRun(answerTolerance)},
	"advice":       {nil, ofRun(answerAdvice)},
	"series":       {nil, answerSeries},
	"figure":       {[]string{"kind", "series", "other", "dark", "width", "machine", "latency"}, answerFigure},
}

// binaryAnswer is an answer that is not JSON.
type binaryAnswer struct {
	kind   string // of its content
	policy string // what it may do, if that differs from pages
	data   []byte
}

// failure is a request that cannot be answered.
type failure struct {
	status int
	answer Error
}

func (f *failure) Error() string { return f.answer.Error }

// routes leads requests to their answers.
func (s *Server) routes(web fs.FS) http.Handler {
	files := http.FileServerFS(web)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, api := strings.CutPrefix(r.URL.Path, "/api/")
		switch {
		case api:
			s.serveAPI(w, r, name)
		case isPage(web, r.URL.Path):
			files.ServeHTTP(w, r)
		default:
			fail(w, notFound("there is no "+r.URL.Path))
		}
	})
}

// isPage reports whether there is a file for a path; directories have none but the first page.
func isPage(web fs.FS, at string) bool {
	if at == "/" {
		return true
	}
	name := strings.TrimPrefix(at, "/")
	if path.Clean("/"+name) != at || strings.HasSuffix(name, "index.html") || !fs.ValidPath(name) {
		return false
	}
	info, err := fs.Stat(web, name)
	return err == nil && info.Mode().IsRegular()
}

// serveAPI answers a question.
func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request, name string) {
	answer, err := s.answer(r, name)
	switch {
	case err != nil && r.Context().Err() != nil:
		// Nobody listens any more.
	case err != nil:
		fail(w, err)
	default:
		write(w, r, answer)
	}
}

func (s *Server) answer(r *http.Request, name string) (_ any, err error) {
	defer fault.Catch(&err)
	if e, ok := general[name]; ok {
		q, err := newQuery(r.URL.RawQuery, e.parameters)
		if err != nil {
			return nil, err
		}
		return e.answer(s, r.Context(), q)
	}
	e, ok := endpoints[name]
	if !ok {
		return nil, notFound("there is no /api/" + name)
	}
	q, err := newQuery(r.URL.RawQuery, append([]string{"run"}, e.parameters...))
	if err != nil {
		return nil, err
	}
	run := q.number("run", 0, int64(len(s.inputs))-1, 0)
	if q.err != nil {
		return nil, q.err
	}
	v := s.inputs[run].view.Load()
	if v == nil {
		return nil, notReady("this run is not open yet")
	}
	if q.given("other") {
		if q.other = s.inputs[q.number("other", 0, int64(len(s.inputs))-1, 0)].view.Load(); q.err != nil || q.other == nil {
			return nil, cmp.Or(q.err, notReady("this run is not open yet"))
		}
	}
	answer, err := e.answer(r.Context(), v, q)
	return answer, cmp.Or(err, q.err)
}

// write sends an answer.
func write(w http.ResponseWriter, r *http.Request, answer any) {
	b, ok := answer.(*binaryAnswer)
	if !ok {
		data, err := json.Marshal(answer)
		if err != nil {
			fail(w, err)
			return
		}
		b = &binaryAnswer{kind: "application/json; charset=utf-8", data: data}
	}
	w.Header().Set("Content-Type", b.kind)
	if b.policy != "" {
		w.Header().Set("Content-Security-Policy", b.policy)
	}
	if r.Method != http.MethodHead {
		w.Write(b.data) // a client that is gone needs no answer
	}
}

// fail sends an error.
func fail(w http.ResponseWriter, err error) {
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{http.StatusInternalServerError, Error{Error: err.Error(), Code: "failed"}}
	}
	data, err := json.Marshal(f.answer)
	if err != nil {
		data = []byte(`{"error":"failed","code":"failed"}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if f.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(f.status)
	w.Write(append(data, '\n'))
}

func notFound(text string) error {
	return &failure{http.StatusNotFound, Error{Error: text, Code: "not_found"}}
}

func notReady(text string) error {
	return &failure{http.StatusServiceUnavailable, Error{Error: text, Code: "not_ready"}}
}
