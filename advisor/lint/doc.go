// Package lint finds what is wrong with tables and with the statements that are asked of them, by the rules of the query-driven
// method (advisor/rules, seed 001), on tables that are live, described in a file, or designed.
//
// What is looked at is an Input: tables as Cassandra has them (capture/schema), and questions. A question is what the
// application wants to know; it has one read, a SELECT, or several where it takes several tables. The three sources make one of:
//
//	FromWorkload  a model and a workload with tables over it. Each query is planned over the tables (advisor/plan), and each read
//	              of the plan written as the SELECT that the query would be if the table answered all of its conditions. So the
//	              question "what does the client have to do, and why" becomes "why does Cassandra refuse this SELECT".
//	FromPlans     the same with plans that somebody has chosen: a design's.
//	FromSnapshot  what was captured, with the live schema. Joins by hand, as far as they were found, are questions over several
//	              tables.
//
// So one linter judges all of them, by schema.Classify and schema.VerdictOf, which agree with a real server.
//
// A finding names its Rule, the table and the statement, the reason, and a Fix: CQL that makes, alters or drops tables, and the
// statement as it reads then. Tables of fixes are made by the mapping rules, of the table's columns or, where several tables are
// read, of the query. A fix is given only after it was tried: it is applied to a copy of the input, and that one must not have the
// finding, nor a new one that is an error; and it is run on generated rows (advisor/trial), statements, tables and writes before and after, and what
// would change an answer is not given. Where there is none, Finding.NoFix says why.
//
// It imports advisor/infer, advisor/model, advisor/plan, advisor/cost, advisor/rules, advisor/trial, advisor/workload, capture, capture/cql and
// capture/schema.
//
// Thin: writes are classified, and nothing is found in them. Sizes of partitions are means. A statement that the parser does not
// know, and tables of unusual kinds (views), are listed in Report.Unsupported. What a fix needs besides CQL (copying rows,
// writing to one more table) is said in words.
package lint
