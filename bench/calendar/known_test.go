package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A calendar that is kept in a file is found in it again, with its rivals, what they cost and how tables are filled; one that was designed by other
// flags, or is damaged, is refused.
func TestCalendarIsKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "calendar.json")
	o := options{file: "../../examples/designs/market.yaml", rows: 2000, share: 0.7, exact: true, kept: file}
	designed := func(o options) (*bench, error) {
		b := &bench{options: o, out: &bytes.Buffer{}, begun: time.Now()}
		return b, b.design(t.Context())
	}
	said := func(b *bench) string {
		var list []string
		for _, s := range b.calendar.Steps {
			for _, p := range s.Plans {
				list = append(list, fmt.Sprintf("step %d: %s from %v for %.9g", s.Number, p.Statement.Statement.ID, p.Tables, p.Total))
			}
			for _, m := range s.Migrations {
				list = append(list, fmt.Sprintf("step %d: %s, %s, from %v for %.9g and %.9g", s.Number, m.Table, m.Target.ID(), m.Sources[0].Table.ID(), m.Extract, m.Load))
			}
			for _, name := range s.Dropped {
				list = append(list, fmt.Sprintf("step %d: %s is dropped", s.Number, name))
			}
		}
		for _, x := range b.rivals {
			for i, e := range x.designs {
				for _, table := range e.Tables {
					list = append(list, fmt.Sprintf("%s, design %d of %v: %s", x.name, i, x.at, table.ID()))
				}
			}
		}
		slices.Sort(list)
		return strings.Join(list, "\n")
	}
	first, err := designed(o)
	if err != nil {
		t.Fatal(err)
	}
	again, err := designed(o)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(said(first), said(again)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(first.report.Said, again.report.Said); d != "" || len(again.rivals) != len(baselines) || again.report.Bound != first.report.Bound {
		t.Errorf("%s, %d rivals, %g and %g", d, len(again.rivals), again.report.Bound, first.report.Bound)
	}
	other := o
	other.rows = 3000
	var misuse *usageError
	if _, err := designed(other); !errors.As(err, &misuse) || !strings.Contains(err.Error(), "was designed by") {
		t.Errorf("for other data: %v", err)
	}
	other = o
	other.kept = o.file
	if _, err := designed(other); !errors.As(err, &misuse) || !strings.Contains(err.Error(), "-calendar: ../../examples/designs/market.yaml") {
		t.Errorf("no calendar at all: %v", err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	k := known{}
	if err := json.Unmarshal(text, &k); err != nil {
		t.Fatal(err)
	}
	k.Rivals[0].Steps[0] = 1 // it has one design
	if text, err = json.Marshal(k); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := designed(o); !errors.As(err, &misuse) || !strings.Contains(err.Error(), "static average has not one of its 1 designs") {
		t.Errorf("a design that is not there: %v", err)
	}
}
