// Package nose counts as the code of seed 003's authors does, to the digit, so that designs can be compared with theirs:
// the four cost models and the arithmetic under them (docs/design/nose.md, sections 1 to 3 and 6; acceptance
// N-21, N-31 to N-35).
//
// Their rows follow the way that a plan takes. A lookup sends one get, or one for each row at hand, also where rows repeat
// an id; each get returns the rows of a mean partition; conditions that a prefix of the clustering columns answers divide
// them, and filters in the client divide what is left: by the number of a field's values for an equality, by ten for a
// range, once for each field. So states carry rows here (plan.Estimator).
//
// A table has as many rows as the largest entity in its graph, and as many partitions as the product of its partition
// key's values, which may be more. Numbers of values are those that their code takes (model.Attribute.Effective).
//
// A write needs support queries: of the rest of the table's graph, one for each part around the entity written, which
// each table asks for itself and which are executed once. It writes as many rows as the product of what the cheapest
// plans of these find if every candidate were there.
//
// A CONNECT only adds rows: their code knows no old partner that it replaces, as package plan does (plan.Change.Gone). So what a
// write reads and changes is said here once more (write.go), and nothing of it comes from plan.Changes.
//
// Their arithmetic is followed, their faults are not, where they make wrong plans: a limit below a filter, "!=" taken for
// "=", conditions that are dropped because another has the same field. Nor is a support query left out that their code
// fails to make: for a CONNECT, of the source entity's own fields, and of parts without the target. What they do not know
// is counted in the same manner: further columns that a plan binds divide the rows of a lookup, IN counts its values, !=
// lets all but one value through, a look-up table is a lookup and as many gets of base rows, an index read is a lookup of
// what the index finds, a scan returns the table.
//
// The package imports advisor/plan, advisor/workload and advisor/model.
package nose
