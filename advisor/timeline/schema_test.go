package timeline

import (
	"reflect"
	"testing"

	"github.com/helenus-db/helenus/internal/schematest"
)

// described says what the keys of timeline.json mean that do not say it themselves, by path.
var described = map[string]string{
	"cost_model":               "what was made least",
	"unit":                     "of all costs, which are over whole steps: rates times their length",
	"status":                   "optimal: proven, in mode pruned of the promising candidates; feasible: bound and gap say what may be missing",
	"cost":                     "of all steps and changes",
	"bound":                    "no calendar of the candidates that were looked at costs less",
	"gap":                      "(cost - bound) / cost",
	"mode":                     "pruned: promising candidates alone; exact: all",
	"space":                    "bytes that new tables may take at each step; absent: no limit",
	"space_full":               "bytes of the best design for the mean weights without a limit",
	"promising":                "candidates that pruning left",
	"local_programs":           "of the workload summary tree",
	"rounds":                   "how often it was solved until the migrations' prices were those of their plans",
	"truncated":                "what limits have cut off: there may be better calendars beyond",
	"elapsed_ms":               "by phase, and total; the only part that differs between runs",
	"steps.step":               "from 0",
	"steps.cost":               "of the statements, over the step",
	"steps.migration_cost":     "of coming from the step before",
	"steps.bytes":              "of the new tables",
	"steps.created":            "tables that the step before had not",
	"steps.dropped":            "tables of the step before that are gone",
	"steps.tables.existing":    "the table is the application's own",
	"steps.tables.notation":    "[partition][clustering][values]",
	"steps.tables.path":        "the relationships that its rows join",
	"steps.plans.rate":         "executions per second",
	"steps.plans.cost":         "of one execution",
	"steps.plans.total":        "over the step",
	"steps.plans.kind":         "view: one table is read; join: several; write",
	"steps.plans.tables":       "that are read, or changed by a write",
	"steps.plans.changed":      "other tables than in the step before",
	"steps.migrations.query":   "of which the sources are a plan",
	"steps.migrations.of":      "the statement that it is made of; absent: the complement by the target's partition key",
	"steps.migrations.sources": "tables of the step before that are read whole, and the fields by which their rows are joined to those before",
	"steps.migrations.plan":    "reads the target's rows without parameters; absent: the sources are scanned and joined in the client",
	"steps.migrations.extract": "reading the sources",
	"steps.migrations.load":    "writing the target",
	"steps.migrations.keep":    "keeping it true meanwhile",
	"steps.migrations.seconds": "estimated",
	"baselines.less":           "by what share of it the calendar costs less; below 0: more",
	"baselines.steps":          "cost by step",
	"baselines.proven":         "nothing of its kind is cheaper",
}

// TestSchema compares the published JSON Schema with what is written. UPDATE_SCHEMA=1 writes it.
func TestSchema(t *testing.T) {
	schematest.Check(t, "../../docs/schema/timeline.json", "Helenus timeline", reflect.TypeFor[calendarJSON](), described)
}
