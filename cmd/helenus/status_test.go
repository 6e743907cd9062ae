package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/internal/admin"
)

func TestPrintStatus(t *testing.T) {
	for _, test := range []struct {
		s    admin.Status
		want string
	}{
		{admin.Status{Healthy: true, Checks: []admin.Check{{Name: "cassandra", Ready: true, Detail: "3 nodes, 1 listeners, 12 connections"}}}, `Healthy. It forwards: 3 nodes, 1 listeners, 12 connections.

changes    none
advice     no round yet

Nothing waits for you.
`},
		{admin.Status{
			Checks: []admin.Check{{Name: "cassandra", Why: "no control connection"}}, Bypassed: true, Advised: time.Now().Add(-90 * time.Second),
			Problems: []string{"cassandra is not ready: no control connection"}, Remarks: []string{"calendars are worked out by a heuristic"},
			Changes: map[string]int{"suspended": 1, "serving": 2}, Calendars: map[string]int{"paused": 1},
			Waits: []admin.Waiting{{ID: "r-1", What: "a change that is suspended", Order: "helenus resume r-1, or rollback"}},
		}, `NOT HEALTHY. It may not forward; requests bypass the rewriting.

changes    2 serving, 1 suspended
calendars  1 paused
advice     last round ` + ago(time.Now().Add(-90*time.Second)) + `

problems
  cassandra is not ready: no control connection

remarks
  calendars are worked out by a heuristic

waits for you
  r-1        a change that is suspended
             helenus resume r-1, or rollback
`},
	} {
		var b bytes.Buffer
		if err := printStatus(&b, test.s); err != nil || b.String() != test.want {
			t.Errorf("%v\n%s\nwant\n%s", err, b.String(), test.want)
		}
	}
}

// TestStatus asks a process, and one that is not there; the exit code says what is printed.
func TestStatus(t *testing.T) {
	m := startMock(t, nil)
	p := newProcess(t, m.Addr)
	p.start()
	await(t, "it forwards", p.serves)
	if code, out := command(t, p, "bypass", "on"); code != 0 {
		t.Fatal(out)
	}
	code, out := command(t, p, "status")
	for _, want := range []string{"NOT HEALTHY. It forwards: 1 node, 1 listener, ", "; requests bypass the rewriting.", "changes    none", "advice     no round yet", "Nothing waits for you."} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	if code, out := command(t, p, "status", "--json"); code != exitFailed || !strings.Contains(out, `"healthy": false`) {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	p.kill()
	if code, out := command(t, p, "status"); code != exitUnreachable {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}
