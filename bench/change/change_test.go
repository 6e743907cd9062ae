package main

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// TestSmoke runs the whole bench on a Cassandra of its own, with next to no data, and judges only that every figure is there.
func TestSmoke(t *testing.T) {
	cassandratest.ContactPoints(t) // skips where no Cassandra can run
	folder := t.TempDir()
	s := settings{
		helenus: build(t, folder), heap: "512m", out: folder, command: "the test", reportOnly: true, say: t.Logf,
		rows: 3000, heavyStays: 4, // of 200 rows, filtering was seen to be the cheaper way from 4 on: they were not served
		turns: 1, plainOps: 40, writeOps: 20, readOps: 5, lookedUp: 1, counted: 1, quiet: 50 * time.Millisecond, kills: 1,
	}
	if err := measure(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(folder, "change.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	if r.Changes != 2 || r.Cassandra == "" {
		t.Errorf("%+v", r)
	}
	var served, requests int
	for _, f := range r.Figures {
		if f.Value <= 0 || math.IsNaN(f.Value) || math.IsInf(f.Value, 0) || f.Must <= 0 || f.Seen == "" {
			t.Errorf("%+v", f)
		}
		switch {
		case strings.HasPrefix(f.What, "served read"):
			served++
		case f.Unit == "requests":
			requests++
			if f.Value < 1 || f.Value > 20 {
				t.Errorf("%+v", f)
			}
		}
	}
	if served != 2 || requests != 8 || len(r.Figures) != 24 {
		t.Errorf("%d figures, %d of served reads, %d of requests: %+v", len(r.Figures), served, requests, r.Figures)
	}
}

// build builds the program, with the race detector if the test has it: so what is compiled already is used.
func build(t *testing.T, folder string) string {
	t.Helper()
	program := filepath.Join(folder, "helenus")
	args := []string{"build", "-o", program}
	if proxytest.Race {
		args = append(args, "-race")
	}
	if out, err := exec.Command("go", append(args, "../../cmd/helenus")...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

func TestJudged(t *testing.T) {
	r := report{Tolerance: 0.1}
	r.add(figure{Value: 1.2, Must: 1.1})
	r.add(figure{Value: 1.22, Must: 1.1})
	r.add(figure{Value: 0.28, Must: 0.3, AtLeast: true})
	r.add(figure{Value: 0.26, Must: 0.3, AtLeast: true})
	r.exactly(figure{Value: 3, Must: 3})
	r.exactly(figure{Value: 4, Must: 3.9})
	var ok []bool
	for _, f := range r.Figures {
		ok = append(ok, f.OK)
	}
	if !slices.Equal(ok, []bool{true, false, true, false, true, false}) || r.missed() != 3 {
		t.Errorf("%v, %d missed", ok, r.missed())
	}
}

// TestRelay counts what passes, tells reads from writes, leaves out what is no operation, and gives answers again.
func TestRelay(t *testing.T) {
	const read, write = "SELECT a FROM t WHERE k = ?", "UPDATE t SET a = ? WHERE k = ?"
	asked := 0
	backend, err := proxytest.Start(func(r *proxytest.Request) {
		if r.Header.Opcode == wire.OpExecute {
			asked++ // one connection, one request at a time
		}
		proxytest.Default(r)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	r, err := startRelay("127.0.0.1:0", backend.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	c, err := proxytest.Connect(r.listener.Addr().String(), 4)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	call := func(opcode byte, body []byte) {
		t.Helper()
		if h, _, err := c.Call(opcode, body); err != nil || h.Opcode != wire.OpResult {
			t.Fatalf("%+v %v", h, err)
		}
	}
	execute := func(text string, value byte) {
		t.Helper()
		call(wire.OpExecute, proxytest.ExecuteBody(4, proxytest.PreparedID(text), []byte{value}))
	}
	call(wire.OpQuery, proxytest.QueryBody(4, "SELECT * FROM system.local"))
	for _, text := range []string{read, write} {
		call(wire.OpPrepare, proxytest.PrepareBody(4, text))
	}
	call(wire.OpQuery, proxytest.QueryBody(4, "select a from t"))
	call(wire.OpQuery, proxytest.QueryBody(4, "DELETE FROM t WHERE k = 1"))
	execute(read, 1)
	execute(write, 1)
	if n, err := r.count(); err != nil || n != (requests{2, 2}) {
		t.Errorf("%+v %v", n, err)
	}
	r.set(recording)
	execute(read, 1)
	execute(write, 1)
	r.set(replaying)
	before := asked
	execute(read, 1)
	execute(write, 2) // writes are answered alike
	if asked != before {
		t.Errorf("%d requests went past the mock", asked-before)
	}
	execute(read, 2)
	if asked != before+1 {
		t.Error("a read with another value was answered by the mock")
	}
	if n, err := r.count(); err != nil || n != (requests{5, 4}) {
		t.Errorf("%+v %v", n, err)
	}
	if _, err := r.rest(t.Context(), time.Millisecond); err != nil {
		t.Error(err)
	}
}

// TestRelayRefuses: what can not be counted is said, not counted wrongly.
func TestRelayRefuses(t *testing.T) {
	backend, err := proxytest.Start(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	r, err := startRelay("127.0.0.1:0", backend.Addr)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := proxytest.Connect(r.listener.Addr().String(), 5); err == nil {
		t.Error("version 5 passed")
	}
	r.close()
	if _, err := r.count(); err == nil {
		t.Error("counts are said to be right")
	}
}
