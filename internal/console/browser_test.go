package console

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browserTime bounds what the browser may take for all pages.
const browserTime = 150 * time.Second

// browser starts Chromium with an empty profile, or skips.
func browser(t *testing.T) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium (.ci/setup long installs it)")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
	ctx, stop := context.WithTimeout(context.Background(), browserTime)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	return ctx
}

// quiet is a command of the protocol whose answer nobody needs.
func quiet[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	})
}

// sideways lists what is wider than the window, but for what scrolls by itself, of which tables need not either: those that are narrow become lists.
const sideways = `(() => {
	const wide = [];
	for (const e of document.querySelectorAll('body *')) {
		if (e.closest('.table, pre, .skip, thead') || !e.getClientRects().length) continue;
		if (e.getBoundingClientRect().right > document.documentElement.clientWidth + 1) wide.push(e.tagName + '.' + e.className);
	}
	for (const t of document.querySelectorAll('.table')) if (t.querySelector('table') && t.scrollWidth > t.clientWidth + 1) wide.push('the table ' + t.textContent.slice(0, 40));
	return wide.slice(0, 5).join(' ') + (document.documentElement.scrollWidth > document.documentElement.clientWidth ? ' the page scrolls sideways' : '');
})()`

// measured is what a page weighs with all that it loads, in bytes, and by how much of the window its parts moved after they were drawn, once a while has passed in
// which they could have.
const measured = `(() => {
	if (!window.watched) {
		window.watched = {since: performance.now(), moved: 0};
		new PerformanceObserver((list) => { for (const e of list.getEntries()) {
			window.watched.moved += e.value;
			for (const s of e.sources) window.what = (window.what ?? '') + '; ' + (s.node?.outerHTML ?? s.node?.textContent ?? 'what is gone').slice(0, 100) + ' from ' + JSON.stringify(s.previousRect) + ' to ' + JSON.stringify(s.currentRect);
		} }).observe({type: 'layout-shift', buffered: true});
	}
	if (performance.now() - window.watched.since < 100) return false;
	const loaded = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
	return [loaded.reduce((sum, e) => sum + e.encodedBodySize, 0), window.watched.moved];
})()`

// What a page may weigh with all that it loads, and move: Lighthouse calls up to 0.1 good.
const (
	maxLoaded = maxPage
	maxMoved  = 0.01
)

// TestBrowser looks at every page in Chromium, wide and narrow, light and dark: nothing leaves the window or moves once it is drawn, all of a page is light, and
// the console logs no error, such as of the policy of contents. With HELENUS_SCREENSHOTS=DIR the pictures are kept there.
func TestBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	server := httptest.NewServer(hotel(t).handler())
	t.Cleanup(server.Close) // after the browser, which holds streams
	ctx := browser(t)
	var complaints []string
	var mu sync.Mutex // the events come from elsewhere
	if err := chromedp.Listen(ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *log.EventEntryAdded:
			if e.Entry.Level == log.EntryLevelError {
				complaints = append(complaints, e.Entry.Text+" "+e.Entry.URL)
			}
		case *runtime.EventExceptionThrown:
			complaints = append(complaints, fmt.Sprint(e.ExceptionDetails.Text))
		}
	}); err != nil {
		t.Fatal(err)
	}
	dir := os.Getenv("HELENUS_SCREENSHOTS")
	name := regexp.MustCompile(`[^a-z0-9]+`)
	var heaviest, farthest float64
	for _, width := range []int64{1280, 390} {
		for _, theme := range []string{"light", "dark"} {
			if theme == "dark" && dir == "" { // the colours alone differ, and are computed elsewhere
				continue
			}
			for _, p := range pages {
				if strings.Contains(p.path, "script") {
					continue
				}
				if err := chromedp.Do(ctx, quiet(log.Enable, cdp.Empty{}), quiet(runtime.Enable, cdp.Empty{}),
					quiet(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}}),
					chromedp.EmulateViewport(width, 900), chromedp.Navigate(server.URL+p.path), chromedp.WaitReady("h1")); err != nil {
					t.Fatalf("%s: %v", p.path, err)
				}
				wide, err := chromedp.Run(ctx, chromedp.Evaluate[string](sideways))
				if err != nil {
					t.Fatalf("%s: %v", p.path, err)
				}
				if wide != "" {
					t.Errorf("%s at %d px: %s", p.path, width, wide)
				}
				sizes, err := chromedp.Run(ctx, chromedp.Poll[[2]float64](measured))
				if err == nil && sizes[1] > maxMoved { // on a busy machine Chromium once drew half a page: what moves does so each time
					what, _ := chromedp.Run(ctx, chromedp.Evaluate[string]("window.what"))
					t.Logf("%s at %d px moved by %.3f%s", p.path, width, sizes[1], what)
					if err = chromedp.Do(ctx, chromedp.Navigate(server.URL+p.path), chromedp.WaitReady("h1")); err == nil {
						sizes, err = chromedp.Run(ctx, chromedp.Poll[[2]float64](measured))
					}
				}
				if err != nil {
					t.Fatalf("%s: %v", p.path, err)
				}
				heaviest, farthest = max(heaviest, sizes[0]), max(farthest, sizes[1])
				if sizes[0] > maxLoaded || sizes[1] > maxMoved {
					t.Errorf("%s at %d px: it weighs %.0f bytes, and moved by %.3f", p.path, width, sizes[0], sizes[1])
				}
				if dir != "" {
					shot, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
					if err != nil {
						t.Fatalf("%s: %v", p.path, err)
					}
					file := fmt.Sprintf("%s-%d-%s.png", strings.Trim(name.ReplaceAllString(strings.ToLower(p.path), "-"), "-"), width, theme)
					if err := os.WriteFile(filepath.Join(dir, file), shot, 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	// What moves is seen: a part that comes late, above all others.
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](`(window.late ??= document.body.prepend(Object.assign(document.createElement('h2'), {textContent: 'late'})) || true) && window.watched.moved > `+fmt.Sprint(maxMoved))); err != nil {
		t.Errorf("a page that moves is not noticed: %v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, text := range complaints {
		t.Error(text)
	}
	t.Logf("the heaviest page loads %.0f bytes; the most that moved was %.3f", heaviest, farthest)
}

// TestScripts sorts a table by a click, and sees a page follow what lives without being loaded again.
func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	f := hotel(t)
	server := httptest.NewServer(f.handler())
	t.Cleanup(server.Close) // after the browser, which holds streams
	ctx := browser(t)
	text := func(of string, before ...chromedp.Action[chromedp.Void]) string {
		t.Helper()
		if err := chromedp.Do(ctx, before...); err != nil {
			t.Fatal(err)
		}
		out, err := chromedp.Run(ctx, chromedp.Text(of))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	const top, head = "tbody tr:first-child td:first-child", "th:first-child button.sort"
	first := text(top, chromedp.Navigate(server.URL+"/ui/statements"), chromedp.WaitVisible("button.sort"))
	sorted := text(top, chromedp.Click(head), chromedp.Click(head))
	if err := chromedp.Do(ctx, chromedp.Navigate(server.URL+"/ui/changes/r-backfill"), chromedp.WaitReady("#live .rail")); err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	for i := range f.migrations {
		f.migrations[i].Progress.Done = 200
	}
	f.mu.Unlock()
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](`document.querySelector('#live .answer').textContent.includes('200 of 256 ranges')`)); err != nil {
		t.Errorf("it is not followed: %v", err)
	}
	if !strings.HasPrefix(first, "SELECT room_id") || !strings.HasPrefix(sorted, "INSERT") {
		t.Errorf("first %q, sorted by text %q", first, sorted)
	}
}
