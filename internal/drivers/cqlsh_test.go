package drivers

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// cqlsh speaks to one cluster through a helenus of its own: what people type, and COPY, which is a driver with many
// workers of its own.
func (s *stage) cqlsh(topology string) {
	s.t.Helper()
	s.t.Run("cqlsh "+topology, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
		defer cancel()
		command, err := Cqlsh(ctx)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Through(s.binary, t.TempDir(), s.cluster.ContactPoints(), len(s.cluster.Nodes()), "--topology", topology)
		if err != nil {
			t.Fatal(err)
		}
		h := f[0]
		if err := h.Start(ctx); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := h.Stop(); err != nil {
				t.Error(err)
			}
			if t.Failed() {
				t.Logf("end of the log of helenus:\n%s", h.Log())
			}
		}()
		host, port, err := net.SplitHostPort(h.Listen[0])
		if os.Getenv(direct) != "" {
			host, port, err = net.SplitHostPort(s.cluster.ContactPoints()[0])
		}
		if err != nil {
			t.Fatal(err)
		}
		keyspace := "cqlsh_" + topology
		dir := t.TempDir() // without a comma: COPY takes a list of files
		var rows strings.Builder
		for i := range 500 {
			fmt.Fprintf(&rows, "%d,name %d,%d.5\n", i, i, i)
		}
		from, to := filepath.Join(dir, "from.csv"), filepath.Join(dir, "to.csv")
		if err := os.WriteFile(from, []byte(rows.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			name, statements string
			says             []string
		}{
			{"create", "CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}; " +
				"USE " + keyspace + "; CREATE TYPE pair (a int, b text); CREATE TABLE t (id int PRIMARY KEY, name text, n double)", nil},
			{"describe", "DESCRIBE CLUSTER; DESCRIBE KEYSPACES; DESCRIBE KEYSPACE " + keyspace + "; DESCRIBE TABLE " + keyspace + ".t; DESCRIBE TYPE " + keyspace + ".pair",
				[]string{"Murmur3Partitioner", keyspace, "CREATE TABLE " + keyspace + ".t (", "CREATE TYPE " + keyspace + ".pair ("}},
			{"copy from", "COPY " + keyspace + ".t (id, name, n) FROM '" + from + "'", []string{"500 rows imported"}},
			{"copy to", "COPY " + keyspace + ".t (id, name, n) TO '" + to + "'", []string{"500 rows exported"}},
			{"paging", "PAGING 50; SELECT id FROM " + keyspace + ".t", []string{"Page size: 50", "(500 rows)"}},
			{"tracing", "TRACING ON; SELECT name FROM " + keyspace + ".t WHERE id = 7", []string{"TRACING set to ON", "name 7", "Tracing session:", "Request complete"}},
			{"json and expand", "EXPAND ON; SELECT JSON * FROM " + keyspace + ".t WHERE id = 7", []string{`"name": "name 7"`}},
			{"error", "SELECT nothing FROM " + keyspace + ".t", []string{"Undefined column name nothing"}},
		} {
			begin := time.Now()
			cmd := exec.CommandContext(ctx, command[0], append(command[1:], "--request-timeout=120", "--connect-timeout=120", "-e", step.statements, host, port)...)
			cmd.Dir = dir // COPY leaves a file of what it could not import
			out, err := cmd.CombinedOutput()
			result := "ok"
			if err != nil && step.name != "error" {
				result = "FAULT"
				t.Errorf("%s: %v: %s", step.name, err, out)
			}
			for _, want := range step.says {
				if !strings.Contains(string(out), want) {
					result = "FAULT"
					t.Errorf("%s: it does not say %q: %s", step.name, want, out)
				}
			}
			t.Logf("%-16s %s %.1f s", step.name, result, time.Since(begin).Seconds())
			s.note("cqlsh "+step.name, "cqlsh "+topology, result)
		}
		copied, err := os.ReadFile(to)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(copied), "\n"); n != 500 || !strings.Contains(string(copied), "499,name 499,499.5") {
			t.Errorf("COPY TO wrote %d lines: %.300s", n, copied)
		}
	})
}
