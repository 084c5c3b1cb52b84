package browser

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Page is one tab.
type Page struct {
	browser *Browser
	session string
	context string // its cookies and storage

	mu       sync.Mutex
	problems []string
	requests map[string]string // addresses by the identity of the request
}

func (p *Page) call(method string, params, result any) error {
	return p.browser.call(p.session, method, params, result)
}

// Close closes the tab and forgets its cookies and storage.
func (p *Page) Close() error {
	return p.browser.call("", "Target.disposeBrowserContext", map[string]any{"browserContextId": p.context}, nil)
}

// Resize gives the page a size in CSS pixels.
func (p *Page) Resize(width, height int) error {
	return p.call("Emulation.setDeviceMetricsOverride",
		map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// Media sets features of the medium, such as "prefers-color-scheme" to "dark".
func (p *Page) Media(features map[string]string) error {
	list := []map[string]string{}
	for name, value := range features {
		list = append(list, map[string]string{"name": name, "value": value})
	}
	return p.call("Emulation.setEmulatedMedia", map[string]any{"features": list}, nil)
}

// Goto opens an address and waits until the page and what it asks for at once have been loaded.
func (p *Page) Goto(address string) error {
	var result struct{ ErrorText string }
	if err := p.call("Page.navigate", map[string]any{"url": address}, &result); err != nil {
		return err
	}
	if result.ErrorText != "" {
		return fmt.Errorf("%s: %s", address, result.ErrorText)
	}
	return p.Wait("document.readyState === 'complete'")
}

// Eval evaluates a JavaScript expression, awaits it if it is a promise, and decodes its value.
// A nil result drops the value.
func (p *Page) Eval(expression string, result any) error {
	var reply struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		ExceptionDetails *exception `json:"exceptionDetails"`
	}
	params := map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}
	if err := p.call("Runtime.evaluate", params, &reply); err != nil {
		return err
	}
	if reply.ExceptionDetails != nil {
		return fmt.Errorf("%s: %s", shorten(expression), reply.ExceptionDetails.say())
	}
	if result == nil {
		return nil
	}
	if len(reply.Result.Value) == 0 {
		return fmt.Errorf("%s: has no value", shorten(expression))
	}
	return json.Unmarshal(reply.Result.Value, result)
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
			return fmt.Errorf("%s: did not come true", shorten(expression))
		}
		time.Sleep(15 * time.Millisecond)
	}
}

// Screenshot returns what the page shows, as PNG.
func (p *Page) Screenshot() ([]byte, error) {
	var shot struct{ Data []byte }
	err := p.call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	return shot.Data, err
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

// exception is what the protocol says about an uncaught exception.
type exception struct {
	Text      string `json:"text"`
	URL       string `json:"url"`
	Line      int    `json:"lineNumber"`
	Exception struct {
		Description string `json:"description"`
	} `json:"exception"`
}

func (e *exception) say() string {
	if e.Exception.Description != "" {
		return e.Exception.Description
	}
	return fmt.Sprintf("%s (%s:%d)", e.Text, e.URL, e.Line+1)
}

// notice keeps the problems among what the browser tells about the page.
func (p *Page) notice(method string, params json.RawMessage) {
	var m struct {
		RequestID        string
		Type             string
		ErrorText        string
		Canceled         bool
		ExceptionDetails exception
		Args             []struct {
			Value       any
			Description string
		}
		Entry    struct{ Level, Source, Text, URL string }
		Request  struct{ URL string }
		Response struct {
			URL    string
			Status int
		}
	}
	if err := json.Unmarshal(params, &m); err != nil {
		p.problem("%s: %v", method, err)
		return
	}
	switch method {
	case "Runtime.exceptionThrown":
		p.problem("exception: %s", m.ExceptionDetails.say())
	case "Runtime.consoleAPICalled":
		if m.Type == "error" || m.Type == "warning" || m.Type == "assert" {
			var words []string
			for _, a := range m.Args {
				if a.Description == "" {
					a.Description = fmt.Sprint(a.Value)
				}
				words = append(words, a.Description)
			}
			p.problem("console.%s: %s", m.Type, strings.Join(words, " "))
		}
	case "Log.entryAdded":
		// Failed requests come from the network domain, with more detail.
		if m.Entry.Source != "network" && (m.Entry.Level == "error" || m.Entry.Level == "warning") {
			p.problem("%s %s: %s %s", m.Entry.Source, m.Entry.Level, m.Entry.Text, m.Entry.URL)
		}
	case "Network.requestWillBeSent":
		p.mu.Lock()
		if p.requests == nil {
			p.requests = map[string]string{}
		}
		p.requests[m.RequestID] = m.Request.URL
		p.mu.Unlock()
	case "Network.responseReceived":
		if m.Response.Status >= 400 {
			p.problem("status %d: %s", m.Response.Status, m.Response.URL)
		}
	case "Network.loadingFailed":
		p.mu.Lock()
		address := p.requests[m.RequestID]
		p.mu.Unlock()
		if !m.Canceled {
			p.problem("%s: %s", m.ErrorText, address)
		}
	}
}

// shorten makes a script fit into an error message.
func shorten(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 200 {
		s = s[:200] + "…"
	}
	return s
}
