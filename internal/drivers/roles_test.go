package drivers

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

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

// advised are the look-ups of orders by owner that may be approved, by keyspace.
func (h *Helenus) advised(ctx context.Context, t *testing.T) map[string]string {
	t.Helper()
	h.ask(ctx, t, http.MethodPost, "/api/v1/advise", nil)
	var advice struct {
		Recommendations []struct {
			ID, Kind, Keyspace, Table, Column string
			Eligible                          bool
		}
	}
	h.ask(ctx, t, http.MethodGet, "/api/v1/recommendations", &advice)
	ids := map[string]string{}
	for _, r := range advice.Recommendations {
		if r.Kind == "look-up table" && r.Eligible && r.Table == "orders" && r.Column == "owner" {
			ids[r.Keyspace] = r.ID
		}
	}
	return ids
}

// serve has the look-ups of orders by owner approved, one in each of n keyspaces, and waits until they serve.
func (h *Helenus) serve(ctx context.Context, t *testing.T, n int) {
	t.Helper()
	ids := h.advised(ctx, t)
	for range 10 {
		if len(ids) == n {
			break
		}
		time.Sleep(2 * time.Second) // what was asked last may not be counted yet
		ids = h.advised(ctx, t)
	}
	if len(ids) != n {
		var all string
		h.ask(ctx, t, http.MethodGet, "/api/v1/recommendations", &all)
		t.Fatalf("look-ups are advised in %v, want %d; of what is known: %s", ids, n, all)
	}
	for _, id := range ids {
		h.ask(ctx, t, http.MethodPost, "/api/v1/recommendations/"+id+"/approve", nil)
	}
	for keyspace, id := range ids {
		for state := ""; state != "serving"; time.Sleep(200 * time.Millisecond) {
			var c struct{ State, Reason string }
			h.ask(ctx, t, http.MethodGet, "/api/v1/changes/"+id, &c)
			if state = c.State; state == "failed" || state == "suspended" || ctx.Err() != nil {
				t.Fatalf("the change of %s is %s: %s (%v)", keyspace, state, c.Reason, ctx.Err())
			}
		}
	}
}

// rights are roles, and what is granted to them. The orders of looked and other are in the clear; of hidden's the notes are masked.
var rights = map[string][]string{
	"helenus": {
		"GRANT SELECT ON KEYSPACE looked TO helenus", "GRANT SELECT ON KEYSPACE other TO helenus", "GRANT SELECT ON KEYSPACE hidden TO helenus",
		"GRANT ALL PERMISSIONS ON KEYSPACE helenus_data_looked TO helenus", "GRANT ALL PERMISSIONS ON KEYSPACE helenus_data_other TO helenus",
		"GRANT ALL PERMISSIONS ON KEYSPACE helenus_data_hidden TO helenus",
		"GRANT SELECT ON system_views.clients TO helenus", "GRANT SELECT ON system.prepared_statements TO helenus",
	},
	"wide":     {"GRANT SELECT ON KEYSPACE looked TO wide", "GRANT SELECT ON KEYSPACE other TO wide", "GRANT SELECT ON KEYSPACE hidden TO wide"},
	"reader":   {"GRANT SELECT ON looked.orders TO reader"},
	"child":    {"GRANT reader TO child"},
	"writer":   {"GRANT MODIFY ON KEYSPACE looked TO writer"},
	"nobody":   nil,
	"unmasked": {"GRANT SELECT ON KEYSPACE hidden TO unmasked", "GRANT UNMASK ON hidden.orders TO unmasked"},
}

// asRoles are what programs ask as roles. What is served is asked by one program after the other, so that the share is each driver's; the rest is asked
// directly as well, by all at once, and refused in the same words.
var asRoles = []struct {
	role, keyspace, check string
	served                bool
}{
	{"wide", "looked", "looked-up", true},
	{"wide", "other", "looked-up", true},
	{"reader", "looked", "looked-up", true},
	{"child", "looked", "looked-up", true},
	{"reader", "other", "not-allowed", false},
	{"child", "other", "not-allowed", false},
	{"writer", "looked", "not-allowed", false},
	{"nobody", "looked", "not-allowed", false},
	{"wide", "hidden", "masked", false},
	{"unmasked", "hidden", "looked-up", false},
	{"reader", "hidden", "not-allowed", false},
}

// TestRoles: clients of all drivers with roles of different rights, on a cluster that asks for passwords and checks permissions. Who may read is served as
// without passwords, and rightly; who may not is refused each time, in Cassandra's words; who may not unmask reads masks.
func TestRoles(t *testing.T) {
	names, all := languages(t)
	if !all {
		return // cmd/helenus has the roles in CI, with one driver
	}
	s := newStage(t, names, cassandra.Options{Extra: map[string]any{"authenticator": "PasswordAuthenticator", "authorizer": "CassandraAuthorizer", "dynamic_data_masking_enabled": true,
		"read_request_timeout": "15s", "range_request_timeout": "15s", "write_request_timeout": "15s", "request_timeout": "15s"}})
	s.populate()
	cost := filepath.Join(t.TempDir(), "cost.yaml")
	if err := os.WriteFile(cost, []byte("model: cassandra\nscan_row_ms: 0.2\n"), 0o600); err != nil { // so few rows are worth a look-up
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Minute)
	defer cancel()
	f := s.front(ctx, t, &pass{name: "roles", hosts: 1, helenus: []string{"--username", "helenus", "--password", "p", "--keyspaces", "looked,other,hidden", "--cost", cost, "--log-level", "info",
		"--advise-every", "1h", "--min-saved", "1ms", "--min-executions", "20", "--settle", "500ms", "--shadow-reads", "10", "--shadow-for", "2s", "--shadow-probes", "10"}})
	through, past := f.Listen()[0], s.cluster.ContactPoints()[0]
	// run has programs ask as a role, and returns what each of them said of it.
	run := func(t *testing.T, point, role, keyspace, check string, names ...string) map[string]string {
		t.Helper()
		commands, said := map[string][]string{}, map[string]string{}
		for _, name := range names {
			commands[name] = append(slices.Clone(s.command[name]), "--points", point, "--keyspace", keyspace, "--checks", check, "--username", role, "--password", "p")
		}
		p := pass{name: "as " + role + " of " + keyspace + map[bool]string{true: ", directly"}[point == past], checks: []string{check}}
		programs, err := RunAll(ctx, commands, func(program *Program, line Line) { s.judge(t, p, f, program, line) }, nil)
		if err != nil {
			t.Error(err)
		}
		for _, program := range programs {
			s.silent(t, p, program)
			for _, line := range program.Lines {
				said[program.Name] += line.Detail
			}
		}
		return said
	}
	for _, keyspace := range []string{"looked", "other", "hidden"} {
		run(t, through, "wide", keyspace, "looked-up", names[0])
	}
	f[0].serve(ctx, t, 3)
	s.exec("ALTER TABLE hidden.orders ALTER note MASKED WITH DEFAULT")
	for _, c := range asRoles {
		t.Run(c.role+" of "+c.keyspace, func(t *testing.T) {
			if c.served {
				for _, name := range names {
					served, control := f[0].counts(ctx, t)
					run(t, through, c.role, c.keyspace, c.check, name)
					nowServed, nowControl := f[0].counts(ctx, t)
					asked := part.LookedUp - (nowControl - control) // which run as written without passwords, too
					share := (nowServed - served) / asked
					t.Logf("%s: %.4f of %.0f reads were served", name, share, asked)
					if share < 0.99 {
						var changes string // a change may have been turned back meanwhile, and say why
						f[0].ask(ctx, t, http.MethodGet, "/api/v1/changes", &changes)
						t.Errorf("%s: %.4f of the reads that would be served without passwords were, want 0.99; %s", name, share, changes)
					}
				}
				return
			}
			served, _ := f[0].counts(ctx, t)
			got := run(t, through, c.role, c.keyspace, c.check, names...)
			if now, _ := f[0].counts(ctx, t); now != served {
				t.Errorf("%.0f reads were served that Cassandra alone may answer", now-served)
			}
			if want := run(t, past, c.role, c.keyspace, c.check, names...); !maps.Equal(got, want) {
				t.Errorf("told %q through helenus, %q directly", got, want)
			}
		})
	}
}

// populate makes the tables with their rows, and the roles.
func (s *stage) populate() {
	s.t.Helper()
	const replicated = " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
	for _, keyspace := range []string{"looked", "other", "hidden"} {
		for _, name := range []string{keyspace, keyspace + "_one", "helenus_data_" + keyspace} {
			s.exec("CREATE KEYSPACE %s%s", name, replicated)
		}
		s.exec("CREATE TABLE %s.orders (id int PRIMARY KEY, owner text, note text)", keyspace)
		for id := range 400 {
			if err := s.session.Query("INSERT INTO "+keyspace+".orders (id, owner, note) VALUES (?, ?, ?)", id, part.Owner(id%100), part.Note(id)).Exec(); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	for _, keyspace := range []string{"looked", "other", "hidden"} { // a look-up over so few is not advised, or turned back, as it is slower than reading them all
		for id := 1000; id < 6000; id += 50 {
			b := s.session.NewBatch(gocql.UnloggedBatch)
			for more := range 50 {
				b.Query("INSERT INTO "+keyspace+".orders (id, owner, note) VALUES (?, ?, ?)", id+more, "somebody else", part.Note(id+more))
			}
			if err := s.session.ExecuteBatch(b); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	for role := range rights {
		s.exec("CREATE ROLE %s WITH PASSWORD = 'p' AND LOGIN = true", role)
	}
	for _, grants := range rights {
		for _, grant := range grants {
			s.exec("%s", grant)
		}
	}
	time.Sleep(3 * time.Second) // Cassandra remembers for 2 s what roles may not
}
