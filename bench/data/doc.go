// Package data makes worlds: for any conceptual model the entities and relationships that its statistics promise, from a seed.
//
// A World holds no data. Each value is computed from (seed, entity, number, attribute), each partner from (seed, relationship,
// number), so a world larger than memory streams, parts of it can be made side by side, and the same seed makes the same world
// byte for byte. Numbers of entities run from 0; a number beyond World.Count has values too, which no other entity has where
// they must be unique: they are those of entities that a workload inserts.
//
// # How
//
// Two bijections carry everything. A permutation of [0, n) (permute.go) scatters numbers: rounds of invertible arithmetic
// modulo a power of two, walked on while the result is not below n. A spread (spread.go) deals n slots to m bins, in runs:
// where a bin's run starts and which bin a slot belongs to are closed forms. It is even, or uneven (blocks of 16 bins have
// what is fair, bins in a block about exponentially distributed shares), or falls off as a power law, so that the first bin
// has as many as the model's greatest degree, or as Options.Skew says.
//
//   - An attribute is a spread of the entities over its different values, behind a permutation.
//   - The many side of a relationship is a spread of the children over the parents, with a permutation on both sides; the
//     parent of a child and the children of a parent are both found at once.
//   - A many-to-many relationship is two spreads over the same pairs, the second of them asked at pair*stride mod pairs. The
//     stride is greater than any degree on the second side and so small that no entity of the first side goes all the way
//     round: so no two are related twice. Where pairs are too dense for that, partners are dealt in turn.
//   - Keys are counted, not drawn (keys.go). The key of a weak entity is the owner's and the rank among its children; an
//     entity whose key are those of two others is a many-to-many relationship between them.
//   - Copies are asked of whom they are copied from.
//
// Numbers are quarters and whole, so that sums of them are exact in any order.
//
// Thin: attributes are independent of each other and of partners. Statistics that contradict each other (a relationship with
// more pairs than there can be, a key with too few values) are obeyed as far as they can be, or refused by New. Collections,
// user-defined types and durations are refused. A self-relationship may lead from an entity to itself. A power law is computed in
// floating point: its worlds are the same on machines of one architecture.
//
// It imports advisor/model and advisor/workload.
package data
