package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/internal/cassandra"
	"github.com/helenus-db/helenus/internal/check"
)

// TestCassandraCheck: whatever rights Helenus's role has when it is checked, what helenus check says to grant is what is missing: it may be pasted, and nothing is
// missing afterwards.
func TestCassandraCheck(t *testing.T) {
	const validity = 300 * time.Millisecond
	point := withPasswords(t, validity)
	root := as(t, point, cassandra.FirstUser)
	const replicated = " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
	for _, text := range []string{"CREATE KEYSPACE hotel" + replicated, staysTable, `CREATE KEYSPACE "order"` + replicated, `CREATE TABLE "order".by_day (day int PRIMARY KEY)`} {
		must(t, root, text)
	}
	t.Setenv("HELENUS_PASSWORD", "p")
	look := func(t *testing.T, want int, role string, args ...string) (found []check.Finding) {
		t.Helper()
		code, out := command(t, nil, append([]string{"check", "--json", "--contact-points", point, "--username", role, "--permissions-validity", "300ms"}, args...)...)
		if code != want {
			t.Fatalf("exit code %d, want %d: %s", code, want, out)
		}
		document, _, _ := strings.Cut(out, "\n]")
		if err := json.Unmarshal([]byte(document+"\n]"), &found); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return found
	}
	const system = "GRANT SELECT ON system_views.clients TO ?; GRANT SELECT ON system_views.settings TO ?; GRANT SELECT ON system.prepared_statements TO ?"
	for _, c := range []struct {
		name, role string
		have       string // statements, in which ? is the role
		args       []string
		exit       int // before anything is pasted
		lacks      int // how many findings have something to paste
	}{
		{"nothing", "helenus", "", nil, exitFindings, 7},
		{"an odd name", `"He lenus"`, "", nil, exitFindings, 7},
		{"one keyspace", "one", "GRANT SELECT ON KEYSPACE hotel TO ?; " + system, nil, exitFindings, 3},
		{"one table", "narrow", "GRANT SELECT ON hotel.stays TO ?; " + system, []string{"--keyspaces", "hotel"}, exitFindings, 2},
		{"all tables", "tables", "GRANT SELECT ON ALL TABLES IN KEYSPACE hotel TO ?; " + system, []string{"--keyspaces", "hotel"}, exitDone, 1},
		{"all tables of ours", "ours", "CREATE KEYSPACE helenus_data_hotel" + replicated + "; GRANT ALL PERMISSIONS ON ALL TABLES IN KEYSPACE helenus_data_hotel TO ?; GRANT SELECT ON KEYSPACE hotel TO ?; " + system,
			[]string{"--keyspaces", "hotel"}, exitDone, 1},
		{"by another role", "heir", "CREATE ROLE family; GRANT SELECT ON ALL KEYSPACES TO family; GRANT family TO ?", nil, exitDone, 5}, // system tables are not among all keyspaces,
		{"all keyspaces", "makes", "GRANT SELECT ON ALL KEYSPACES TO ?; GRANT CREATE ON ALL KEYSPACES TO ?; " + system, nil, exitDone, 0},
		{"a fleet", "member", "GRANT SELECT ON ALL KEYSPACES TO ?; " + system, []string{"--state", "cassandra", "--state-keyspace", "fleet_of_one"}, exitFindings, 3},
		{"a bare state", "bare", "CREATE KEYSPACE fleet_of_two" + replicated + "; GRANT MODIFY ON KEYSPACE fleet_of_two TO ?; GRANT SELECT ON ALL KEYSPACES TO ?; " + system,
			[]string{"--state", "cassandra", "--state-keyspace", "fleet_of_two"}, exitFindings, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			must(t, root, "CREATE ROLE "+c.role+" WITH PASSWORD = 'p' AND LOGIN = true")
			for text := range strings.SplitSeq(strings.ReplaceAll(c.have, "?", c.role), "; ") {
				if text != "" {
					must(t, root, text)
				}
			}
			time.Sleep(3 * validity)
			role, pasted := strings.Trim(c.role, `"`), 0
			for _, x := range look(t, c.exit, role, c.args...) {
				if !strings.HasPrefix(x.Do, "GRANT ") && !strings.HasPrefix(x.Do, "CREATE KEYSPACE ") {
					continue
				}
				t.Log(x.Do)
				pasted++
				for text := range strings.SplitSeq(strings.TrimSuffix(x.Do, ";"), "; ") {
					must(t, root, text)
				}
			}
			if pasted != c.lacks {
				t.Errorf("%d findings have something to paste, want %d", pasted, c.lacks)
			}
			time.Sleep(3 * validity)
			for _, x := range look(t, exitDone, role, c.args...) {
				if x.Level != check.Fine && x.Check != "other writers" && x.Check != "routing" { // of this test's own connection
					t.Errorf("%+v", x)
				}
			}
			for _, keyspace := range []string{"helenus_data_hotel", "helenus_data_order", "fleet_of_one", "fleet_of_two"} {
				must(t, root, "DROP KEYSPACE IF EXISTS "+keyspace)
			}
		})
	}
	for _, text := range []string{"CREATE ROLE last WITH PASSWORD = 'p' AND LOGIN = true", "GRANT SELECT ON ALL KEYSPACES TO last", "GRANT SELECT ON system_views.clients TO last"} {
		must(t, root, text)
	}
	time.Sleep(3 * validity)
	if found := look(t, exitDone, "last"); !slices.ContainsFunc(found, func(x check.Finding) bool {
		return x.Check == "other writers" && strings.Contains(x.Says, cassandra.FirstUser)
	}) {
		t.Errorf("whose connection this is is not seen: %+v", found)
	}
	if code, out := command(t, nil, "check", "--contact-points", freeAddress(t)); code != exitUnreachable {
		t.Errorf("nobody there: exit code %d: %s", code, out)
	}
	if code, out := command(t, nil, "check", "--contact-points", point, "--username", "nobody"); code != exitUnreachable || !strings.Contains(out, "nobody") {
		t.Errorf("a role that is not there: exit code %d: %s", code, out)
	}
}
