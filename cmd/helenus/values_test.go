package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/burst"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/capture/value"
	"github.com/helenus-db/helenus/capture/window"
	"github.com/helenus-db/helenus/internal/config"
	"github.com/helenus-db/helenus/proxy"
)

func TestFlowsForPeople(t *testing.T) {
	all := []capture.Flow{{
		Feed: feed.Feed{From: feed.End{Table: "orders", Column: "buyer"}, To: feed.End{Table: "users", Column: "id\x1b[31m"}, Shape: feed.NPlusOne, Executions: 900, Hits: 880, Decoys: 3,
			Followed: 0.71, PerExecution: 4.04, LagP50: 1500, LagP99: 12_000, SupportRead: true, Use: feed.UseBy, By: "state", RowsFollowed: 0.304, Repeated: 0.14},
		ID: "f-12345678", Chain: true, Saved: 1234.4, FromText: "SELECT buyer FROM orders WHERE shop = ?", ToText: "SELECT name FROM users WHERE id = ?",
	}, {ID: "f-2"}}
	var out bytes.Buffer
	if err := printFlows(&out, all, 1, true); err != nil {
		t.Fatal(err)
	}
	want := `FLOW        FROM          TO                 SHAPE                   SUPPORT     CHANCE  FOLLOWED  VALUES  ROWS  LAG MS  P99 MS  SAVES
f-12345678  orders.buyer  "users.id\x1b[31m"  n+1, chain, for a write  880 of 900       3  71 %      4.0  30 % by state; again 14 %   1.50    12.0    1234

f-12345678
  SELECT buyer FROM orders WHERE shop = ?
  SELECT name FROM users WHERE id = ?
1 of 2 flows; --limit 0 lists all
`
	if got := out.String(); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
		t.Errorf("%s", got)
	}
	for want, f := range map[string]capture.Flow{
		"check, race -":                                             {Feed: feed.Feed{Shape: feed.Check, Race: true}},
		"check row 2 %, none 97 %":                                  {Feed: feed.Feed{Shape: feed.Check, Outcome: &feed.Outcome{When: feed.WhenNoRow, Found: 200, FoundFollowed: 4, Empty: 100, EmptyFollowed: 97}}},
		"read-modify-write, race sets balance, seen":                {Feed: feed.Feed{From: feed.End{Bound: true}, Shape: feed.ReadModifyWrite, SupportRead: true, Race: true, Change: &feed.Change{Columns: []string{"balance", "seen"}}}},
		"single, for a write to the same row, race all; sets state": {Feed: feed.Feed{Shape: feed.Single, SupportRead: true, Race: true, Use: feed.UseAll, Change: &feed.Change{Columns: []string{"state"}}}},
		"n+1 first 50 %":                                            {Feed: feed.Feed{Shape: feed.NPlusOne, Use: feed.UseFirst, RowsFollowed: 0.5}},
		"n+1 48 %":                                                  {Feed: feed.Feed{Shape: feed.NPlusOne, Use: feed.UseSome, RowsFollowed: 0.48}},
	} {
		if got := shapeText(&f) + " " + rowsText(&f.Feed); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	out.Reset()
	if err := printFlows(&out, nil, 0, false); err != nil || !strings.Contains(out.String(), "sampling") {
		t.Error(out.String())
	}
}

func TestSamplingForPeople(t *testing.T) {
	for want, s := range map[string]window.Statistics{
		"off: no value is looked at. 7 exchanges": {Observed: 7}, "is on. ": {On: true}, "on, and a window is open. ": {On: true, Open: true},
	} {
		var out bytes.Buffer
		if err := printSampling(&out, s); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%q in %s", want, out.String())
		}
	}
}

// TestReplay: a recording is mined without a process, and what is no recording is refused.
func TestReplay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace.gz")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	w, err := trace.NewWriter(f, 1)
	if err != nil {
		t.Fatal(err)
	}
	column := func(table, name string) []proxy.Column {
		return []proxy.Column{{Keyspace: "k", Table: table, Name: name, Type: proxy.Type{Code: 9}}}
	}
	from := &trace.Statement{Fingerprint: "a", Keyspace: "k", Table: "orders", Results: column("orders", "buyer")}
	order := &trace.Statement{Fingerprint: "c", Keyspace: "k", Table: "parcels", Write: true, Variables: column("parcels", "id")}
	line := &trace.Statement{Fingerprint: "d", Keyspace: "k", Table: "stock", Write: true, Variables: column("stock", "parcel")}
	to := &trace.Statement{Fingerprint: "b", Keyspace: "k", Table: "users", Variables: column("users", "id")}
	h := value.Hasher{}
	for i := range int64(500) {
		v, u := h.Of(value.Integer, binary.BigEndian.AppendUint64(nil, uint64(i)*7919)), h.Of(value.Integer, binary.BigEndian.AppendUint64(nil, uint64(i)*7907+1<<40))
		for _, e := range []*trace.Execution{
			{Statement: from, Start: i * 20e6, End: i*20e6 + 1e6, Rows: 1, Cells: []value.Value{v}}, {Statement: to, Start: i*20e6 + 2e6, End: i*20e6 + 3e6, Binds: []value.Value{v}},
			{Statement: order, Start: i*20e6 + 4e6, End: i*20e6 + 5e6, Binds: []value.Value{u}}, {Statement: line, Start: i*20e6 + 6e6, End: i*20e6 + 7e6, Binds: []value.Value{u}},
		} {
			if err := w.Add(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		c := root()
		c.SetArgs(args)
		c.SetOut(&out)
		err := c.Execute()
		return out.String(), err
	}
	text, err := run("capture", "replay", file)
	if err != nil || !strings.Contains(text, "2000 executions; 4 columns; 1 pairs") || !strings.Contains(text, "times: parcels x1.0 (c), stock x1.0 (d); 100 % in this order, 100 %") || !strings.Contains(text, "orders.buyer  users.id") {
		t.Errorf("%s %v", text, err)
	}
	if text, err = run("capture", "replay", "--json", file); err != nil || !strings.Contains(text, `"feeds":[{"from":{"fingerprint":"a"`) {
		t.Errorf("%s %v", text, err)
	}
	if err := os.WriteFile(file, []byte("no trace"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = run("capture", "replay", file); err == nil || exitCode(err) != exitFailed {
		t.Errorf("no trace: %v", err)
	}
	if _, err = run("capture", "replay", filepath.Join(t.TempDir(), "none")); exitCode(err) != exitUsage {
		t.Errorf("no file: %v", err)
	}
}

func TestTemplatesForPeople(t *testing.T) {
	writes := []burst.Member{{Fingerprint: "0123456789", Table: "tweets", Mean: 1}, {Fingerprint: "ab", Table: "time\x1bline", Mean: 3.24}}
	var out bytes.Buffer
	if err := printTemplates(&out, []burst.Template{
		{Writes: writes, Count: 40, Ordered: 0.98, Waited: 0.5}, {Writes: writes[:1], Count: 40, Batched: 40}, {Writes: writes[:1], Count: 40, Batched: 10, Ordered: 1},
	}); err != nil {
		t.Fatal(err)
	}
	want := `written together 40 times: tweets x1.0 (01234567), "time\x1bline" x3.2 (ab); 98 % in this order, 50 % one after the other was answered
written together 40 times: tweets x1.0 (01234567); in one BATCH
written together 40 times: tweets x1.0 (01234567); 10 in one BATCH, of the others 100 % in this order, 0 % one after the other was answered
`
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
}

// TestSettingsReachTheWindows: what is set is what package window is told.
func TestSettingsReachTheWindows(t *testing.T) {
	s := config.Defaults()
	s.SampleValues, s.NeverSample, s.LiteralsAllowed, s.SampleSecret = false, []string{"k.t.c"}, []string{"k.t"}, "secret"
	o := sampling(s)
	if !o.Off || o.Never[0] != "k.t.c" || o.LiteralsAllowed[0] != "k.t" || o.Secret != "secret" || o.Rotation.Hours() != 24 || o.Retention.Hours() != 720 {
		t.Errorf("%+v", o)
	}
	s.NeverSample = []string{"password"}
	if err := s.Validate(); err == nil || !strings.Contains(err.Error(), "never-sample") {
		t.Errorf("%v", err)
	}
}
