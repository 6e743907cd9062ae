package condition

// Copies is what must hold of a table that the application keeps beside its base, for rows to be found by it.
var Copies = &Condition{
	ID: "C24", Title: "tables that the application keeps",
	Says: "Where rows are found by a table that the application keeps itself, a person has said that its writes are trusted: each row of the base has its row there, as soon and as surely as the application sees to it.",
	Why: "Helenus writes nothing there, and reads the rows that it finds again from the base, so what is outdated in that table is in no answer. But a row that is not in it is missing from the answer: between two writes that are not one BATCH, after one of them " +
		"failed, and for good if some writer leaves one out. Verification, comparison and control reads find that, and turn reads back; they can not know it beforehand.",
	Help:  "Look at the writes that are named. If the application writes both tables in one logged BATCH, or a row may be missing for a moment, approve it despite this condition; else do not, or have a look-up table made.",
	Where: []Place{OfKept}, Overrule: true,
	CQL: `BEGIN BATCH
  INSERT INTO hotel.stays (room, day, guest, status) VALUES (?, ?, ?, ?);
  INSERT INTO hotel.stays_by_guest (guest, room, day) VALUES (?, ?, ?);
APPLY BATCH;
SELECT room, status FROM hotel.stays WHERE guest = ? ALLOW FILTERING;   -- found by stays_by_guest, read from stays, once a person has approved it`,
}
