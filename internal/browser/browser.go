// Package browser drives a headless Chromium for tests: it opens pages, moves the mouse, presses
// keys, evaluates scripts, takes pictures, and keeps a list of everything that went wrong in a page.
//
// It speaks the DevTools protocol over the pipe that --remote-debugging-pipe opens (descriptors 3
// and 4, JSON texts that end with a NUL), so that it needs no port and no dependency. It knows
// nothing of what the pages show.
package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"slackline/internal/needed"
)

// patience is how long a single request to the browser may take. Loaded machines are slow.
const patience = 40 * time.Second

// names are the commands under which Chromium is known, the first one found is taken.
var names = []string{"chromium", "chromium-browser", "google-chrome", "chrome"}

// flags keep Chromium from doing anything but what it is told.
var flags = []string{
	"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
	"--disable-background-networking", "--disable-component-update", "--disable-sync",
	"--disable-extensions", "--disable-default-apps", "--mute-audio", "--hide-scrollbars",
	"--disable-dev-shm-usage", "--force-color-profile=srgb", "--no-default-browser-check",
	"--disable-background-timer-throttling", "--disable-renderer-backgrounding",
	"--disable-backgrounding-occluded-windows", "--remote-debugging-pipe",
}

// Browser is a running Chromium.
type Browser struct {
	command *exec.Cmd
	wire    *wire
	profile string // its user data directory
}

// ForTest starts a browser that ends with the test. Without Chromium the test fails in
// continuous integration, and is skipped otherwise.
func ForTest(t testing.TB) *Browser {
	t.Helper()
	path, err := Find()
	needed.NoError(t, err)
	b, err := Start(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// Find returns the path of Chromium.
func Find() (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no chromium found; install the package chromium")
}

// Start starts the browser at the given path with a fresh profile. Close must be called.
func Start(path string) (*Browser, error) {
	profile, err := os.MkdirTemp("", "browser-*")
	if err != nil {
		return nil, err
	}
	b := &Browser{profile: profile}
	if err := b.start(path); err != nil {
		os.RemoveAll(profile)
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}

func (b *Browser) start(path string) error {
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirIn.Close()
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		ourOut.Close()
		return err
	}
	defer theirOut.Close()
	cmd := exec.Command(path, append(append([]string{}, flags...), "--user-data-dir="+b.profile, "about:blank")...)
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Close ends the group, not more
	cmd.Env = append(os.Environ(), "HOME="+b.profile)
	if err := cmd.Start(); err != nil {
		ourOut.Close()
		ourIn.Close()
		return err
	}
	b.command = cmd
	b.wire = newWire(ourIn, ourOut)
	var version struct{ Product string }
	if err := b.call("", "Browser.getVersion", nil, &version); err != nil {
		b.end()
		return fmt.Errorf("does not answer: %w", err)
	}
	return nil
}

// Close ends the browser and removes its profile.
func (b *Browser) Close() error {
	_ = b.call("", "Browser.close", nil, nil) // it may be gone before it answers
	b.end()
	return removeAll(b.profile)
}

// end waits a moment for the browser, then kills its process group.
func (b *Browser) end() {
	done := make(chan struct{})
	go func() {
		_ = b.command.Wait() // its exit status says nothing of the pages
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(3 * time.Second):
	}
	_ = syscall.Kill(-b.command.Process.Pid, syscall.SIGKILL) // helpers that outlived it
	<-done
	b.wire.close()
}

// removeAll removes a directory into which processes that just died may still have written.
func removeAll(dir string) error {
	var err error
	for range 10 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// call sends a command, to the browser or to the session of a page, and waits for its result.
func (b *Browser) call(session, method string, params, result any) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	data, err := b.wire.call(ctx, session, method, params)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(data, result)
}

// Open opens an empty page of the given size in CSS pixels, with cookies and storage of its own.
func (b *Browser) Open(width, height int) (*Page, error) {
	var context struct {
		BrowserContextID string `json:"browserContextId"`
	}
	if err := b.call("", "Target.createBrowserContext", nil, &context); err != nil {
		return nil, err
	}
	var target struct {
		TargetID string `json:"targetId"`
	}
	create := map[string]any{"url": "about:blank", "browserContextId": context.BrowserContextID}
	if err := b.call("", "Target.createTarget", create, &target); err != nil {
		return nil, err
	}
	var session struct {
		SessionID string `json:"sessionId"`
	}
	attach := map[string]any{"targetId": target.TargetID, "flatten": true}
	if err := b.call("", "Target.attachToTarget", attach, &session); err != nil {
		return nil, err
	}
	p := &Page{browser: b, session: session.SessionID, context: context.BrowserContextID}
	b.wire.listen(p.session, p.notice)
	for _, domain := range []string{"Page", "Runtime", "Log", "Network", "Performance"} {
		if err := p.call(domain+".enable", nil, nil); err != nil {
			return nil, err
		}
	}
	// Every page believes that somebody looks at it: several are open at once.
	if err := p.call("Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true}, nil); err != nil {
		return nil, err
	}
	return p, p.Resize(width, height)
}

// Save writes a picture into the directory that the environment variable names; without one it does
// nothing. Tests show in this way what they looked at.
func Save(variable, name string, picture []byte) error {
	dir := os.Getenv(variable)
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name), picture, 0o666)
}
