package condition

// What the values of the column, and the rows that have it, must be.
var (
	Values = &Condition{
		ID: "C6", Title: "null, empty and unknown values",
		Says: "The value that is asked for is bound, or a constant in the text, not null, unset or empty, and at most 65,535 bytes long; of each write it is known which rows it changes.",
		Why: "Such a value can not be a partition key, so rows that have it are in no look-up: the base is asked for them. A write whose keys Cassandra computes may change any row: until the " +
			"look-up was verified, an answer could miss one.",
		Help:  "Bind the value where the text computes it. Write with the whole key bound or in the text, at most 1,000 keys a statement, and compute now(), uuid() and casts of key columns in the application.",
		Where: []Place{OfStatement, OfExecution, OfWrite}, Overrule: true,
		CQL: `SELECT room FROM hotel.stays WHERE guest = 'ann' ALLOW FILTERING;        -- served
SELECT room FROM hotel.stays WHERE guest = null ALLOW FILTERING;         -- refused
UPDATE hotel.stays SET guest = ? WHERE room = ? AND day = ?;              -- followed
UPDATE hotel.stays SET guest = ? WHERE room = uuid() AND day = ?;         -- a warning: nobody knows which row`,
	}
	Existence = &Condition{
		ID: "C7", Title: "row existence",
		Says: "A row is in the answer if, and only if, it exists in the base table: by its row marker (INSERT) or by any cell that is not null (UPDATE).",
		Why: "A table with fewer columns would lose a row whose last cells are elsewhere, and keep one whose cells were set to null. A look-up is immune: it only finds keys, and " +
			"each row is read from the base, by the application's own statement, before it is in an answer.",
		Help:  "Nothing.",
		Where: []Place{ByDesign},
		CQL: `UPDATE hotel.stays SET guest = 'ann' WHERE room = ? AND day = ?;   -- makes a row without marker: found
DELETE guest FROM hotel.stays WHERE room = ? AND day = ?;          -- its last cell: the row is gone, and is not found`,
	}
	Statics = &Condition{
		ID: "C8", Title: "static columns",
		Says:  "The column that is asked by, and any that is compared, is not static; nor are all that are selected, those of the partition key aside.",
		Why:   "A static value belongs to a whole partition: one write of it changes what all rows of the partition answer to, and a partition may have the value and no row. A SELECT of static columns alone is one of partitions: Cassandra refuses it for a row's whole key.",
		Help:  "Put what is searched for into a regular column of the rows, or into a table of its own with one row a partition.",
		Where: []Place{OfTable, OfStatement},
		CQL: `SELECT room, day FROM hotel.stays WHERE floor = ? ALLOW FILTERING;                 -- refused: floor is static
SELECT room, day FROM hotel.stays WHERE guest = ? AND floor = 3 ALLOW FILTERING;   -- refused
SELECT room, floor FROM hotel.stays WHERE guest = ? ALLOW FILTERING;               -- refused: no column of the rows
SELECT room, floor, rate FROM hotel.stays WHERE guest = ? ALLOW FILTERING;         -- served`,
	}
	Collections = &Condition{
		ID: "C9", Title: "collections",
		Says:  "The column that is asked by is one value: no list, set or map that is not frozen. (Writes of it by an operation, such as `+`, are followed by the keys of their rows.)",
		Why:   "A collection can not be a partition key. What an operation makes of a value is known to Cassandra alone: reads look at such rows in the base until that is settled.",
		Help:  "Keep what is searched for in a column of a simple type, or in a table with one row an element. CONTAINS beside an equality on another column is served.",
		Where: []Place{OfTable},
		CQL: `SELECT room FROM hotel.stays WHERE tags = ? ALLOW FILTERING;                          -- refused: tags is a set
SELECT room FROM hotel.stays WHERE guest = ? AND tags CONTAINS 'sea' ALLOW FILTERING;   -- served`,
	}
	Lifetime = &Condition{
		ID: "C10", Title: "time to live",
		Says: "A row can be found for as long as its cell lives, and TTL and WRITETIME of an answer are those of the base.",
		Why: "An entry that expired before its cell would hide the row. Entries live an hour longer than their cells, or for ever where it can not be known how long these live; and what an answer says is read " +
			"from the base.",
		Help:  "Nothing. If default_time_to_live of the base is made longer, the look-up is filled anew by itself.",
		Where: []Place{ByDesign},
		CQL: `UPDATE hotel.stays USING TTL 100 SET guest = ? WHERE room = ? AND day = ?;       -- its entry lives for 3,700 seconds
SELECT room, TTL(guest) FROM hotel.stays WHERE guest = ? ALLOW FILTERING;         -- served`,
	}
	Timestamps = &Condition{
		ID: "C11", Title: "timestamps",
		Says:  "What a statement does to the application's tables, and at which timestamp, is what it would do without Helenus; the column that is asked by has a WRITETIME: it is not part of the primary key.",
		Why:   "Entries are settled by the timestamp of the cell that they stand for, and a key column has none. No statement of the application is ever given a timestamp by Helenus.",
		Help:  "For a key column, use Cassandra's own index (SAI) or a table that the application keeps. Nothing else: USING TIMESTAMP and client timestamps are followed as they are.",
		Where: []Place{OfTable},
		CQL: `SELECT room FROM hotel.stays WHERE day = ? ALLOW FILTERING;                               -- refused: day is part of the key
UPDATE hotel.stays USING TIMESTAMP ? SET guest = ? WHERE room = ? AND day = ?;            -- followed, unchanged`,
	}
	Counters = &Condition{
		ID: "C17", Title: "counters",
		Says:  "The base is not a counter table.",
		Why:   "Counter writes have no timestamp and can not be repeated: an entry and its row could not be held to be one.",
		Help:  "Keep what is searched for in a table without counters that has the same key.",
		Where: []Place{OfTable},
		CQL: `CREATE TABLE hotel.visits (room uuid PRIMARY KEY, n counter);
SELECT room FROM hotel.visits WHERE n = ? ALLOW FILTERING;   -- refused`,
	}
	Types = &Condition{
		ID: "C19", Title: "types and equality",
		Says:  "Two values of the column, and of the partition key, are equal if and only if their bytes are; no column of the key or of the answer is a tuple.",
		Why:   "A look-up finds a value by its bytes. 1.0 and 1.00 are one decimal and two partition keys; an index that ignores case finds what a look-up would not.",
		Help:  "Ask by a column of another type: ascii, text, blob, int, bigint, smallint, tinyint, timestamp, date, time, uuid, timeuuid or inet. Name the columns in place of `*` if one is a tuple.",
		Where: []Place{OfTable, OfStatement},
		CQL:   `SELECT room FROM hotel.stays WHERE rate = ? ALLOW FILTERING;   -- refused: rate is a decimal`,
	}
)
