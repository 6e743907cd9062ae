// Package writers tells, for the tables of a live cluster, who writes them: it makes what package safety checks (tables with
// templates of writes, their writers, and how bad it is if they meet) out of the schema and of what was captured.
//
// Templates are the captured INSERTs, UPDATEs and DELETEs, by their texts: every bind variable is a variable of its column, since
// normalised texts hold no literals. Who sends one, in this order (docs/design/mapping.md 4.2):
//
//	said        Input.Owners: a column of the statement that names the writer, or * for anyone
//	named       the column of the statement that holds a principal: a value of the column Input.Principal, or of the one that is most
//	            likely the users' key (principal.go). Of several such columns, the one whose values come from earlier statements most
//	            often. A column that its burst says is not the writer's (a fan-out: a post is written to each follower's
//	            timeline) is not taken; then the writer is a value that the statement does not have
//	of the row  the table has such a column beside its key, and the statement does not set it: the row's own, probably
//	said by     the applications that said it, each of which counts as one writer
//
// All but the first are inferences: what is safe by them is SAFE-IF, and the condition names them.
//
// That a key determines a writer's column in its row is probable (a row can be overwritten); Input.Facts confirms it. How bad it is
// comes from the counts: rates of the busiest partition, latencies, timeouts and refusals of lightweight transactions, and pairs
// of writes that were under way at once (profile.Meetings).
//
// It imports advisor/safety, capture, capture/{burst,cql,feed,profile,schema,trace}.
//
// Thin: of an application's processes nobody knows how many there are, so one application is taken for one writer, and said to be.
// A constant that statements write ('!PUBLIC!' for all users) is a variable here. Exclusivity (one user never writes twice at once)
// is measured over partitions of one such column alone. Overlaps count writes in the windows in which values were looked at, of
// all senders: who sent them is not compared. Text that can not be parsed, JSON inserts and batches of other proxies are named
// in Report.Unread.
package writers
