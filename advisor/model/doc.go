// Package model holds the conceptual model of an application's data, an entity graph (seed 003, section 3.1), and
// describes tables as column families over it.
//
// A Graph has entities with attributes and relationships between them. A Tree is an acyclic, connected part of the graph:
// what a query asks about and what a table holds. A Table is a column family K -> (C -> V), written
// [partition][clustering][values], over a tree; tables that the application already has are described in the same way.
//
// The package also estimates sizes. The rows of a tree are the rows of the join over it: the product of the entity
// counts times, for each relationship, the fraction of pairs that are related. That is exact for means under
// independence, also where to-many branches meet and over many-to-many relationships.
//
// A table's rows may have collections: what belongs to the partners of an entity over a to-many relationship (Nest).
//
// An entity that a tree meets twice is two occurrences of it, entities of their own (Graph.Occurrence); Scope makes them from
// paths, Tree.Path writes them with numbers, and Table.ID does not depend on the numbers. Weak entities and attributes of
// relationships are brought into the plain form when a file is read (sugar.go).
//
// It imports nothing of Helenus. Thin: sizes and distinct counts are means, without skew. Of a tree that holds a relationship
// twice (two bids of one item) rows are found more often than estimated, by up to 1 + 1/degree. That an attribute is a copy of
// its owner's key is known to Table.Identifies only; whoever plans takes the two for different fields. The greatest degrees
// are kept, and no estimate uses them yet.
package model
