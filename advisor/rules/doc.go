// Package rules is the query-driven method of data modelling (seed 001, Chebotko's): five mapping rules that make a table of
// a query, nine patterns that say what kind of table that is, and the classes of access that tell good tables from bad ones.
//
// The rules are applied in order, each to what the one before left (Map), and each leaves a Step in the trace:
//
//	MR1  the entities and relationships of the query are the table's, its attributes the columns
//	MR2  attributes compared for equality come first in the primary key, and are its partition key
//	MR3  an attribute compared by order follows as a clustering column. One can be used; without any equality a bucket is
//	     made up for the partition key
//	MR4  attributes that the answer is sorted by follow, ascending or descending
//	MR5  the key of what a row stands for comes last, as far as it is not there yet: else rows would overwrite each other
//
// What a row stands for is the smallest set of entities that determine all others of the query over to-one relationships
// (identity): of 1:n the n side, of n:m both, of 1:1 either. Attributes of entities that the partition key determines are
// static, if there is a clustering key.
//
// The method has one table for each query, and no prices: advisor/design weighs, this package says what is correct and why.
// What a table of the rules leaves to the client (a second inequality, !=, an order that follows a range) is in
// Trace.Left, never dropped.
//
// A pattern is said of one relationship. Of a query over several, the way from the entity that is asked by to what rows stand
// for is taken for one relationship, as its cardinalities multiply, and Match.Path says so: the seed has no pattern for it.
//
// It imports advisor/model, advisor/workload and capture/schema. Thin: MR2 puts all equalities into the partition key, and
// Fronts lists the other ways; which of those several queries could share is advisor/options' and advisor/design's business.
// Patterns nest by clustering columns only (D-39). Of a hierarchy, the table of the supertype is made; the two other ways
// are named.
package rules
