package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
)

// TestSafetyLive checks a live schema for the writes that went through the proxy, with a real Cassandra behind it: a board that
// all users write to with lightweight transactions is hot, the messages by user are safe if the column that names them does.
func TestSafetyLive(t *testing.T) {
	address := os.Getenv("HELENUS_TEST_CASSANDRA")
	if address == "" {
		t.Skip("HELENUS_TEST_CASSANDRA is not set: `make test` sets it where a real Cassandra can run")
	}
	address, _, _ = strings.Cut(address, ",")
	direct := session(t, address)
	const k = "safety_live"
	must(t, direct, "CREATE KEYSPACE IF NOT EXISTS "+k+" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	t.Cleanup(func() { must(t, direct, "DROP KEYSPACE "+k) })
	for _, d := range []string{
		"users (user_id text PRIMARY KEY, name text)",
		"messages (user_id text, at int, body text, PRIMARY KEY (user_id, at))",
		"board (topic text PRIMARY KEY, last int)",
		"quiet (id int PRIMARY KEY)",
	} {
		must(t, direct, "CREATE TABLE "+k+"."+d)
	}
	must(t, direct, "INSERT INTO "+k+".board (topic, last) VALUES ('all', 0)")
	p := newProcess(t, address)
	p.start()
	p.awaitReady()
	through := session(t, p.listen)
	var users sync.WaitGroup
	for u := range 8 {
		users.Go(func() {
			who := fmt.Sprint("user ", u)
			for i := range 15 {
				for _, q := range []struct {
					text   string
					values []any
				}{
					{"INSERT INTO " + k + ".users (user_id, name) VALUES (?, ?)", []any{who, "name"}},
					{"INSERT INTO " + k + ".messages (user_id, at, body) VALUES (?, ?, ?)", []any{who, i, "text"}},
				} {
					if err := through.Query(q.text, q.values...).Exec(); err != nil {
						t.Error(err)
					}
				}
				if _, err := through.Query("UPDATE "+k+".board SET last = ? WHERE topic = ? IF last = ?", i+1, "all", i).MapScanCAS(map[string]any{}); err != nil {
					t.Log("a lightweight transaction that lost:", err)
				}
			}
		})
	}
	users.Wait()
	code, out := 0, ""
	await(t, "the writes were counted", func() bool {
		code, out = command(t, p, "safety", "--live")
		return code != 0 || strings.Contains(out, k+".board") && strings.Contains(out, "UNSAFE-HOT") && strings.Contains(out, k+".messages")
	})
	if code != 0 {
		t.Fatalf("exit %d: %s", code, out)
	}
	for _, want := range []string{
		"writers: the values of " + k + ".users.user_id (guessed; --principal says otherwise)",
		k + ".board  PRIMARY KEY ((topic))\n  verdict  UNSAFE-HOT, group: partition",
		k + ".messages  PRIMARY KEY ((user_id), at)\n  verdict  SAFE-IF, group: partition, writer: user_id",
		k + ".quiet  PRIMARY KEY ((id))\n  verdict  SAFE, group: partition",
		"lightweight transactions were refused",
		"option   partition by the writer",
		"said by",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	code, out = command(t, p, "safety", "--live", "--json", "--table", k+".messages", "--principal", k+".users.user_id", "--group", "row")
	if code != 0 || !strings.Contains(out, `"verdict": "SAFE-IF"`) || strings.Contains(out, ".board") || !strings.Contains(out, `"overlaps": `) {
		t.Errorf("exit %d: %s", code, out)
	}
	for _, args := range [][]string{{"--principal", "users"}, {"--owner", "x"}, {"--fact", "x"}, {"--group", "rows"}, {"--table", "nothing"}, {"--schema", "x"}, {"file.yaml"}} {
		if code, out := command(t, p, append([]string{"safety", "--live"}, args...)...); code == 0 {
			t.Errorf("%v: exit %d: %s", args, code, out)
		}
	}
}
