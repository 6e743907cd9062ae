package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWhoActs(t *testing.T) {
	nobody := context.Background()
	ann := As(nobody, Actor{Name: "ann", Role: "operator", Via: "token", From: "192.0.2.7:4000"})
	for name, c := range map[string]struct {
		ctx   context.Context
		actor string
		want  Entry
	}{
		"a person":                        {ann, "ann", Entry{Actor: "ann", Role: "operator", Via: "token", From: "192.0.2.7:4000"}},
		"whoever orders":                  {ann, "", Entry{Actor: "ann", Role: "operator", Via: "token", From: "192.0.2.7:4000"}},
		"Helenus while a person orders":   {ann, Self, Entry{Actor: Self, From: Self}},
		"a guard while a person orders":   {ann, Guard, Entry{Actor: Guard, From: Guard}},
		"a calendar that a person wanted": {nobody, "calendar r-1", Entry{Actor: "calendar r-1", From: Self}},
		"nobody":                          {nobody, "", Entry{Actor: Self, From: Self}},
		"a person who is called helenus":  {As(nobody, Actor{Name: Self, Via: "bootstrap", From: "127.0.0.1:1"}), Self, Entry{Actor: Self, Via: "bootstrap", From: "127.0.0.1:1"}},
	} {
		if d := cmp.Diff(c.want, (Entry{}).By(c.ctx, c.actor)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestTrailIsReadByPages(t *testing.T) {
	ctx, s := context.Background(), open(t, t.TempDir())
	at := time.Unix(1000, 0).UTC()
	s.now = func() time.Time { at = at.Add(time.Minute); return at }
	for i := range 6 {
		must(t, s.Decide(ctx, "note", "n", i, Entry{Actor: []string{"ann", "bob"}[i%2], Action: []string{"approve", "token.create", "tokens"}[i%3],
			Target: []string{"r-1", "r-1.2", "r-10"}[i%3], Before: "open", After: fmt.Sprint(i), Despite: []string{"C6:77e0", "C20:4ad1"}}))
	}
	for name, c := range map[string]struct {
		q    AuditQuery
		want string
	}{
		"all":               {AuditQuery{}, "6 5 4 3 2 1"},
		"a page":            {AuditQuery{Limit: 2}, "6 5"},
		"the next":          {AuditQuery{Limit: 2, Before: 5}, "4 3"},
		"the last":          {AuditQuery{Limit: 2, Before: 1}, ""},
		"a change's parts":  {AuditQuery{Change: "r-1"}, "5 4 2 1"},
		"one part":          {AuditQuery{Change: "r-1.2"}, "5 2"},
		"none":              {AuditQuery{Change: "r-"}, ""},
		"an actor":          {AuditQuery{Actor: "bob"}, "6 4 2"},
		"an action":         {AuditQuery{Action: "approve"}, "4 1"},
		"a family":          {AuditQuery{Action: "token"}, "5 2"},
		"from a moment":     {AuditQuery{From: time.Unix(1000, 0).Add(5 * time.Minute)}, "6 5"},
		"to a moment":       {AuditQuery{To: time.Unix(1000, 0).Add(3 * time.Minute)}, "2 1"},
		"no SQL in a value": {AuditQuery{Actor: "' OR 1 --"}, ""},
	} {
		got, err := s.Audit(ctx, c.q)
		must(t, err)
		var seqs []string
		for _, e := range got {
			seqs = append(seqs, fmt.Sprint(e.Seq))
		}
		if is := strings.Join(seqs, " "); is != c.want {
			t.Errorf("%s: lines %q, not %q", name, is, c.want)
		}
	}
	got, err := s.Audit(ctx, AuditQuery{Limit: 1})
	must(t, err)
	want := []Entry{{Seq: 6, At: time.Unix(1360, 0).UTC(), Actor: "bob", Action: "tokens", Target: "r-10", Before: "open", After: "5", Despite: []string{"C6:77e0", "C20:4ad1"}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestTrailIsAppendOnly(t *testing.T) {
	ctx, s := context.Background(), open(t, t.TempDir())
	must(t, s.Append(ctx, Entry{Actor: "ann", Action: "drop"}))
	for _, text := range []string{"UPDATE audit SET actor = 'bob'", "DELETE FROM audit", "INSERT OR REPLACE INTO audit SELECT seq, at, 'bob', role, via, origin, action, target, reason, before, after, despite FROM audit"} {
		_, err := s.db.ExecContext(ctx, text)
		if list, _ := s.Audit(ctx, AuditQuery{}); len(list) != 1 || list[0].Actor != "ann" {
			t.Errorf("after %s (%v) the trail is %v", text, err, list)
		}
		if err == nil {
			t.Errorf("%s was carried out", text)
		}
	}
}

// TestDecisionAndLineAreOne: neither is there without the other.
func TestDecisionAndLineAreOne(t *testing.T) {
	ctx, s := context.Background(), open(t, t.TempDir())
	if err := s.Commit(ctx, Change{Save: []Document{{Kind: "note", ID: "a", Raw: json.RawMessage("{")}}, Audit: []Entry{{Actor: "ann"}}}); err == nil {
		t.Fatal("broken JSON was stored")
	}
	if list, err := s.Audit(ctx, AuditQuery{}); err != nil || len(list) > 0 {
		t.Errorf("the trail tells of what did not happen: %v, %v", list, err)
	}
	must(t, s.Append(ctx, Entry{Reason: strings.Repeat("ü", maxReason)}))
	if list, err := s.Audit(ctx, AuditQuery{}); err != nil || len(list[0].Reason) > maxReason+4 || !strings.HasSuffix(list[0].Reason, "ü…") {
		t.Errorf("a long reason: %v", err)
	}
}

// TestTrailOfEarlierVersions: what the documents of version 2 say of who decided is not lost.
func TestTrailOfEarlierVersions(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(dir, File))
	must(t, err)
	_, err = db.Exec(steps[0].tables + steps[1].tables + fmt.Sprintf("PRAGMA user_version = 2; PRAGMA application_id = %d;", application))
	must(t, err)
	for i, d := range []Document{
		{Kind: "migration", ID: "r-1", Raw: json.RawMessage(`{"id":"r-1","state":"created","events":[{"time":"2026-01-02T00:00:00Z","state":"approved","actor":"ann","text":"approved"},{"time":"2026-01-04T00:00:00Z","state":"created","text":"entered created"}]}`)},
		{Kind: "recommendations", ID: "book", Raw: json.RawMessage(`{"version":1,"entries":[{"id":"r-1","state":"approved","actor":"ann","state_since":"2026-01-01T00:00:00Z"},{"id":"r-2","state":"open","state_since":"2026-01-01T00:00:00Z"},{"id":"r-3","state":"rejected","state_reason":"no","actor":"bob","state_since":"2026-01-03T00:00:00Z"}]}`)},
		{Kind: "bypass", ID: "bypass", Raw: json.RawMessage(`{"on":true,"actor":"eve","since":"2026-01-05T00:00:00Z"}`)},
		{Kind: "owner", ID: "owner", Raw: json.RawMessage(`"abc"`)},
	} {
		d.Version = int64(i + 1)
		_, err := db.Exec("INSERT INTO documents VALUES (?, ?, ?, 5, ?, ?)", d.Kind, d.ID, d.Version, []byte(d.Raw), d.sum())
		must(t, err)
	}
	must(t, db.Close())
	s, told := beginIn(t, dir)
	if len(*told) > 0 {
		t.Fatal(*told)
	}
	list, err := s.Audit(ctx, AuditQuery{})
	must(t, err)
	var got []string
	for _, e := range list {
		got = append(got, fmt.Sprintf("%s %s %s [%s] %s > %s, %s", e.At.Format("02"), e.Actor, e.Target, e.Reason, e.Before, e.After, e.From))
	}
	want := []string{
		"05 eve bypass []  > on, earlier version",
		"04 helenus r-1 [entered created] approved > created, earlier version",
		"03 bob r-3 [no]  > rejected, earlier version",
		"02 ann r-1 [approved]  > approved, earlier version",
		"01 ann r-1 []  > approved, earlier version",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	var owner string
	if err := s.Load(ctx, "owner", "owner", &owner); err != nil || owner != "abc" {
		t.Errorf("a document of before: %q, %v", owner, err)
	}
}

// TestDamageBeforeMigrationIsFound: that the file gets new tables does not make a damaged document a sound one.
func TestDamageBeforeMigrationIsFound(t *testing.T) {
	dir := t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(dir, File))
	must(t, err)
	_, err = db.Exec(steps[0].tables + steps[1].tables + fmt.Sprintf("PRAGMA user_version = 2; PRAGMA application_id = %d;", application) +
		`INSERT INTO documents VALUES ('note', 'a', 3, 5, '{"n": 9}', 'another')`)
	must(t, err)
	must(t, db.Close())
	s, told := beginIn(t, dir)
	if len(*told) != 1 || (*told)[0].Aside == "" {
		t.Fatalf("told %v", *told)
	}
	list, err := s.Audit(context.Background(), AuditQuery{})
	if err != nil || len(list) != 1 || list[0].Action != "state.lost" || list[0].Actor != Guard {
		t.Errorf("the new trail begins with %v, %v", list, err)
	}
}

// Who watches is told of lines once they are written, and of none that is not.
func TestTrailIsWatched(t *testing.T) {
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var seen []string
	s.Watch(func(all []Entry) {
		for _, e := range all {
			lines, err := s.Audit(t.Context(), AuditQuery{Change: e.Target})
			if err != nil || !slices.ContainsFunc(lines, func(l Entry) bool { return l.Action == e.Action }) {
				t.Errorf("%s is told of, and not there: %v, %v", e.Action, lines, err)
			}
			seen = append(seen, e.Action+" "+e.Target)
		}
	})
	if err := s.Decide(t.Context(), "migration", "r-1", 1, Entry{Action: "approve", Target: "r-1"}, Entry{Action: "begin", Target: "r-1"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(t.Context(), "migration", "r-1", 2); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(t.Context(), Change{Save: []Document{{Kind: "k", ID: "i", Raw: []byte("{")}}, Audit: []Entry{{Action: "lost", Target: "r-2"}}}); err == nil {
		t.Error("what is no JSON was written")
	}
	if got := strings.Join(seen, ", "); got != "approve r-1, begin r-1" {
		t.Error(got)
	}
}
