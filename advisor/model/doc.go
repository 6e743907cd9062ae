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
// It imports nothing of Helenus. Thin today: a tree holds an entity at most once, so self references and two
// relationships to the same entity in one query are refused; sizes and distinct counts are means, without skew.
package model
