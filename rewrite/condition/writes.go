package condition

// How writes, and what Helenus adds to them, must be carried out.
var (
	Conditional = &Condition{
		ID: "C12", Title: "lightweight transactions",
		Says:  "The read is not at SERIAL or LOCAL_SERIAL. (Writes with IF are followed: their entry is written first, and is garbage if they are not applied.)",
		Why:   "A read at a serial consistency takes part in Paxos of one partition: read from several it would promise what it does not keep. A serial execution therefore always runs as written.",
		Help:  "Read at a serial consistency only where a decision rests on it; other reads of the statement are served.",
		Where: []Place{OfStatement, OfExecution},
		CQL: `CONSISTENCY SERIAL;
SELECT room FROM hotel.stays WHERE guest = ? ALLOW FILTERING;                    -- as written
UPDATE hotel.stays SET guest = ? WHERE room = ? AND day = ? IF guest = null;     -- followed`,
	}
	Consistency = &Condition{
		ID: "C13", Title: "consistency level",
		Says:  "What Cassandra promises to a read at its consistency of what was written at another, it promises with a look-up as without.",
		Why:   "Entries are written at the level of their write, at least a quorum of their data centre, and read at the level of the read; base rows are read at that level, too; all in the data centre of the client's node.",
		Help:  "Nothing. Reads and writes at ONE are as weak as they are without Helenus; what holds on your cluster is said before approval ([the table](how-it-works.md#how-fresh-answers-are)).",
		Where: []Place{ByDesign},
		CQL: `CONSISTENCY ONE;
UPDATE hotel.stays SET guest = 'ann' WHERE room = ? AND day = ?;   -- sent on at ONE; its entry was written at QUORUM`,
	}
	Retries = &Condition{
		ID: "C15", Title: "retries and idempotence",
		Says:  "A statement that a driver repeats, or sends to two nodes at once, has the effect that it has without Helenus.",
		Why:   "What Helenus adds can be repeated: an entry that is written twice is one entry, or garbage that is removed. Statements of the application are sent on once each time they come.",
		Help:  "Nothing. Idempotence flags of the driver mean what they mean without Helenus.",
		Where: []Place{ByDesign},
		CQL:   `UPDATE hotel.stays SET guest = 'ann' WHERE room = ? AND day = ?;   -- timed out, and sent again by the driver: one entry is left`,
	}
	Deletes = &Condition{
		ID: "C16", Title: "deletes",
		Says:  "A row that was deleted, by its key, with its partition, by a range or by its cell, is in no answer.",
		Why:   "Entries that are left behind cost a read of the base that finds nothing, and are never in an answer. Those of rows named by their key are removed at once, others by the sweep.",
		Help:  "Nothing. Where ranges are deleted often, expect more row reads until the sweep has passed.",
		Where: []Place{ByDesign},
		CQL: `DELETE FROM hotel.stays WHERE room = ? AND day = ?;   -- its entry goes
DELETE FROM hotel.stays WHERE room = ?;               -- its entries are garbage: no answer has them`,
	}
	Batches = &Condition{
		ID: "C18", Title: "batches",
		Says:  "A batch is carried out by Cassandra as it was sent: logged or not, with its own timestamp, and no larger.",
		Why:   "Entries of all its statements are written before the batch, by statements of their own, so it never exceeds Cassandra's limits because of Helenus.",
		Help:  "Nothing.",
		Where: []Place{ByDesign},
		CQL: `BEGIN BATCH
  UPDATE hotel.stays SET guest = ? WHERE room = ? AND day = ?;
  UPDATE hotel.rooms SET taken = true WHERE room = ?;
APPLY BATCH;   -- followed, unchanged`,
	}
)
