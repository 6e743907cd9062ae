// Package exec sends statements of ours to Cassandra, for whatever kind of change is in force: Session, which Pool implements over gocql, and
// tests in memory (exectest). Values are bound as the bytes that a client gave, cells are handed on as Cassandra sent them.
//
// All of it is run by a proxy that serves. Plans of the optimiser are run by rewrite/planrun, over the same sessions.
//
// session.go (requests, and what their errors mean), each.go (several at a time), token.go (the ring), answer.go (answers as the protocol has
// them). It may import proxy, for the rows of its hooks, internal/guard and gocql.
package exec
