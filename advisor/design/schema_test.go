package design

import (
	"reflect"
	"testing"

	"github.com/helenus-db/helenus/internal/schematest"
)

// described says what the keys of design.json mean that do not say it themselves, by path.
var described = map[string]string{
	"tables.collections":          "what belongs to many partners of an entity of the row: columns are a set of keys, and for each value a map from them",
	"tables.collections.of":       "Entity.role: there is an element for each of its partners",
	"cost_model":                  "what was made least",
	"unit":                        "of all costs; a total is this per second if weights are executions per second",
	"status":                      "optimal: proven; feasible: bound and gap say what may be missing",
	"cost":                        "sum of the statements' costs, each times its weight",
	"bound":                       "no choice of the candidates costs less",
	"gap":                         "(cost - bound) / cost",
	"bytes":                       "of the new tables, one copy, uncompressed",
	"before":                      "cost over the tables that are there; absent if they can not answer everything",
	"variables":                   "of the integer program, before any reduction",
	"constraints":                 "of the integer program, before any reduction",
	"safety_penalty":              "of cost: what --safety-penalty charges for writes to tables in which writers can meet",
	"tables.safety":               "whether several writers can meet in one partition, if that was asked for",
	"truncated":                   "what budgets have cut off: there may be better designs beyond",
	"elapsed_ms":                  "by phase, and total; the only part that differs between runs",
	"tables.existing":             "the table is there already",
	"tables.partition":            "Entity.attribute",
	"tables.values":               "other than the static ones",
	"tables.path":                 "the relationships that its rows join",
	"tables.notation":             "[partition][clustering][values]",
	"tables.cql":                  "statements that make it, for Cassandra 5.0; absent if it is there",
	"tables.base":                 "the table whose rows a look-up table's readers check",
	"tables.bucket.of":            "what the bucket is computed from; absent: there is one bucket",
	"tables.bucket.seconds":       "the width of a bucket of time; absent: hash buckets",
	"statements.cost":             "of one execution",
	"statements.latency":          "until it is done; the same as cost where the cost model knows no latency",
	"statements.steps.support_of": "the table for which this finds out what to change",
	"statements.steps.query":      "what the support query asks, with its first step",
	"statements.before":           "over the tables that are there",
	"robust":                      "of a design for several mixes: what each costs over the design of the least mean cost, and over that of the least greatest regret",
	"robust.design":               "which of them the tables, statements and costs are of: mean or worst; its weights are means",
	"robust.bound":                "no choice of the candidates has a smaller greatest regret",
	"robust.mixes.own":            "the cost with tables of the mix's own; a regret is a cost by this",
	"robust.mean.only":            "tables of this design and not of the other",
	"robust.worst.only":           "tables of this design and not of the other",
	"above_ceiling":               "writes that take longer than their ceiling: the search ended before it found a choice in which none does",
	"breaks_model":                "writes that may break what the model says, and plans rely on: that each entity has an attribute, or a partner",
	"breaks_model.reason":         "what would be missing",
	"breaks_model.always":         "each time that it runs; else only where there is something that it leaves without a partner",
	"trial":                       "what came of running the tables and plans on made entities, before and after the workload's own writes; absent: all answers were right",
	"trial.wrong":                 "counter-examples: do not carry the design out",
	"trial.wrong.with":            "the parameters that it was asked with",
	"trial.wrong.after":           "the write after which it answered so first; absent: before any",
	"trial.wrong.answered":        "rows, a few of them",
	"trial.wrong.right":           "a right answer",
	"trial.not_tried":             "statements that could not be run on made entities",
	"not_in_mix":                  "statements that have weights by mix, but none for this one: they are left out",
	"method":                      "what the query-driven method says; ids are explained in docs/rules.md",
	"method.tables.pattern":       "P1 to P9",
	"method.tables.rules":         "the mapping rules that the primary key follows, and the fields",
	"method.statements.access":    "the class of access over the design",
	"method.cures":                "findings of helenus lint about the tables that are there which the design does away with",
	"method.causes":               "findings of helenus lint that the design brings",
	"compared":                    "designs over other tables alone, of the statements that have a plan over them",
	"compared.missing":            "statements without a plan over those tables; cost is without them",
	"without":                     "for each new table, the best design without it; cost is absent if there is none",
	"why_not":                     "for each table asked for, the best design with it; cost is absent if there is none",
	"pareto":                      "designs of which none is both smaller and cheaper than another, the smallest first",
	"rejected":                    "candidates that were not chosen, the nearest first",
	"sensitivity.falls":           "below this weight other tables are better",
	"sensitivity.rises":           "above this weight other tables are better; absent: never",
}

// TestSchema compares the published JSON Schema with what is written. UPDATE_SCHEMA=1 writes it.
func TestSchema(t *testing.T) {
	schematest.Check(t, "../../docs/schema/design.json", "Helenus design", reflect.TypeFor[designJSON](), described)
}
