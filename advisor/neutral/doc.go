// Package neutral reads models and workloads in a neutral form: what was published of NoSE's and its successor's, as YAML
// without their programs (`helenus import nose`, and `helenus design` reads such files directly).
//
// The form: `model` with `entities` (name, count, fields with type, size, id, declared_cardinality and
// effective_cardinality) and `relationships` (from, to, kind, fk and reverse_fk as roles, via a link entity); `statements`
// with their text in NoSE's language, a group, and a weight for each mix or a list of one for each time step; `schemas` of
// `column_families`. Keys that the form has besides are measurements and remarks; they and the hand-written `plans` are
// skipped: we plan ourselves.
//
// What it makes of it:
//   - types: id uuid, integer bigint, float double, date timestamp, string text with its declared length, boolean;
//   - the declared cardinality as the number of distinct values, the effective one besides where it differs;
//   - link entities of many-to-many relationships go away if they hold nothing but their id;
//   - roles that are not named get the name of the entity at the other end, in the plural where there are many;
//   - a group stays a group: statements of one request, which share nothing. It is no transaction;
//   - the id of a statement is its own, or the comment at the end of its text, or its position;
//   - ORDER BY a field of which a group has several values is left out, with a note: there is no such order.
//
// It imports advisor/model and advisor/workload.
package neutral
