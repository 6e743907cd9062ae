package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/feed"
	"github.com/helenus-db/helenus/capture/profile"
	"github.com/helenus-db/helenus/capture/schema"
)

// shuffled is the same knowledge in another order: members of a fleet put theirs together as it comes.
func shuffled(s *capture.Snapshot, stats []schema.Stats, random *rand.Rand) (*capture.Snapshot, []schema.Stats) {
	own := *s
	own.Statements = mixed(s.Statements, random)
	own.Feeds, own.Echoes = mixed(s.Feeds, random), mixed(s.Echoes, random)
	own.Bursts, own.Templates = mixed(s.Bursts, random), mixed(s.Templates, random)
	for i := range own.Bursts {
		own.Bursts[i].Equal = mixed(own.Bursts[i].Equal, random)
	}
	document := profile.Document{}
	for _, e := range s.Profiles.Epochs {
		e.Columns, e.Keys = mixed(e.Columns, random), mixed(e.Keys, random)
		for i := range e.Keys {
			e.Keys[i].Rows = mixed(e.Keys[i].Rows, random)
		}
		document.Epochs = append(document.Epochs, e)
	}
	own.Profiles = &document
	return &own, mixed(stats, random)
}

func mixed[T any](list []T, random *rand.Rand) []T {
	out := slices.Clone(list)
	random.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// renamed is the same knowledge with other fingerprints, in the order of these.
func renamed(s *capture.Snapshot, salt string) *capture.Snapshot {
	name := func(fingerprint string) string {
		h := fnv.New64a()
		fmt.Fprint(h, salt, fingerprint)
		return fmt.Sprintf("%016x%s", h.Sum64()*0x9E3779B97F4A7C15, fingerprint[16:])
	}
	own := *s
	own.Statements = slices.Clone(s.Statements)
	for i := range own.Statements {
		own.Statements[i].Fingerprint = name(own.Statements[i].Fingerprint)
	}
	slices.SortFunc(own.Statements, func(a, b capture.Statement) int { return strings.Compare(a.Fingerprint, b.Fingerprint) })
	ends := func(list []feed.Feed) []feed.Feed {
		list = slices.Clone(list)
		for i := range list {
			list[i].From.Fingerprint, list[i].To.Fingerprint = name(list[i].From.Fingerprint), name(list[i].To.Fingerprint)
		}
		return list
	}
	own.Feeds, own.Echoes = ends(s.Feeds), ends(s.Echoes)
	own.Bursts = slices.Clone(s.Bursts)
	for i := range own.Bursts {
		own.Bursts[i].From, own.Bursts[i].To = name(own.Bursts[i].From), name(own.Bursts[i].To)
	}
	own.Templates = slices.Clone(s.Templates)
	for i := range own.Templates {
		own.Templates[i].Writes = slices.Clone(own.Templates[i].Writes)
		for k := range own.Templates[i].Writes {
			m := &own.Templates[i].Writes[k]
			m.Fingerprint = name(m.Fingerprint)
		}
	}
	return &own
}

// TestOrderSaysNothing: the same knowledge in any order gives the same model, to the letter.
func TestOrderSaysNothing(t *testing.T) {
	for _, v := range []variant{
		{&applications[0], "denormalised", false, 8, 1}, {&applications[2], "messy", true, 64, 1}, {&applications[5], "random", false, 8, 1},
		{&market, "grown, random", false, 8, 1}, {&league, "grown", false, 8, 1}, {&courier, "grown, odd", false, 8, 1}, {&stream, "grown, random", false, 8, 1}, {&papers, "grown, random", false, 8, 1},
	} {
		o := v.observe()
		said := func(s *capture.Snapshot, stats []schema.Stats) (structure, whole string) {
			m, err := infer.WithCorrections(s, o.schema, stats, nil)
			if err != nil {
				t.Fatalf("%s: %v", v, err)
			}
			d := m.Describe()
			all, err := json.MarshalIndent(d, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			file, err := m.File()
			if err != nil {
				t.Fatalf("%s: %v", v, err)
			}
			var lines []string
			for _, r := range d.Relationships {
				lines = append(lines, fmt.Sprint("relationship ", r.Name, " ", r.From, ".", r.Forward, " ", r.To, ".", r.Backward, " ", r.Kind, " ", r.Column, " ", r.Confidence))
			}
			for _, e := range d.Entities {
				lines = append(lines, fmt.Sprint("entity ", e.Name, " ", e.Tables, e.Key, e.Attributes, e.Confidence))
			}
			for _, x := range d.Tables {
				lines = append(lines, fmt.Sprint("table ", x.Name, " ", x.Holds, " ", x.Path))
			}
			for _, j := range d.Joins {
				lines = append(lines, fmt.Sprintf("join %s %s %q %q %v %.6f", j.From, j.To, j.Producer, j.Consumer, j.Accepted, j.Share))
			}
			for _, x := range d.Workload {
				lines = append(lines, fmt.Sprintf("statement %.6f of %d", x.Weight, len(x.Uses))) // in which order it selects is by fingerprints
			}
			slices.Sort(lines)
			return strings.Join(lines, "\n"), string(all) + file
		}
		structure, whole := said(o.snapshot, o.stats)
		random := rand.New(rand.NewPCG(v.seed, 5)) // #nosec G404 -- a test of ours
		for n := range 4 {
			s, stats := shuffled(o.snapshot, o.stats, random)
			if _, again := said(s, stats); again != whole {
				t.Errorf("%s: in another order another model:\n%s", v, apart(whole, again))
				break
			}
			if again, _ := said(renamed(o.snapshot, fmt.Sprint(n)), o.stats); again != structure {
				t.Errorf("%s: with other fingerprints another model:\n%s", v, apart(structure, again))
				break
			}
		}
	}
}

// apart are the lines that one text has and the other has not.
func apart(one, other string) string {
	var out []string
	a, b := strings.Split(one, "\n"), strings.Split(other, "\n")
	for _, x := range a {
		if !slices.Contains(b, x) {
			out = append(out, "- "+x)
		}
	}
	for _, x := range b {
		if !slices.Contains(a, x) {
			out = append(out, "+ "+x)
		}
	}
	return strings.Join(out[:min(len(out), 16)], "\n")
}

// TestOrderAdvisesNothing: the same feeds, bursts and sizes in any order give the same advice.
func TestOrderAdvisesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 6)) // #nosec G404 -- a test of ours
	for _, v := range []variant{{&applications[0], "denormalised", false, 8, 1}, {&applications[5], "random", false, 8, 1}, {&outlet, "grown", false, 8, 1}} {
		o := v.observe()
		want := o.advise(t, o.snapshot)
		for range 2 {
			s, stats := shuffled(o.snapshot, o.stats, random)
			s.Statements = o.snapshot.Statements // which a snapshot has in the order of fingerprints, and finds by that
			other := *o
			other.stats = stats
			same(t, v.String(), want, other.advise(t, s))
		}
		if len(want.Recommendations) == 0 {
			t.Errorf("%s: no advice", v)
		}
	}
}
