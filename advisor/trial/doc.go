// Package trial tries a change of tables and statements before anybody is told of it: on generated rows in memory (package memory) the
// old statements are asked of the old tables and the new ones of the new tables, then the application's own writes are applied to both, to the new ones
// with what the printed instructions say (Upkeep), and all is asked again. What differs is not to be offered.
//
// A Case is such a change. A Copy is a table that holds rows of another; Keep and Move say, statement by statement, what a write of the application
// takes so that the copy stays true: these are the instructions that are printed, and it is they that are run. An Ask is a question, with the
// Way in which it is asked afterwards: one statement, or one for each of several values whose answers the client merges and cuts.
//
// Rows are few and of small domains, so that there are ties, nulls, rows with the same values, partitions of several rows, and values that
// several partitions have. Each question is aimed at: there are rows that meet all its conditions, and some that miss one, and writes are mostly of such rows
// (focus.go). A case goes on until each question was answered with rows and each write changed some; one that nothing can answer was not tried. A LIMIT is as small as the rows are few, and the same in both. Answers are compared row by row in order where the old statement
// promises an order (one partition, or ORDER BY), else as what they hold; of a LIMIT without an order by how many there are, and that all belong to it.
// The same case and seed give the same result.
//
// Thin: writes come one after the other. Two at once that change the same row's key can leave an entry behind: docs/rules.md says so, and what helps.
//
// It imports capture/cql, capture/schema and advisor/trial/memory.
package trial
