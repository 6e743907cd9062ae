package drivers

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/internal/cassandra"
	"github.com/helenus-db/helenus/internal/drivers/part"
)

// ask asks the admin API of helenus.
func (h *Helenus) ask(ctx context.Context, t *testing.T, method, path string, answer any) {
	t.Helper()
	token, err := os.ReadFile(filepath.Join(h.state, "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://"+h.admin+path, bytes.NewReader([]byte(`{"actor": "drivers"}`)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	r.Header.Set("Content-Type", "application/json")
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode >= 300 {
		t.Fatalf("%s %s: %d %v %s", method, path, a.StatusCode, err, text)
	}
	if answer == nil {
		return
	}
	if raw, ok := answer.(*string); ok {
		*raw = string(text)
	} else if err := json.Unmarshal(text, answer); err != nil {
		t.Fatalf("%s %s: %v: %s", method, path, err, text)
	}
}

// counts are how many reads of changes were served, and how many ran as written to measure by, or to compare with.
func (h *Helenus) counts(ctx context.Context, t *testing.T) (served, control float64) {
	t.Helper()
	var text string
	h.ask(ctx, t, http.MethodGet, "/metrics", &text)
	for line := range strings.SplitSeq(text, "\n") {
		n, _ := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
		switch {
		case strings.HasPrefix(line, "helenus_change_reads_total{") && strings.Contains(line, `result="served"`):
			served += n
		case strings.HasPrefix(line, "helenus_change_reads_not_served_total{") && strings.Contains(line, `reason="control"`):
			control += n
		}
	}
	return served, control
}

// serve has the look-up of orders by owner advised on, approved, and waits until it serves.
func (h *Helenus) serve(ctx context.Context, t *testing.T) {
	t.Helper()
	h.ask(ctx, t, http.MethodPost, "/api/v1/advise", nil)
	var advice struct {
		Recommendations []struct {
			ID, Kind, Table, Column string
			Eligible                bool
		}
	}
	h.ask(ctx, t, http.MethodGet, "/api/v1/recommendations", &advice)
	id := ""
	for _, r := range advice.Recommendations {
		if r.Kind == "look-up table" && r.Eligible && r.Table == "orders" && r.Column == "owner" {
			id = r.ID
		}
	}
	if id == "" {
		t.Fatalf("no look-up is advised: %+v", advice)
	}
	h.ask(ctx, t, http.MethodPost, "/api/v1/recommendations/"+id+"/approve", nil)
	for state := ""; state != "serving"; time.Sleep(200 * time.Millisecond) {
		var c struct{ State, Reason string }
		h.ask(ctx, t, http.MethodGet, "/api/v1/changes/"+id, &c)
		if state = c.State; state == "failed" || state == "suspended" || ctx.Err() != nil {
			t.Fatalf("the change is %s: %s (%v)", state, c.Reason, ctx.Err())
		}
	}
}

// TestRoles: clients of all drivers with roles of different rights, on a cluster that asks for passwords and checks permissions. Who may read is served as
// without passwords, and rightly; who may not is refused each time, in Cassandra's words.
func TestRoles(t *testing.T) {
	names, all := languages(t)
	if !all {
		return // cmd/helenus has the roles in CI, with one driver
	}
	s := newStage(t, names, cassandra.Options{Extra: map[string]any{"authenticator": "PasswordAuthenticator", "authorizer": "CassandraAuthorizer",
		"read_request_timeout": "15s", "range_request_timeout": "15s", "write_request_timeout": "15s", "request_timeout": "15s"}})
	const replicated = " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
	for _, text := range []string{
		"CREATE KEYSPACE looked" + replicated, "CREATE KEYSPACE looked_one" + replicated, "CREATE KEYSPACE helenus_data_looked" + replicated,
		"CREATE TABLE looked.orders (id int PRIMARY KEY, owner text, note text)",
		"CREATE ROLE helenus WITH PASSWORD = 'p' AND LOGIN = true", "GRANT SELECT ON KEYSPACE looked TO helenus", "GRANT ALL PERMISSIONS ON KEYSPACE helenus_data_looked TO helenus",
		"GRANT SELECT ON system_views.clients TO helenus", "GRANT SELECT ON system.prepared_statements TO helenus",
		"CREATE ROLE reader WITH PASSWORD = 'p' AND LOGIN = true", "GRANT SELECT ON looked.orders TO reader",
		"CREATE ROLE wide WITH PASSWORD = 'p' AND LOGIN = true", "GRANT SELECT ON KEYSPACE looked TO wide",
		"CREATE ROLE child WITH PASSWORD = 'p' AND LOGIN = true", "GRANT reader TO child",
		"CREATE ROLE writer WITH PASSWORD = 'p' AND LOGIN = true", "GRANT MODIFY ON KEYSPACE looked TO writer",
		"CREATE ROLE nobody WITH PASSWORD = 'p' AND LOGIN = true",
	} {
		s.exec("%s", text)
	}
	for id := range 400 {
		if err := s.session.Query("INSERT INTO looked.orders (id, owner, note) VALUES (?, ?, ?)", id, part.Owner(id%100), part.Note(id)).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	cost := filepath.Join(t.TempDir(), "cost.yaml")
	if err := os.WriteFile(cost, []byte("model: cassandra\nscan_row_ms: 0.2\n"), 0o600); err != nil { // so few rows are worth a look-up
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Minute)
	defer cancel()
	f := s.front(ctx, t, &pass{name: "roles", hosts: 1, helenus: []string{"--username", "helenus", "--password", "p", "--keyspaces", "looked", "--cost", cost, "--log-level", "info",
		"--advise-every", "1h", "--min-saved", "1ms", "--min-executions", "20", "--settle", "500ms", "--shadow-reads", "10", "--shadow-for", "2s", "--shadow-probes", "10"}})
	run := func(t *testing.T, role, check string, names ...string) {
		t.Helper()
		commands := map[string][]string{}
		for _, name := range names {
			commands[name] = append(append([]string{}, s.command[name]...), "--points", f.Listen()[0], "--keyspace", "looked", "--checks", check, "--username", role, "--password", "p")
		}
		p := pass{name: "as " + role, checks: []string{check}}
		programs, err := RunAll(ctx, commands, func(program *Program, line Line) { s.judge(t, p, f, program, line) }, nil)
		if err != nil {
			t.Error(err)
		}
		for _, program := range programs {
			s.silent(t, p, program)
		}
	}
	run(t, "reader", "looked-up", names[0])
	f[0].serve(ctx, t)
	for _, role := range []string{"reader", "wide", "child"} {
		t.Run(role, func(t *testing.T) {
			served, control := f[0].counts(ctx, t)
			run(t, role, "looked-up", names...)
			nowServed, nowControl := f[0].counts(ctx, t)
			asked := float64(part.LookedUp*len(names)) - (nowControl - control) // which run as written without passwords, too
			share := (nowServed - served) / asked
			t.Logf("%s: %.4f of %.0f reads were served", role, share, asked)
			if share < 0.99 {
				t.Errorf("%.4f of the reads that would be served without passwords were, want 0.99", share)
			}
		})
	}
	for _, role := range []string{"writer", "nobody"} {
		t.Run(role, func(t *testing.T) {
			served, _ := f[0].counts(ctx, t)
			run(t, role, "not-allowed", names...)
			if now, _ := f[0].counts(ctx, t); now != served {
				t.Errorf("%.0f reads were served to a role that may not read", now-served)
			}
		})
	}
}
