package enumerate

import (
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

// rules say what is proposed of all that NoSE tries. Each leaves out tables that the best design never needs, whatever the
// weights and the space limit. A rule is a function, so that a test can put another in its place: one that leaves nothing
// out, under which no design may be better, and a wrong one, which that test has to notice (rule_test.go).
//
// A table serves a part of a query by fields K that readers bind, S, what comes after those, and values V. NoSE tries all
// permutations and cuts of K, S and the ids of all entities. In the proofs, t is a table that a design uses, and t' one
// among those that are proposed such that t' in place of t costs no design more: every plan over t is a plan over t' with
// as many requests and no more rows and bytes, t' takes no more space, and writes put and delete as many rows of t' and
// need no more fields to be found out before. That is true of every cost that grows with requests, rows and bytes and does
// not ask how the key is split; a limit on the size of partitions does ask, see Options.PartitionBytes.
//
// The proofs speak of plans that bind in a later read the key of what was found, and the statement's conditions that have
// not been checked yet, as NoSE's do. Package plan can bind more: a condition once more, a field that was found besides the
// key, what the application knows of what it changes (GIVEN). Binding it finds no other rows; it pays where a table that is
// there for another reader is of use that way, or where an estimate takes fields that determine each other for independent
// ones, as NoSE's arithmetic does. No table is proposed for it, but by rule own.
//
// Where support queries are shared, t' needs no more asked than t: what its writes ask is asked of the same rows, for some of the
// fields, and one that asks for less is answered by one that asks for more (plan.Holds), so wherever two tables share a
// question, or one holds the other's, their substitutes' questions are held by what was asked. Two of them that have lost different
// fields hold each other no longer; they are as cheap together as apart only where one table answers both. That is left to the tests.
//
// What is left out for want of room is no rule's: Pool.Truncated says so.
type rules struct {
	// rim: an entity at the rim of a query's graph of which no field is asked for, and of which every row has exactly one, is
	// not joined. It reports whether e is such an entity, but for the fields asked for.
	//
	// Proof: t' is t without it. It has the same rows, as each has exactly one partner, with fewer fields, and answers the
	// same: package plan does not ask for the entity to be joined either.
	rim func(tree model.Tree, e *model.Entity) bool

	// entries: a part is read by the key of an entity, after another table, only at an entity at which the query goes on
	// beyond the part, or that has an equality of its own, or that is all of the part; with its conditions checked before, or
	// not, if there are others than an equality by which it was found; and not at all where the statement brings that key. It
	// tells which of the two are tried.
	//
	// Proof: at any other entity e of the part, what was read before cannot end in e without having read what lies between e
	// and where it started, all of which the part has again. t' is the table of the part without that, which is among the
	// parts, has fewer fields and less to write. Where the statement brings the key, the part is one that is read first.
	entries func(a *queryShape, p part, e *model.Entity) (checked, unchecked bool)

	// bound: K is the entry's key and some of the fields that the part's query compares by = or IN. It returns the choices of
	// those, all of them first.
	//
	// Proof: a key field that no reader binds, is sorted by, or needs to tell rows apart, is a value in t'. Rows, bytes and
	// space are the same; values need not be found out before a delete or an update, and are changed in place.
	bound func(x part, key []model.Field) (choices [][]model.Field, cut bool)

	// orders: K is ordered along chains of the sets D(q) = K with what q can bind, over all readers q of the tree and of
	// smaller trees with the same rows, closed under intersection; the first set of a chain is the partition key.
	//
	// Proof: each q binds a prefix of t's key, B(q), a subset of D(q). The B(q) are nested. Take away from K what is in none of
	// them (rule bound). The smallest closed sets around the B(q) are nested too, as closed sets intersect in closed sets, so
	// that some maximal chain has them all; ordered along it, each q binds at least B(q). What else shares the prefix, a column
	// bound by a range or sorted by, counts among what q can bind, in its order.
	orders func(p *Pool, x part, bound []model.Field, whole bool) [][][]model.Field

	// suffix: S is one field that a range binds, or the fields of ORDER BY, or none. It returns the choices.
	//
	// Proof: a column after one that is bound by a range, or after the first of ORDER BY that the reader does not bind by =,
	// can not be bound; and rows that come in order of the range's field are in order of the others within one of its values
	// only. If the bound fields determine the range's field, it has one value, and the order may follow.
	suffix func(x part, bound []model.Field) [][]model.Field

	// directions: of the columns of S those are sorted in descending order whose direction differs from the first one's. It
	// returns the choices of descending columns.
	//
	// Proof: a partition can be read from either end, at the same cost, so t with all directions turned round serves the
	// same. What comes after S is in no order that a reader asks for.
	directions func(suffix []model.Field, a *queryShape) [][]model.Field

	// sources: the key is completed by the ids of the entities that no other determines. It returns the choices of what is
	// added.
	//
	// Proof: with them every row has a key of its own, and no two of them less. Ids of others are values in t' if something is
	// read by them later (rule missing), and left out else; as in rule bound.
	sources func(t *model.Table) [][]model.Field

	// missing: the values have the id of an entity if the query goes on there beyond the part, or if a field of it that is
	// asked for is not among the values. It returns the choices of ids that are added to the values.
	//
	// Proof: an id that is not asked for is of use to a plan only to read the entity's other fields by it, or to go on beyond
	// the part. t' is t without it: rows are fewer bytes, and nothing reads it.
	missing func(x part, t *model.Table, groups [][]model.Field) [][]model.Field

	// statics: values that the partition key determines are static, if no write takes rows away. It returns them.
	//
	// Proof: t' has the same columns, each reader is answered alike, and takes fewer bytes: a partition has such a value once.
	statics func(e *enumeration, t *model.Table) []model.Field

	// own: of a table that a write changes there is one, too, by which the write finds what it has to change: after the
	// columns whose values it knows come the keys that its support query asks by. It returns those tables.
	//
	// Proof: where the write does not know t's partition key, and can not learn it by the keys, no read of t answers the query.
	// Where it does, it binds t's columns up to the first that it does not know and that is not such a key; a key before it
	// that is in t further to the left than in t' is bound in both, and readers that bind by others bind as far in t', whose
	// columns before the keys are t's. With the keys further to the right, nobody finds rows by them: then rule sources says
	// where ids stand.
	own func(t *model.Table, q *workload.Query) []*model.Table
}

// proven are the rules with their proofs.
var proven = rules{
	rim:     rimNeedless,
	entries: entryChoices,
	bound:   boundChoices,
	orders:  (*Pool).keyChains,
	suffix:  part.suffixChoices,
	directions: func(suffix []model.Field, a *queryShape) [][]model.Field {
		return [][]model.Field{descendingColumns(suffix, a)}
	},
	sources: func(t *model.Table) [][]model.Field { return [][]model.Field{completingIDs(t)} },
	missing: func(x part, t *model.Table, groups [][]model.Field) [][]model.Field {
		return [][]model.Field{x.missingIDs(t, groups)}
	},
	statics: (*enumeration).staticFields,
	own:     ownTables,
}

// rimNeedless is rule rim.
func rimNeedless(tree model.Tree, e *model.Entity) bool {
	edge, n := edgesOf(tree, e)
	return n == 1 && !edge.Optional && edge.ToOne(edge.Other(e))
}

// entryChoices is rule entries.
func entryChoices(a *queryShape, p part, e *model.Entity) (checked, unchecked bool) {
	if subset(e.KeyFields(), a.equal) {
		return false, false // the statement brings its key
	}
	compared := fieldsOf(a.equal, e)
	next := len(p.tree.Entities) == 1 || slices.Contains(p.exits, e)
	if !next && len(compared) == 0 {
		return false, false
	}
	conditions := len(compared) + len(fieldsOf(a.ranges, e)) + len(fieldsOf(a.others, e))
	return true, conditions > 1 || next && conditions > 0
}

// boundChoices is rule bound.
func boundChoices(x part, key []model.Field) (choices [][]model.Field, cut bool) {
	equal := minus(x.fieldsIn(x.ask.equal), key)
	sets, cut := subsets(len(equal), allSubsets)
	for _, set := range sets {
		choice := make([]model.Field, 0, len(set))
		for _, i := range set {
			choice = append(choice, equal[i])
		}
		choices = append(choices, choice)
	}
	return choices, cut
}

// suffixChoices is rule suffix.
func (x part) suffixChoices(bound []model.Field) [][]model.Field {
	list := [][]model.Field{nil}
	for _, f := range x.fieldsIn(x.ask.ranges) {
		if !slices.Contains(bound, f) {
			list = append(list, []model.Field{f})
		}
	}
	orders := [][]model.Field{x.ask.order}
	if len(x.ask.due) < len(x.ask.order) {
		orders = append(orders, x.ask.due)
	}
	for _, order := range orders {
		if x.entry != nil || len(order) == 0 || len(x.fieldsIn(order)) != len(order) {
			continue
		}
		left := minus(order, bound)
		if len(left) > 1 || len(left) == 1 && !slices.Contains(x.ask.ranges, left[0]) {
			list = append(list, left)
		}
		for _, f := range x.fieldsIn(x.ask.ranges) { // the bound fields determine it: the order goes on after it
			if len(left) > 0 && !slices.Contains(bound, f) && !slices.Contains(left, f) && determinesEntity(x.tree, bound, f.Entity) {
				list = append(list, append([]model.Field{f}, left...))
			}
		}
	}
	return list
}

// determinesEntity reports whether values of the fields name one entity of e.
func determinesEntity(tree model.Tree, fields []model.Field, e *model.Entity) bool {
	return slices.ContainsFunc(tree.Entities, func(other *model.Entity) bool {
		return holdsKey(other, fields) && tree.Determined(other).Has(e)
	})
}

// descendingColumns is rule directions.
func descendingColumns(suffix []model.Field, a *queryShape) []model.Field {
	if len(suffix) == 0 || len(suffix) == 1 || len(a.desc) == 0 {
		return nil
	}
	first := slices.Contains(a.desc, suffix[0])
	var list []model.Field
	for _, f := range suffix {
		if slices.Contains(a.desc, f) != first {
			list = append(list, f)
		}
	}
	return list
}

// completingIDs is rule sources: the ids of the entities that no other determines, as far as the key does not determine them
// yet. Of entities that determine each other it takes the first; and what is a copy of what the key has is not added to it.
func completingIDs(t *model.Table) (ids []model.Field) {
	determined := map[*model.Entity]bool{}
	mark := func(e *model.Entity) {
		for _, d := range t.Tree.Determined(e).Entities {
			determined[d] = true
		}
	}
	key := t.Key()
	for _, e := range t.Tree.Entities {
		if holdsKey(e, key) {
			mark(e)
		}
	}
	for i := len(t.Tree.Entities) - 1; i >= 0; i-- {
		e := t.Tree.Entities[i]
		if determined[e] || determinedByOthers(t.Tree, e, i) {
			continue
		}
		for _, f := range minus(e.KeyFields(), key) {
			if f.Attribute.Copied == nil || !t.Tells(slices.Concat(key, ids), f) { // what it is a copy of tells rows apart as well
				ids = model.AppendNew(ids, f)
			}
		}
		mark(e)
	}
	return ids
}

// ownTables is rule own.
func ownTables(t *model.Table, q *workload.Query) []*model.Table {
	keys, known := supportKeys(t, q)
	if len(keys) == 0 || slices.ContainsFunc(t.Partition, func(f model.Field) bool { return !known(f) }) {
		return nil
	}
	at := 0
	for at < len(t.Clustering) && known(t.Clustering[at]) {
		at++
	}
	if keys = minus(minus(keys, t.Partition), t.Clustering[:at]); len(keys) == 0 {
		return nil
	}
	return []*model.Table{keyedAt(t, keys, at)}
}

// supportKeys returns the keys by which a support query asks of a table's rows, and what reports whether a write knows a column when it
// asks, or learns it by those. None: it can not be read by them.
func supportKeys(t *model.Table, q *workload.Query) (keys []model.Field, known func(model.Field) bool) {
	if len(t.Partition) == 0 || t.Base != nil {
		return nil, nil
	}
	for _, p := range q.Where {
		if !t.Tree.Has(p.Field.Entity) { // it is in a collection
			return nil, nil
		}
		keys = append(keys, p.Field)
	}
	return keys, func(f model.Field) bool {
		return slices.Contains(q.Known, f) || slices.Contains(keys, f) || determinesEntity(t.Tree, keys, f.Entity)
	}
}

// keyedAt is the table with some fields in its clustering key, after so many columns.
func keyedAt(t *model.Table, fields []model.Field, at int) *model.Table {
	k := *t
	k.Clustering = slices.Concat(t.Clustering[:at], fields, minus(t.Clustering[at:], fields))
	k.Values = minus(t.Values, fields)
	return &k
}

// missingIDs is rule missing.
func (x part) missingIDs(t *model.Table, groups [][]model.Field) (ids []model.Field) {
	for _, e := range x.tree.Entities {
		missing := slices.Contains(x.exits, e)
		for _, group := range groups {
			for _, f := range group {
				missing = missing || f.Entity == e && !t.Has(f)
			}
		}
		if missing {
			ids = model.AppendNew(ids, minus(e.KeyFields(), t.Fields())...)
		}
	}
	return ids
}
