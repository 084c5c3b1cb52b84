// Package browser opens pages in a headless Chromium for tests: it moves the mouse, presses keys,
// evaluates scripts, takes pictures, and lists everything that went wrong in a page. chromedp does
// the talking. It knows nothing of what the pages show.
package browser

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"slackline/internal/needed"
)

// patience is how long a single step in a page may take. Loaded machines are slow.
const patience = 40 * time.Second

// names are the commands under which Chromium is known; the first one found is taken.
var names = []string{"chromium", "chromium-browser", "google-chrome", "chrome"}

// flags keep Chromium from connecting to anything but the pages of the test.
var flags = []chromedp.ExecAllocatorOption{
	chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU,
	chromedp.Flag("hide-scrollbars", true), chromedp.Flag("mute-audio", true), chromedp.Flag("disable-quic", true),
	chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
	chromedp.Flag("disable-sync", true), chromedp.Flag("disable-extensions", true),
	chromedp.Flag("disable-default-apps", true), chromedp.Flag("disable-dev-shm-usage", true),
	chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("disable-background-timer-throttling", true),
	chromedp.Flag("disable-renderer-backgrounding", true), chromedp.Flag("disable-backgrounding-occluded-windows", true),
	chromedp.WSURLReadTimeout(patience),
}

// Browser is a running Chromium.
type Browser struct{ ctx context.Context }

// ForTest starts a browser that ends with the test.
func ForTest(t testing.TB) *Browser {
	t.Helper()
	path := Find(t)
	home := t.TempDir()
	options := append([]chromedp.ExecAllocatorOption{chromedp.ExecPath(path), chromedp.Env("HOME=" + home)}, flags...)
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(end)
	ctx, closeBrowser := chromedp.NewContext(allocator)
	t.Cleanup(closeBrowser)
	if err := chromedp.Do(ctx); err != nil { // without a time limit: it would end the browser
		t.Fatalf("%s: %v", path, err)
	}
	return &Browser{ctx}
}

// Find returns the path of Chromium. Without Chromium the test fails in continuous integration, and is skipped otherwise.
func Find(t testing.TB) string {
	t.Helper()
	needed.Full(t, "browsers")
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	needed.That(t, false, "Chromium, of the package chromium,")
	return ""
}

// Open opens an empty page of the given size in CSS pixels, with cookies and storage of its own.
func (b *Browser) Open(width, height int) (*Page, error) {
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	if err := chromedp.Do(ctx); err != nil {
		cancel()
		return nil, err
	}
	p := &Page{ctx: ctx, requests: map[network.RequestID]string{}}
	p.watch()
	if _, err := call(p, performance.Enable, performance.EnableParams{}); err != nil {
		return nil, err
	}
	// Every page behaves as if it were in front: several are open at once.
	if _, err := call(p, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
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
