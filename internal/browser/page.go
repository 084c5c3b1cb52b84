package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

// Page is one tab.
type Page struct {
	ctx      context.Context
	features []*emulation.MediaFeature // of the medium

	mu       sync.Mutex
	problems []string
	requests map[network.RequestID]string // addresses
}

// do performs actions in the page, within the patience of a step.
func (p *Page) do(actions ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	return chromedp.Do(ctx, actions...)
}

// call sends one command of the DevTools protocol to the page.
func call[P, R any](p *Page, command cdp.Command[P, R], params P) (R, error) {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	return chromedp.Call(ctx, command, params)
}

// Close closes the tab and forgets its cookies and storage.
func (p *Page) Close() error {
	if err := chromedp.Cancel(p.ctx); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil // a busy browser closes it later, or when it ends
}

// Resize gives the page a size in CSS pixels.
func (p *Page) Resize(width, height int) error {
	return p.do(chromedp.EmulateViewport(int64(width), int64(height)))
}

// Media sets features of the medium, such as "prefers-color-scheme" to "dark".
func (p *Page) Media(features map[string]string) error {
	var list []*emulation.MediaFeature
	for name, value := range features {
		list = append(list, &emulation.MediaFeature{Name: name, Value: value})
	}
	p.features = list
	return p.MediaType("")
}

// MediaType makes the page behave as if it were on another medium, such as "print"; "": as it is.
func (p *Page) MediaType(name string) error {
	_, err := call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: name, Features: p.features})
	return err
}

// Goto opens an address and waits until the page and what it asks for at once have been loaded.
func (p *Page) Goto(address string) error {
	if err := p.do(chromedp.Navigate(address)); err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	return p.Wait("document.readyState === 'complete'")
}

// Eval evaluates a JavaScript expression, awaits it if it is a promise, and decodes its value.
// A nil result drops the value.
func (p *Page) Eval(expression string, result any) error {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	var err error
	if result == nil {
		_, err = chromedp.Run(ctx, chromedp.Evaluate[chromedp.Void](expression, chromedp.EvalAwaitPromise))
	} else {
		var value []byte
		if value, err = chromedp.Run(ctx, chromedp.Evaluate[[]byte](expression, chromedp.EvalAwaitPromise)); err == nil {
			err = json.Unmarshal(value, result)
		}
	}
	if thrown := (*chromedp.ExceptionError)(nil); errors.As(err, &thrown) && thrown.Exception != nil {
		err = errors.New(thrown.Exception.Description)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", shorten(expression), err)
	}
	return nil
}

// Wait waits until a JavaScript expression, or what it promises, is true.
func (p *Page) Wait(expression string) error {
	end := time.Now().Add(patience)
	for {
		var ok bool
		err := p.Eval("Promise.resolve("+expression+").then(Boolean)", &ok)
		if err == nil && ok {
			return nil
		}
		if time.Now().After(end) {
			if err != nil {
				return err
			}
			return fmt.Errorf("%s: still false after %v", shorten(expression), patience)
		}
		time.Sleep(15 * time.Millisecond)
	}
}

// Screenshot returns what the page shows, as PNG.
func (p *Page) Screenshot() ([]byte, error) {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.CaptureScreenshot())
}

// Print returns the page as it is printed on A4, as PDF.
func (p *Page) Print() ([]byte, error) {
	const perInch = 25.4
	printed, err := call(p, page.PrintToPDF, page.PrintToPDFParams{
		PaperWidth: 210 / perInch, PaperHeight: 297 / perInch, PreferCSSPageSize: new(true),
	})
	return printed.Data, err
}

// Problems returns what went wrong in the page since the last call: exceptions, errors and
// warnings on the console, requests that failed or were answered with an error.
func (p *Page) Problems() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.problems
	p.problems = nil
	return list
}

func (p *Page) problem(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problems = append(p.problems, fmt.Sprintf(format, args...))
}

// each lets a function see all events of a stream until the page is closed.
func each[E any](stream iter.Seq2[E, error], see func(E)) {
	go func() {
		for event, err := range stream {
			if err != nil {
				return // the page was closed
			}
			see(event)
		}
	}()
}

// watch collects the problems of the page.
func (p *Page) watch() {
	each(chromedp.Console(p.ctx), func(m chromedp.ConsoleMessage) {
		switch {
		case m.IsException():
			p.problem("exception: %s", m.Text)
		case m.Source == "network": // a failed request: reported below, with more detail
		case m.Type == "error" || m.Type == "warning" || m.Type == "assert":
			p.problem("console.%s: %s %s", m.Type, m.Text, m.URL)
		}
	})
	each(chromedp.Events(p.ctx, network.RequestWillBeSent), func(e network.EventRequestWillBeSent) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.requests[e.RequestID] = e.Request.URL
	})
	each(chromedp.Events(p.ctx, network.ResponseReceived), func(e network.EventResponseReceived) {
		if e.Response.Status >= 400 {
			p.problem("status %d: %s", e.Response.Status, e.Response.URL)
		}
	})
	each(chromedp.Events(p.ctx, network.LoadingFailed), func(e network.EventLoadingFailed) {
		p.mu.Lock()
		address := p.requests[e.RequestID]
		p.mu.Unlock()
		if !e.Canceled {
			p.problem("%s: %s", e.ErrorText, address)
		}
	})
}

// shorten makes a script fit into an error message.
func shorten(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 200 {
		s = s[:200] + "…"
	}
	return s
}

// Opening is what it took to open a page.
type Opening struct {
	Load       time.Duration // from the request until everything was loaded
	FirstPaint time.Duration // until something could be read
	Busy       time.Duration // of the page's main thread, which a busy machine hardly changes
}

// Opening measures the opening of the page that is shown; Goto has waited for it.
func (p *Page) Opening() (*Opening, error) {
	var times struct{ Load, Paint float64 } // ms
	// The first paint may come after the page was loaded.
	err := p.Eval(`new Promise(done => {
		const look = () => {
			const load = performance.getEntriesByType("navigation")[0]?.loadEventEnd ?? 0;
			const paint = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0;
			if (load > 0 && paint > 0) done({Load: load, Paint: paint});
			else setTimeout(look, 5);
		};
		look();
	})`, &times)
	if err != nil {
		return nil, err
	}
	o := &Opening{Load: duration(times.Load / 1000), FirstPaint: duration(times.Paint / 1000)}
	list, err := call(p, performance.GetMetrics, cdp.Empty{})
	for _, m := range list.Metrics {
		if m.Name == "TaskDuration" {
			o.Busy = duration(m.Value)
		}
	}
	return o, err
}

func duration(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }
