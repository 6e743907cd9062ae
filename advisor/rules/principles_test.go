package rules

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/cost"
	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// TestD20JoinAgainstCopy: of an actor in 10 videos, tables without copies take 1 + 10 requests, one with copies takes 1; by D-19 it
// is written in more places instead.
func TestD20JoinAgainstCopy(t *testing.T) {
	const tables = `tables:
- {name: videos_of_actor, paths: [Actor.videos], partition: [Actor.actor_name], clustering: [Video.video_id]}
- {name: videos, partition: [Video.video_id], values: [Video.title]}
- {name: videos_by_actor, paths: [Actor.videos], partition: [Actor.actor_name], clustering: [Video.video_id], values: [Video.title]}
`
	w, err := workload.Read("videos.yaml", []byte(strings.Replace(videos, "degree: 3}", "degree: 1.5}", 1)+tables))
	if err != nil {
		t.Fatal(err)
	}
	s, err := workload.Parse(w.Graph, "SELECT Video.video_id, Video.title FROM Actor.videos WHERE Actor.actor_name = ?")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tables []*model.Table
		want   float64
		access Access
	}{{w.Tables[:2], 11, MultiTable}, {w.Tables[2:], 1, Partition}} {
		space, err := plan.NewSpace(s.Query, c.tables, nil)
		if err != nil {
			t.Fatal(err)
		}
		m := cost.Default()
		p, _ := space.Cheapest(func(a *plan.Arc) float64 {
			sum := 0.0
			for i := range a.Steps {
				sum += m.Step(&a.Steps[i], a.From == plan.SourceState && i == 0).Work
			}
			return sum
		}, func(*model.Table) bool { return true })
		if p == nil {
			t.Fatal("no plan")
		}
		requests := 0.0
		for i := range p.Steps {
			requests += p.Steps[i].Requests
		}
		if math.Abs(requests-c.want) > 0.1 || AccessOfPlan(p) != c.access {
			t.Errorf("%.2f requests, %s; want %.0f, %s:\n%s", requests, AccessOfPlan(p), c.want, c.access, p)
		}
	}
	rename, err := workload.Parse(w.Graph, "UPDATE Video SET title = ? WHERE Video.video_id = ?")
	if err != nil {
		t.Fatal(err)
	}
	if written := slices.DeleteFunc(slices.Clone(w.Tables), func(x *model.Table) bool { return !plan.Modifies(rename.Write, x) }); len(written) != 2 {
		t.Errorf("D-19: a copied title is written in %d tables, want 2", len(written))
	}
}

// TestD8Principles: the method knows the data (attributes and cardinalities that are not in the model are refused), knows the queries
// (another query makes another table), nests (rows of several entities in a partition) and duplicates (an entity's attributes in many).
func TestD8Principles(t *testing.T) {
	one := traced(t, "SELECT Actor.actor_name FROM Video.actors WHERE Video.video_id = ?")
	other := traced(t, "SELECT Video.video_id FROM Video.actors WHERE Actor.actor_name = ?")
	if !one.Match.Nesting || !one.Match.Duplication || one.Table.String() == other.Table.String() {
		t.Errorf("%+v %s, %s", one.Match, one.Table, other.Table)
	}
	w, err := workload.Read("videos.yaml", []byte(videos))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := workload.Parse(w.Graph, "SELECT Actor.shoe_size FROM Video.actors WHERE Video.video_id = ?"); err == nil {
		t.Error("a query over data that no one knows of")
	}
}

// TestD16NestedInto: the partition key names the entity that others are nested into, the clustering key those; D-15: clustering
// columns are what the patterns nest by.
func TestD16NestedInto(t *testing.T) {
	m := traced(t, "SELECT Video.title FROM User.videos WHERE User.user_id = ?").Match
	if m.From != "User" || !slices.Equal(m.Rows, []string{"Video"}) || !m.Nesting {
		t.Errorf("%+v", m)
	}
}

// TestD39OrderIsNoMatterOfPatterns: the pattern is the same whatever the answer is sorted by; the rules make another table.
func TestD39OrderIsNoMatterOfPatterns(t *testing.T) {
	plain := traced(t, "SELECT Video.title FROM User.videos WHERE User.user_id = ?")
	sorted := traced(t, "SELECT Video.title FROM User.videos WHERE User.user_id = ? ORDER BY Video.title DESC")
	if plain.Match.Pattern != sorted.Match.Pattern || plain.Table.String() == sorted.Table.String() {
		t.Errorf("%s %s, %s %s", plain.Match.Pattern, plain.Table, sorted.Match.Pattern, sorted.Table)
	}
}

// TestD52Matcher: for every query of the example workloads there is a pattern and a table, whose definition is CQL.
func TestD52Matcher(t *testing.T) {
	for _, name := range []string{"hotel", "twissandra", "killrvideo", "rubis"} {
		w, err := workload.Load("../../examples/designs/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		report := TraceAll(w)
		queries := 0
		for _, s := range w.Statements {
			if s.Query != nil {
				queries++
			}
		}
		if len(report.Traced) != queries {
			t.Errorf("%s: %d of %d queries", name, len(report.Traced), queries)
		}
		for _, x := range report.Traced {
			if PatternOf(x.Trace.Match.Pattern).ID == "" || !x.Trace.Match.Agrees() {
				t.Errorf("%s, %s: %+v", name, x.Statement.ID, x.Trace.Match)
			}
		}
	}
}
