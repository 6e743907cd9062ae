package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helenus-db/helenus/bench/product"
	"github.com/helenus-db/helenus/internal/cassandra"
	"github.com/helenus-db/helenus/internal/child"
	"github.com/helenus-db/helenus/internal/sleep"
	"github.com/helenus-db/helenus/rewrite/twintest"
)

// The keyspace that is written through Helenus, and its twin.
const (
	keyspace = "soak"
	twin     = "soak_twin"
)

// world is the cluster, the helenus before it, and what was counted.
type world struct {
	settings
	dir            string
	cluster        *cassandra.Cluster
	direct         string // host:port of Cassandra
	through, admin string // of helenus
	begun          time.Time
	ids            []string // of the changes
	tables         map[string]string
	all            []*writer
	contended      contended
	counts         counts

	mu      sync.Mutex
	helenus *child.Process
	before  map[string]float64 // metrics of the helenus that runs, as last seen
	notes   []string           // what was wrong, the first of each kind
	noted   map[string]int     // how often, by the note's format
}

type counts struct {
	statements, refused, again, compared, wrong, cells, differences, leftOut, asked, askedWrong, missing, orphans, unverified atomic.Int64
	served, reads, kills, stops, steps, resumed, failed                                                                       atomic.Int64
}

// mostNotes is how many things of a kind that were wrong are printed.
const mostNotes = 8

func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.noted == nil {
		w.noted = map[string]int{}
	}
	if w.noted[format]++; w.noted[format] <= mostNotes {
		w.notes = append(w.notes, fmt.Sprintf("%6s  %s", time.Since(w.begun).Round(time.Second), fmt.Sprintf(format, args...)))
	}
}

// prepare makes both keyspaces, and has the look-ups advised on, approved and filled until they serve.
func (w *world) prepare(ctx context.Context) error {
	if err := w.fill(ctx); err != nil {
		return err
	}
	ports, err := product.FreePorts(2)
	if err != nil {
		return err
	}
	w.through, w.admin = ports[0], ports[1]
	if err := w.launch(ctx); err != nil {
		return err
	}
	app := newPatient(w, w.through, keyspace)
	defer app.close()
	for _, l := range twintest.LookUps {
		for i := range 60 {
			value := twintest.Text(fmt.Sprint("seed ", i))
			if l.Column == "ticket" {
				value = twintest.Raw(twintest.Ticket(i))
			}
			if _, err := app.Do(twintest.Statement{Way: twintest.Execute, Text: l.Text, Values: []twintest.Value{value}}); err != nil {
				return err
			}
		}
	}
	return w.approve(ctx)
}

// fill writes the rows of the start to both keyspaces.
func (w *world) fill(ctx context.Context) error {
	for _, name := range []string{keyspace, twin} {
		c := newPatient(w, w.direct, name)
		defer c.close()
		texts := append([]string{"CREATE KEYSPACE @ WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"}, twintest.Tables...)
		for _, text := range texts {
			if a, err := c.Do(twintest.Statement{Text: text}); err != nil || a.Failed() {
				return fmt.Errorf("%s: %w %s", text, err, a.Message)
			}
		}
		const perRoom = 40
		for room := range w.rows / perRoom {
			stays, fleeting := twintest.Statement{Way: twintest.Batch, Unlogged: true, At: 1000}, twintest.Statement{Way: twintest.Batch, Unlogged: true, At: 1000}
			for n := range perRoom {
				i := room*perRoom + n
				key := twintest.Text(fmt.Sprint("seed ", room))
				guest := twintest.Text(fmt.Sprint("seed ", i%(w.rows/2)))
				stays.Children = append(stays.Children, twintest.Statement{Way: twintest.Execute, Text: "INSERT INTO @.stays (room, day, n, guest, ticket, note) VALUES (?, 0, ?, ?, ?, 'seed')",
					Values: []twintest.Value{key, twintest.Int(n), guest, twintest.Raw(twintest.Ticket(i % (w.rows / 2)))}})
				fleeting.Children = append(fleeting.Children, twintest.Statement{Way: twintest.Execute, Text: "INSERT INTO @.fleeting (room, n, guest, note) VALUES (?, ?, ?, 'seed')",
					Values: []twintest.Value{key, twintest.Int(n), guest}})
			}
			for _, s := range []twintest.Statement{stays, fleeting} {
				if a, err := c.Do(s); err != nil || a.Failed() {
					return fmt.Errorf("fill: %w %s", err, a.Message)
				}
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return nil
}

// launch starts helenus, on the state that is there, and waits until it is ready.
func (w *world) launch(ctx context.Context) error {
	log, err := os.OpenFile(filepath.Join(w.dir, "helenus.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()                                                                                                              // the child has its own
	cmd := exec.Command(w.settings.helenus, "run", "--contact-points", w.direct, "--listen", w.through, "--admin", w.admin, "--admin-token", token, //nolint:gosec // named by a flag
		"--state-dir", filepath.Join(w.dir, "state"), "--keyspaces", keyspace, "--advise-every", "1h", "--min-saved", "1ms", "--settle", "500ms",
		"--shadow-reads", "50", "--shadow-for", "2s", "--shadow-probes", "8", "--backfill-ranges", "32", "--sweep-every", "2m", "--slow-request", "0s")
	cmd.Env = append(os.Environ(), "HELENUS_SOAK_CLOCK="+w.clockFile())
	cmd.Stdout, cmd.Stderr = log, log
	p, err := child.Start(cmd)
	if err != nil {
		return err
	}
	w.mu.Lock()
	w.helenus, w.before = p, nil
	w.mu.Unlock()
	for range 1200 {
		if w.ask(ctx, http.MethodGet, "/readyz", nil) == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.Done():
			return fmt.Errorf("helenus ended: %w; see %s", p.Wait(), log.Name())
		case <-time.After(100 * time.Millisecond):
		}
	}
	return fmt.Errorf("helenus is not ready after two minutes; see %s", log.Name())
}

func (w *world) clockFile() string { return filepath.Join(w.dir, "clock") }

// token is what helenus's API asks for.
const token = "soak"

// ask sends a request to helenus's API; into may be a *string, for the text.
func (w *world) ask(ctx context.Context, method, path string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "http://"+w.admin+path, strings.NewReader("{}"))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = a.Body.Close() }()
	text, err := io.ReadAll(a.Body)
	if err == nil && a.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", path, a.Status, bytes.TrimSpace(text))
	}
	if err != nil || into == nil {
		return err
	}
	if s, ok := into.(*string); ok {
		*s = string(text)
		return nil
	}
	return json.Unmarshal(text, into)
}

// approve approves every look-up of the base, and waits until all serve.
func (w *world) approve(ctx context.Context) error {
	w.tables = map[string]string{}
	for end := time.Now().Add(3 * time.Minute); len(w.ids) < len(twintest.LookUps); {
		var advice struct {
			Recommendations []struct {
				ID, Kind, Table, Column string
				Eligible                bool
				LookUp                  *struct {
					Table    string
					Keyspace string `json:"table_keyspace"`
				} `json:"look_up"`
			}
		}
		if err := w.ask(ctx, http.MethodPost, "/api/v1/advise", &advice); err == nil {
			for _, r := range advice.Recommendations {
				if r.Kind != "look-up table" || !r.Eligible || w.tables[r.ID] != "" {
					continue
				}
				if err := w.ask(ctx, http.MethodPost, "/api/v1/recommendations/"+r.ID+"/approve", nil); err != nil {
					return err
				}
				w.ids, w.tables[r.ID] = append(w.ids, r.ID), r.LookUp.Keyspace+"."+r.LookUp.Table
			}
		}
		if time.Now().After(end) {
			return fmt.Errorf("%d of %d look-ups were advised: %+v", len(w.ids), len(twintest.LookUps), advice)
		}
		if err := sleep.For(ctx, time.Second); err != nil {
			return err
		}
	}
	return w.await(ctx, "serving", 5*time.Minute)
}

// change is what is looked at of a change.
type change struct{ ID, State, Reason string }

func (w *world) changes(ctx context.Context) ([]change, error) {
	var raw json.RawMessage
	if err := w.ask(ctx, http.MethodGet, "/api/v1/migrations", &raw); err != nil {
		return nil, err
	}
	var list []change
	if json.Unmarshal(raw, &list) == nil {
		return list, nil
	}
	var wrapped struct{ Migrations []change }
	return wrapped.Migrations, json.Unmarshal(raw, &wrapped)
}

// await waits until all changes are in a state.
func (w *world) await(ctx context.Context, state string, patience time.Duration) error {
	app := newPatient(w, w.through, keyspace)
	defer app.close()
	for end := time.Now().Add(patience); ; {
		list, err := w.changes(ctx)
		there := err == nil
		for _, c := range list {
			there = there && c.State == state
			if c.State == "suspended" {
				_ = w.ask(ctx, http.MethodPost, "/api/v1/migrations/"+c.ID+"/resume", nil) // tried again
			}
		}
		if there {
			return nil
		}
		for i, l := range twintest.LookUps { // a shadow has something to compare
			value := twintest.Text(fmt.Sprint("seed ", i))
			if l.Column == "ticket" {
				value = twintest.Raw(twintest.Ticket(i))
			}
			if _, err := app.Do(twintest.Statement{Way: twintest.Execute, Text: l.Text, Values: []twintest.Value{value}}); err != nil {
				return err
			}
		}
		if time.Now().After(end) {
			return fmt.Errorf("after %s not all changes are %s: %+v %w", patience, state, list, err)
		}
		if err := sleep.For(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

// stepClock sets helenus's clock anew every few seconds.
func (w *world) stepClock(ctx context.Context) error {
	random := rand.New(rand.NewPCG(w.seed, 1)) //nolint:gosec // seeded on purpose
	for sleep.For(ctx, time.Duration(500+random.IntN(4500))*time.Millisecond) == nil {
		by := time.Duration(random.IntN(60_000)-30_000) * time.Millisecond
		if err := os.WriteFile(w.clockFile(), []byte(by.String()), 0o600); err != nil {
			return err
		}
		w.counts.steps.Add(1)
	}
	return nil
}

// killHelenus kills it as a crash does, and starts it again.
func (w *world) killHelenus(ctx context.Context) error {
	for sleep.For(ctx, w.kill) == nil {
		w.sample(ctx)
		w.helenus.Kill()
		<-w.helenus.Done()
		w.counts.kills.Add(1)
		if err := w.launch(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// stopCassandra kills the node and starts it again on its data, as often as was asked, evenly.
func (w *world) stopCassandra(ctx context.Context) error {
	for n := 0; n < w.stops && sleep.For(ctx, w.length/time.Duration(w.stops+1)) == nil; n++ {
		node := w.cluster.Node(0)
		if err := errors.Join(node.Kill(), node.Start(context.WithoutCancel(ctx))); err != nil {
			return err
		}
		w.counts.stops.Add(1)
	}
	return nil
}

// attend is the person who looks now and then, and resumes what was suspended, or failed where that can be resumed.
func (w *world) attend(ctx context.Context) error {
	failed := map[string]bool{}
	for sleep.For(ctx, time.Second) == nil {
		w.sample(ctx)
		list, err := w.changes(ctx)
		if err != nil {
			continue // it was just killed
		}
		for _, c := range list {
			if c.State != "suspended" && c.State != "failed" {
				continue
			}
			if c.State == "failed" && !failed[c.ID+c.Reason] {
				failed[c.ID+c.Reason] = true
				w.counts.failed.Add(1)
				w.note("change %s failed: %s", c.ID, c.Reason)
			}
			if w.ask(ctx, http.MethodPost, "/api/v1/migrations/"+c.ID+"/resume", nil) == nil {
				w.counts.resumed.Add(1)
			}
		}
	}
	return nil
}

// sample adds up what helenus says of its reads.
func (w *world) sample(ctx context.Context) {
	var text string
	if w.ask(ctx, http.MethodGet, "/metrics", &text) != nil {
		return
	}
	now := map[string]float64{}
	for line := range strings.SplitSeq(text, "\n") {
		at := strings.LastIndexByte(line, ' ')
		if !strings.HasPrefix(line, "helenus_change_reads_total{") || at < 0 {
			continue
		}
		var n float64
		if _, err := fmt.Sscan(line[at+1:], &n); err == nil {
			now["all"] += n
			if strings.Contains(line, `result="served"`) {
				now["served"] += n
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts.reads.Add(int64(now["all"] - w.before["all"]))
	w.counts.served.Add(int64(now["served"] - w.before["served"]))
	w.before = now
}

func (w *world) stop() {
	if w.helenus != nil {
		w.helenus.Stop(15 * time.Second)
	}
}
