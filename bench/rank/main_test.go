package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/solve/coin"
	"github.com/helenus-db/helenus/internal/cassandra/cassandratest"
)

// asRank makes the test binary the program itself, so that a test can kill it.
const asRank = "HELENUS_TEST_AS_RANK"

func TestMain(m *testing.M) {
	coin.ServeIfWorker()
	if os.Getenv(asRank) != "" {
		os.Exit(execute(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// small is a workload that takes no time: two entities, a query over both, a write.
const small = `name: small
model:
  entities:
  - {name: Hotel, count: 100, key: [hotel_id], attributes: [{name: hotel_id, type: uuid}, {name: city, type: text, distinct: 10}, {name: select, type: text}]}
  - {name: Room, count: 1000, key: [room_id], attributes: [{name: room_id, type: uuid}, {name: rate, type: double}]}
  - {name: Owner, count: 10, key: [owner_id], attributes: [{name: owner_id, type: uuid}]}
  relationships:
  - {name: room_hotel, from: Room, to: Hotel, kind: "n:1", forward: hotel, backward: rooms}
  - {name: hotel_owner, from: Hotel, to: Owner, kind: "n:1", forward: owner, backward: hotels}
  - {name: room_owner, from: Room, to: Owner, kind: "n:1", forward: owner, backward: rooms}
mixes: [day, night]
statements:
- {id: rates, text: "SELECT Room.rate, Hotel.select FROM Room.hotel WHERE Hotel.city = ?", weights: {day: 10, night: 1}}
- {id: reprice, text: "UPDATE Room SET rate = ? WHERE Room.room_id = ?", weights: {day: 1, night: 10}}
`

func written(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "small.yaml")
	if err := os.WriteFile(name, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestBadInput(t *testing.T) {
	file := written(t)
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no file":            {nil, 2, "it takes one FILE"},
		"no such file":       {[]string{"nowhere.yaml"}, 1, "nowhere.yaml"},
		"no time to measure": {[]string{"-for", "0s", file}, 2, "is no time to measure in"},
		"nothing to measure": {[]string{"-rows", "0", file}, 2, "0 is not a number of entities"},
		"no option":          {[]string{"-top", "0", file}, 2, "0 is not a number of options"},
		"an unknown score":   {[]string{"-score", "simpel", file}, 2, `nearest is "simple"`},
		"an unknown mix":     {[]string{"-mix", "dya", file}, 1, "-mix"},
		"no Cassandra":       {[]string{"-contact-point", "127.0.0.1:1", file}, 5, "no Cassandra answers"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, said bytes.Buffer
			if code := execute(t.Context(), c.args, &out, &said); code != c.code || !strings.Contains(said.String(), c.want) || out.Len() > 0 {
				t.Errorf("exit %d, want %d: %s\nwant %s; printed %q", code, c.code, said.String(), c.want, out.String())
			}
		})
	}
}

// TestMeasure measures the best options of a small workload on a real Cassandra (B-52), and leaves nothing behind.
func TestMeasure(t *testing.T) {
	point := cassandratest.ContactPoints(t)[0]
	var out, said bytes.Buffer
	if code := execute(t.Context(), []string{"-json", "-top", "2", "-rows", "100", "-for", "1s", "-contact-point", point, written(t)}, &out, &said); code != 0 {
		t.Fatalf("exit %d: %s", code, said.String())
	}
	var m Measured
	if err := json.Unmarshal(out.Bytes(), &m); err != nil {
		t.Fatal(err)
	}
	if len(m.Options) != 3 || m.Tau == nil || m.Requests == 0 {
		t.Fatalf("%+v", m)
	}
	if m.Costs == nil || m.Costs.Key <= 0 || m.Costs.Index <= 0 || m.Costs.Byte < 0 || m.Apart > 3 { // B-40, B-41
		t.Errorf("costs %+v, %d pairs apart", m.Costs, m.Apart)
	}
	for i, o := range m.Options {
		if o.Computed != i+1 || o.Measured < 1 || o.Measured > 3 || o.MeanMs <= 0 || o.ErrorMs <= 0 || len(o.Requests) == 0 {
			t.Errorf("%+v", o)
		}
	}
	if left := measuring(t); len(left) > 0 {
		t.Errorf("keyspaces %q are left behind", left)
	}
}

// TestKilled: B-52. What a measurement that was killed (kill -9) has left behind, the next one drops.
func TestKilled(t *testing.T) {
	args := []string{"-top", "1", "-rows", "50", "-contact-point", cassandratest.ContactPoints(t)[0], "-for"}
	file := written(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, append(args, "5m", file)...) //nolint:gosec // ourselves
	cmd.Env = append(os.Environ(), asRank+"=1")
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	measures := false
	late := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	for lines := bufio.NewScanner(out); !measures && lines.Scan(); {
		measures = strings.HasPrefix(lines.Text(), "measuring")
	}
	late.Stop()
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if !measures {
		t.Fatal("it never measured")
	}
	if left := measuring(t); len(left) != 4 { // the pulse, the costs, the option and the design
		t.Errorf("the killed one has left %q", left)
	}
	var said bytes.Buffer
	if code := execute(t.Context(), append(args, "1s", file), &said, &said); code != 0 {
		t.Errorf("exit %d: %s", code, said.String())
	}
	if left := measuring(t); len(left) > 0 {
		t.Errorf("keyspaces %q are left behind", left)
	}
}

// measuring are the keyspaces of measurements.
func measuring(t *testing.T) (names []string) {
	t.Helper()
	session, _ := cassandratest.Keyspace(t)
	rows := session.Query("SELECT keyspace_name FROM system_schema.keyspaces").Iter()
	for name := ""; rows.Scan(&name); {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	if err := rows.Close(); err != nil {
		t.Error(err)
	}
	return names
}
