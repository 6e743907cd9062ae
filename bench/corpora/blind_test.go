package main

import (
	"testing"

	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/internal/long"
)

// bare is what is known before any traffic was captured: schema and statements, and sizes, if they were measured.
func (o *observed) bare(measured bool) *observed {
	s := *o.snapshot
	s.Feeds, s.Echoes, s.Bursts, s.Templates, s.Profiles = nil, nil, nil, nil, nil
	out := &observed{site: o.site, snapshot: &s, schema: o.schema}
	if measured {
		out.stats = o.stats
	}
	return out
}

// TestBlindApplications: applications that were written before what is inferred of them was looked at. Kinds of what was missed were mended, so that they are tuned to now. From traffic little that is
// false is said of them: pairs one end of which is called by several columns are entities; by names and types alone their entities are found, and the relationships that names tell.
func TestBlindApplications(t *testing.T) {
	long.Only(t, "a third of a minute; TestEverydaySchemasAreUnderstood has plainer ones")
	for _, c := range []struct {
		app                                 *application
		traffic, sizes, bare                float64 // entities by key and tables
		related, relatedSizes, relatedNames float64
		precise                             float64 // feeds; some of the last four are true, of values that the corpus takes to come from outside
	}{
		{&freight, 1, 1, 1, 1, 0.9, 0.9, 0.98}, {&clinica, 1, 1, 1, 1, 0.9, 0.9, 0.98}, {&arena, 0.95, 0.95, 0.85, 0.9, 0.75, 0.7, 0.98}, {&payroll, 1, 0.95, 0.95, 0.95, 0.8, 0.8, 0.98}, {&boxoffice, 1, 1, 1, 1, 0.75, 0.75, 0.98},
		{&clicks, 1, 0.9, 0.9, 1, 0.95, 0.95, 0.98}, {&cookbook, 1, 0.85, 0.75, 0.95, 0.75, 0.6, 0.96}, {&labor, 1, 1, 1, 0.95, 0.9, 0.9, 0.96}, {&giro, 1, 1, 0.85, 1, 0.9, 0.8, 0.96}, {&helpdesk, 0.9, 0.9, 0.8, 0.9, 0.75, 0.7, 0.96},
	} {
		o := variant{c.app, "grown", false, 8, 1}.observe()
		for _, known := range []struct {
			what              string
			of                *observed
			entities, related float64
		}{{"traffic", o, c.traffic, c.related}, {"sizes", o.bare(true), c.sizes, c.relatedSizes}, {"names", o.bare(false), c.bare, c.relatedNames}} {
			m, err := infer.WithCorrections(known.of.snapshot, known.of.schema, known.of.stats, nil)
			if err != nil {
				t.Fatalf("%s by %s: %v", c.app.name, known.what, err)
			}
			if s := o.score(m); s.byTables.f1() < known.entities || s.relationships.f1() < known.related || known.of == o && (s.feeds.precision() < c.precise || s.feeds.recall() < 0.9) {
				t.Errorf("%s by %s: %s\n%v", c.app.name, known.what, s, s.notes)
			}
		}
	}
}
