package condition

// What an answer must be: the same rows, columns, order and pages.
var (
	Columns = &Condition{
		ID: "C1", Title: "rows and columns",
		Says: "The statement is a SELECT of the base table that was approved, asks for rows by `column = ?`, restricts no key column beside it, and is prepared.",
		Why: "The answer must have the columns, types and names that the driver was told of when it prepared the statement, and no row more or less. A row is found by its whole key, so " +
			"Cassandra would refuse another restriction of the key beside it; a statement sent as text has no metadata to answer with.",
		Help:  "Prepare the statement, with the value bound. Ask by one column with `=`, and compare the key columns in the application; or keep the statement as it is: it runs as written.",
		Where: []Place{OfTable, OfStatement, OfExecution},
		CQL: `SELECT room, status FROM hotel.stays WHERE guest = ? ALLOW FILTERING;               -- served
SELECT room, status FROM hotel.stays WHERE guest = ? AND day = ? ALLOW FILTERING;   -- refused: day is part of the key
SELECT room, status FROM hotel.stays WHERE guest > ? ALLOW FILTERING;               -- refused: not an equality
SELECT room, status FROM hotel.stays WHERE guest IN (?, ?) ALLOW FILTERING;         -- refused: several values`,
	}
	Order = &Condition{
		ID: "C2", Title: "order of rows",
		Says:  "The rows of an answer come in the order in which Cassandra returns them: partitions by token, rows of a partition in clustering order.",
		Why:   "Applications page, cut and merge by the order that they see. Helenus knows tokens of Murmur3Partitioner only, and does not sort by ORDER BY.",
		Help:  "Leave ORDER BY out and sort in the application. On a cluster with another partitioner no look-up can be kept.",
		Where: []Place{OfCluster, OfStatement, OfExecution},
		CQL:   `SELECT room, day FROM hotel.stays WHERE guest = ? ORDER BY day DESC ALLOW FILTERING;   -- refused`,
	}
	Paging = &Condition{
		ID: "C3", Title: "paging",
		Says:  "The whole answer fits in the first page that the client asked for, and leaves room there or ends by LIMIT.",
		Why:   "A paging state is Cassandra's own and names a place in the original's answer: it can not be made for, or continued in, an answer from a look-up. Of a page that is full Cassandra says that another one follows, even if that is empty.",
		Help:  "Ask for pages (the driver's fetch size) that hold a usual answer, or bound the answer by LIMIT. Further pages run as written.",
		Where: []Place{OfStatement, OfExecution},
		CQL: `SELECT room FROM hotel.stays WHERE guest = ? ALLOW FILTERING;   -- served, if the fetch size is 100 and the guest has 60 stays
                                                                -- as written, if he has 100 or more: there is another page`,
	}
	Limits = &Condition{
		ID: "C4", Title: "limits and partitions",
		Says:  "LIMIT is a positive number or bound; nothing is said of the partitions of the base or of the ring: no DISTINCT, PER PARTITION LIMIT or token().",
		Why:   "A look-up keeps the rows of one value together, not those of one partition of the base: what counts or lists the base's partitions would count others.",
		Help:  "Drop these clauses, or count in the application; a plain LIMIT is served.",
		Where: []Place{OfStatement, OfExecution},
		CQL: `SELECT room FROM hotel.stays WHERE guest = ? LIMIT 10 ALLOW FILTERING;                 -- served
SELECT room FROM hotel.stays WHERE guest = ? PER PARTITION LIMIT 1 ALLOW FILTERING;    -- refused
SELECT DISTINCT room FROM hotel.stays WHERE guest = ? ALLOW FILTERING;                 -- refused
SELECT room FROM hotel.stays WHERE guest = ? AND token(room) > ? ALLOW FILTERING;      -- refused`,
	}
	Functions = &Condition{
		ID: "C5", Title: "aggregates and functions",
		Says:  "The statement selects columns, WRITETIME and TTL, and compares with values: no aggregate, GROUP BY, JSON, CAST or function.",
		Why:   "Each row is read by a statement of its own. An aggregate would be of one row, and a function such as now() would give another result for each.",
		Help:  "Select the columns, and compute in the application.",
		Where: []Place{OfStatement},
		CQL: `SELECT room, WRITETIME(status) FROM hotel.stays WHERE guest = ? ALLOW FILTERING;   -- served
SELECT count(*) FROM hotel.stays WHERE guest = ? ALLOW FILTERING;                  -- refused
SELECT JSON room FROM hotel.stays WHERE guest = ? ALLOW FILTERING;                 -- refused
SELECT room FROM hotel.stays WHERE guest = ? GROUP BY room ALLOW FILTERING;        -- refused`,
	}
)
