package lint

// Severity says how bad a finding is.
type Severity string

// The severities, as SARIF calls its levels.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Severities are in order, the worst first.
var Severities = []Severity{Error, Warning, Note}

// rank is 0 for the worst.
func (s Severity) rank() int {
	for i, x := range Severities {
		if x == s {
			return i
		}
	}
	return len(Severities)
}

// AtLeast reports whether s is as bad as other, or worse.
func (s Severity) AtLeast(other Severity) bool { return s.rank() <= other.rank() }

// Rule is something that tables and statements ought to keep to.
type Rule struct {
	ID, Name string
	Severity Severity
	Says     string // what is found
	Why      string
	Fix      string // how it is mended
	Method   string // the mapping rule or access class that it comes from
}

// The ids.
const (
	KeyMissing           = "L1"
	NoTable              = "L2"
	AttributeNotStored   = "L3"
	TableScan            = "L4"
	IndexRead            = "L5"
	PartitionKeyRange    = "L6"
	InequalityFirst      = "L7"
	TwoInequalities      = "L8"
	ClusteringGap        = "L9"
	FilteringNeeded      = "L10"
	OrderNotKept         = "L11"
	OrderReversed        = "L12"
	SeveralPartitions    = "L13"
	MultiTable           = "L14"
	PartitionUnbounded   = "L15"
	OnePartition         = "L16"
	UnusedTable          = "L17"
	DuplicateTable       = "L18"
	NotStatic            = "L19"
	StatementNotAccepted = "L20"
)

// Rules are all rules, by id.
var Rules = []Rule{
	{KeyMissing, "key-missing", Error, "The primary key lacks a part of the key of what a row stands for.", "Two of these with the same primary key are one row: the later write replaces the earlier one, and data is lost.", "a table whose primary key ends in that key", "MR5"},
	{NoTable, "no-table", Error, "No table holds the answer to a query.", "The query can not be asked.", "the table that the mapping rules make of the query", "MR1"},
	{AttributeNotStored, "attribute-not-stored", Warning, "An attribute of the model is in no table.", "What the model says is lost.", "a column", "MR1"},
	{TableScan, "table-scan", Error, "A statement reads all partitions of a table.", "It takes longer as the table grows, and asks every node.", "a table partitioned by what the statement asks by", "table scan"},
	{IndexRead, "index-read", Warning, "A statement finds its rows by a secondary index.", "Every node is asked, whether it has rows or not, until there are enough.", "a table partitioned by what the statement asks by", "partition+-per-query"},
	{PartitionKeyRange, "partition-key-range", Error, "A column of the partition key is compared by order.", "Partitions lie by a hash of their key, so that an order of keys means nothing to Cassandra.", "a table in which that column is a clustering column", "MR3"},
	{InequalityFirst, "inequality-before-equality", Warning, "A clustering column compared by order comes before one compared for equality.", "Behind the range rows are filtered: those of the range are all read.", "a table with the equalities first", "MR3"},
	{TwoInequalities, "two-inequalities", Warning, "Two clustering columns are compared by order.", "One can be: the rows are sorted by the first, and by the second only within one value of it.", "a statement with one of them; the client leaves rows out by the other", "MR3"},
	{ClusteringGap, "clustering-gap", Warning, "A clustering column is given and one before it is not.", "Rows can be found by a prefix of the clustering columns only: the rest is filtered.", "a table with the given columns first", "MR2"},
	{FilteringNeeded, "filtering-needed", Warning, "A condition is on a column outside of the primary key.", "Rows are read that do not belong to the answer.", "a table with that column in its primary key", "MR2"},
	{OrderNotKept, "order-not-kept", Warning, "The answer is to be sorted otherwise than rows lie.", "Cassandra sorts by clustering columns in their order or in the whole reverse only: the client has to read everything and sort.", "a table with that clustering order", "MR4"},
	{OrderReversed, "order-reversed", Note, "Rows are read in the reverse of the order in which they lie.", "It works, and is slightly slower than reading forwards.", "a table with the reverse clustering order", "MR4"},
	{SeveralPartitions, "several-partitions", Note, "A statement names several partitions.", "The coordinator asks for all of them, and the answer is as slow as the slowest.", "the statement for one partition, sent for each at once", "partition+-per-query"},
	{MultiTable, "multi-table", Warning, "A question is answered from several tables.", "A later statement waits for the one before; it is a join done by the client.", "the table that the mapping rules make of the query", "multi-table"},
	{PartitionUnbounded, "partition-without-bound", Warning, "A partition grows with the data, or is too large.", "A partition lies on one set of replicas, and beyond 100 MB or 100,000 rows reads, repairs and compactions suffer. It is a note where partitions grow with the data and are still small.", "a bucket in the partition key", "MR2"},
	{OnePartition, "one-partition", Error, "A table is a single partition.", "All of it lies on one set of replicas: the degenerate extreme of one partition per query.", "a bucket in the partition key", "MR2"},
	{UnusedTable, "unused-table", Warning, "No statement reads a table.", "It is written for nothing.", "DROP TABLE", "partition-per-query"},
	{DuplicateTable, "duplicate-table", Warning, "A table holds nothing that another one with the same primary key does not.", "It is written twice.", "DROP TABLE, and the other table in its statements", "MR1"},
	{NotStatic, "not-static", Note, "A column is the same in all rows of a partition, and not static.", "It is stored, and has to be changed, once for each row.", "a table in which it is static", "P5"},
	{StatementNotAccepted, "statement-not-accepted", Error, "Cassandra refuses the statement on this table, with ALLOW FILTERING too.", "The reason says what the server objects to.", "a table that the mapping rules make of the statement", "MR2"},
}

// RuleOf returns the rule of an id.
func RuleOf(id string) Rule {
	for _, r := range Rules {
		if r.ID == id {
			return r
		}
	}
	return Rule{}
}
