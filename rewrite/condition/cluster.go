package condition

// What must hold of the request, the schema, the client's rights and who else looks on.
var (
	Frames = &Condition{
		ID: "C14", Title: "errors, tracing and payloads",
		Says:  "The request asks for nothing beside the answer: no tracing, no custom payload, no option that Helenus does not know.",
		Why:   "What comes back with the answer (trace id, warnings, payload) is of the statement that Cassandra ran. Where a look-up can not be read, the original runs, and its error is Cassandra's own.",
		Help:  "Nothing: a traced request runs as written. To see a served read, trace it without Helenus.",
		Where: []Place{OfExecution},
		CQL: `TRACING ON;
SELECT room FROM hotel.stays WHERE guest = 'ann' ALLOW FILTERING;   -- as written`,
	}
	Schema = &Condition{
		ID: "C20", Title: "schema changes",
		Says: "Base and look-up table are as they were when the look-up was approved and filled: the base, its primary key, the column and its type; of the look-up table its id, columns, default_time_to_live and owner.",
		Why:  "A base that was dropped and made again, a TRUNCATE, or a look-up table that somebody wrote to, has other rows than the look-up knows: answers would lack rows.",
		Help: "After a change of the base: ask for new advice (`helenus recommendations --now`) and approve that. If the look-up table was dropped or altered: `helenus rollback ID`, `helenus drop ID`, and approve anew. " +
			"Leave tables whose name begins with `helenus_` alone.",
		Where: []Place{OfTable, OfStatement, OfWrite, OfLookUp}, Overrule: true,
		CQL: `ALTER TABLE hotel.stays ADD stars int;                                           -- goes on, after it was verified again
ALTER TABLE hotel.stays DROP guest;                                              -- suspended
SELECT stars FROM hotel.stays WHERE guest = ? ALLOW FILTERING;                    -- refused: it was not there at approval
TRUNCATE hotel.stays;                                                            -- the look-up is emptied and filled anew
DROP TABLE hotel.helenus_stays_by_guest;                                         -- suspended`,
	}
	Rights = &Condition{
		ID: "C21", Title: "rights of the client's role",
		Says:  "The client did not log in: its role may see what it asks for.",
		Why:   "Rights and masks of a role are Cassandra's to judge, with the role's own connection. Helenus reads a look-up by its own role, which may see more.",
		Help:  "Nothing: reads of clients that log in run as written, and their writes are followed. Before approving, see what share of the executions logs in (`helenus connections`).",
		Where: []Place{OfExecution},
		CQL: `LOGIN reporting;
SELECT room FROM hotel.stays WHERE guest = 'ann' ALLOW FILTERING;   -- as written`,
	}
	SideEffects = &Condition{
		ID: "C22", Title: "side effects",
		Says:  "Whoever looks on inside Cassandra (triggers, CDC, audit and slow query logs, exports by Spark) knows that statements of Helenus are among those of the application.",
		Why:   "A served read is several small reads by Helenus's role in place of one, and a write of the column is preceded by a write to the look-up table.",
		Help:  "Have consumers of CDC and audit logs leave out tables whose name begins with `helenus_`, and Helenus's role.",
		Where: []Place{ByDesign},
		CQL:   `-- nodetool enableauditlog --excluded-users helenus`,
	}
)
