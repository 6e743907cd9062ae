package test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the recorded scrapes")

// quiet are panels that a run without what they are about leaves empty; TestPanelsOnMadeUpSeries has series for them.
var quiet = map[string]string{
	"helenus-proxy/Days to the first expiry": "no TLS is spoken", "helenus-proxy/Files not usable": "no TLS is spoken", "helenus-proxy/Reloads that failed": "no TLS is spoken",
	"helenus-fleet/State of calendars": "no calendar was approved", "helenus-fleet/Tables of calendars": "no calendar was approved",
}

// recorded is how many scrapes are kept, and how far they are apart.
const (
	recorded    = 5
	recordEvery = 15 * time.Second
)

// TestPanelsOnARealRun has a real Prometheus scrape a real Helenus, in front of a real Cassandra, while an application works and a change is
// approved, filled, verified and serves; then every query of every panel gives rows. Whoever approves it has no command line: a row of Grafana leads to the console, where it is
// approved, and the row again to what was measured. With -update its last scrapes are kept for
// TestPanelsOnRecordedScrapes.
func TestPanelsOnARealRun(t *testing.T) {
	contact := os.Getenv("HELENUS_TEST_CASSANDRA")
	if contact == "" || os.Getenv("HELENUS_TEST_LONG") == "" {
		t.Skip("needs a Cassandra and two minutes: make test-long, or HELENUS_TEST_LONG=1 bin/with go test")
	}
	prometheus, err := exec.LookPath("prometheus")
	if err != nil {
		t.Fatalf("%v; .ci/setup test installs it (Debian's package prometheus)", err)
	}
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", dir, "./cmd/helenus", "./examples/hotel")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	helenus, hotel := filepath.Join(dir, "helenus"), filepath.Join(dir, "hotel")
	sizes := []string{"-reservations", "30000", "-hotels", "200", "-guests", "2000"}
	if out, err := exec.Command(hotel, append([]string{"load", "-hosts", contact, "-seed", "1"}, sizes...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ports := freePorts(t, 4)
	listen, admin, web, second := ports[0], ports[1], ports[2], ports[3]
	start(t, dir, "helenus", helenus, "run", "--contact-points", contact, "--listen", listen, "--admin", admin, "--state-dir", filepath.Join(dir, "state"), "--keyspaces", "hotel",
		"--advise-every", "3s", "--settle", "1s", "--shadow-reads", "20", "--shadow-for", "10s", "--shadow-probes", "10", "--min-saved", "1ms", "--snapshots-every", "5s",
		"--slow-request", "20ms")
	api := client{t, "http://" + admin, ""}
	await(t, 30*time.Second, "helenus is ready", func() bool { return api.get("/readyz", nil) })
	token, err := os.ReadFile(filepath.Join(dir, "state", "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	api.token = strings.TrimSpace(string(token))
	config := filepath.Join(dir, "prometheus.yaml")
	if err := os.WriteFile(config, fmt.Appendf(nil, "global: {scrape_interval: 2s}\nscrape_configs:\n- job_name: helenus\n  static_configs: [{targets: [%q]}]\n", admin), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, dir, "prometheus", prometheus, "--config.file", config, "--storage.tsdb.path", filepath.Join(dir, "tsdb"), "--web.listen-address", web)
	start(t, dir, "native", prometheus, "--config.file", config, "--storage.tsdb.path", filepath.Join(dir, "native-tsdb"), "--web.listen-address", second, "--enable-feature=native-histograms")
	start(t, dir, "hotel", hotel, append([]string{"run", "-hosts", listen, "-seed", "3", "-for", "10m", "-rate", "120", "-concurrency", "4"}, sizes...)...)

	// More of the reads that scan the table than the application has by itself, so that a faster machine advises the same.
	start(t, dir, "scans", hotel, append([]string{"run", "-hosts", listen, "-seed", "5", "-for", "10m", "-rate", "6", "-concurrency", "2", "-only", "guest-reservations"}, sizes...)...)

	person, id := arrives(t, "http://"+admin, api.token), ""
	t.Cleanup(func() {
		if id == "" && t.Failed() {
			t.Logf("the advice was:\n%s", api.text("/api/v1/recommendations"))
		}
	})
	await(t, time.Minute, "a row in Grafana leads to something to approve", func() bool {
		id = person.approves(web)
		return id != ""
	})
	await(t, 3*time.Minute, id+" serves, and it is known what that is worth", func() bool {
		var m struct {
			State string
			Gain  struct{ Measured float64 }
		}
		return api.get("/api/v1/migrations/"+id, &m) && m.State == "serving" && m.Gain.Measured > 0
	})
	var scrapes [][]byte
	if *update {
		for range recorded {
			time.Sleep(recordEvery)
			scrapes = append(scrapes, api.text("/metrics"))
		}
		for i, text := range scrapes {
			keep(t, i, text)
		}
	} else {
		time.Sleep(20 * time.Second)
	}
	everyPanel(t, asks(t, web), quiet)
	person.sees(id, asks(t, web))
	// One that takes native histograms has them of each kind of latency.
	for _, name := range []string{"helenus_proxy_added_seconds", "helenus_proxy_request_duration_seconds", "helenus_statement_latency_seconds", "helenus_change_latency_seconds"} {
		if n, err := asks(t, second)("histogram_count(sum(" + name + ")) > 0 and histogram_quantile(0.5, sum(" + name + ")) > 0"); n != 1 || err != nil {
			t.Errorf("%s has no native buckets: %d rows, %v", name, n, err)
		}
	}
}

// asks returns how to ask a Prometheus for the rows of an expression.
func asks(t *testing.T, address string) func(expr string) (int, error) {
	return func(expr string) (int, error) {
		var answer struct {
			Status, Error string
			Data          struct{ Result []json.RawMessage }
		}
		if !(client{t, "http://" + address, ""}).get("/api/v1/query?query="+url.QueryEscape(plain.Replace(expr)), &answer) {
			return 0, fmt.Errorf("no answer: %s", answer.Error)
		}
		return len(answer.Data.Result), nil
	}
}

// everyPanel asks every query of every panel, but those in except, and demands rows.
func everyPanel(t *testing.T, ask func(expr string) (rows int, err error), except map[string]string) {
	t.Helper()
	used := map[string]bool{}
	for _, d := range dashboards(t) {
		d.each(func(p *panel) {
			rows := 0
			for _, x := range p.Targets {
				n, err := ask(x.Expr)
				if err != nil {
					t.Errorf("%s/%s: %v\n%s", d.UID, p.Title, err, plain.Replace(x.Expr))
				}
				rows += n
				if n == 0 && p.Type == "table" {
					t.Errorf("%s/%s: a column has no rows\n%s", d.UID, p.Title, plain.Replace(x.Expr))
				}
			}
			why := except[d.UID+"/"+p.Title]
			used[d.UID+"/"+p.Title] = true
			if (rows == 0) != (why != "") {
				t.Errorf("%s/%s has %d rows; expected to be empty because: %q\n%s", d.UID, p.Title, rows, why, plain.Replace(p.Targets[0].Expr))
			}
		})
	}
	for name := range except {
		if !used[name] {
			t.Errorf("there is no panel %s", name)
		}
	}
}

func scrapeFile(i int) string { return fmt.Sprintf("testdata/scrape-%d.txt.gz", i) }

// keep writes a scrape, without what tells about the machine.
func keep(t *testing.T, i int, text []byte) {
	t.Helper()
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte("go_")) || bytes.HasPrefix(line, []byte("go_goroutines")) {
			_, _ = w.Write(line)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll("testdata", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(scrapeFile(i), packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// client asks an HTTP server.
type client struct {
	t     *testing.T
	base  string
	token string
}

func (c client) do(method, path string, body io.Reader) (int, []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, text
}

func (c client) get(path string, into any) bool {
	status, text := c.do(http.MethodGet, path, nil)
	return status == http.StatusOK && (into == nil || json.Unmarshal(text, into) == nil)
}

func (c client) text(path string) []byte {
	_, text := c.do(http.MethodGet, path, nil)
	return text
}

func await(t *testing.T, patience time.Duration, what string, there func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !there(); time.Sleep(500 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// start runs a program until the test ends; if that fails, the end of what the program said is shown.
func start(t *testing.T, dir, name, program string, args ...string) {
	t.Helper()
	log := filepath.Join(dir, name+".log")
	out, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		kill := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		kill.Stop()
		_ = out.Close()
		if text, err := os.ReadFile(log); t.Failed() && err == nil {
			t.Logf("%s said:\n%s", name, text[max(0, len(text)-3000):])
		}
	})
}

func freePorts(t *testing.T, n int) (all []string) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() // all stay open until all are chosen
		all = append(all, "127.0.0.1:"+strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	}
	return all
}
