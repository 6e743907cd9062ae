package condition

// What must hold of the request, the schema, the client's rights and who else looks on.
var (
	Frames = &Condition{
		ID: "C14", Title: "errors, tracing and payloads",
		Says:  "The request asks for nothing beside the answer: no tracing, no custom payload, no option that Helenus does not know.",
		Why:   "What comes back with the answer (trace id, warnings, payload) is of the statement that Cassandra ran. Where a look-up can not be read, the original runs, and its error is Cassandra's own. A statement that Cassandra refuses (a guardrail forbids ALLOW FILTERING, a function was dropped) gets no answer of Helenus either: it is found before anything is served, runs as written, and is asked for again after each verification.",
		Help:  "Nothing: a traced request runs as written. To see a served read, trace it without Helenus.",
		Where: []Place{OfExecution},
		CQL: `TRACING ON;
SELECT room FROM hotel.stays WHERE guest = 'ann' ALLOW FILTERING;   -- as written`,
	}
	Schema = &Condition{
		ID: "C20", Title: "schema changes",
		Says: "Base and look-up table are as they were when the look-up was approved and filled: the base, its primary key, the column and its type; of the look-up table its id, columns, default_time_to_live and owner; of both the replication. A statement without ALLOW FILTERING has an index that Cassandra needs for it.",
		Why:  "A base that was dropped and made again, a TRUNCATE, or a look-up table that somebody wrote to, has other rows than the look-up knows: answers would lack rows. Where an index was dropped Cassandra refuses what it answered before, and so would a client's next PREPARE be.",
		Help: "After a change of the base: ask for new advice (`helenus recommendations --now`) and approve that. If the look-up table was dropped or altered: `helenus rollback ID`, `helenus drop ID`, and approve anew. " +
			"Leave keyspaces and tables whose name begins with `helenus_` alone. After ALTER KEYSPACE of the base's replication: repair, as without Helenus; the look-up is filled anew by itself.",
		Where: []Place{OfTable, OfStatement, OfWrite, OfLookUp}, Overrule: true,
		CQL: `ALTER TABLE hotel.stays ADD stars int;                                           -- goes on, after it was verified again
ALTER TABLE hotel.stays DROP guest;                                              -- suspended
SELECT stars FROM hotel.stays WHERE guest = ? ALLOW FILTERING;                    -- refused: it was not there at approval
SELECT room FROM hotel.stays WHERE guest = ?;                                     -- refused: no index on guest, or it was dropped
TRUNCATE hotel.stays;                                                            -- the look-up is emptied and filled anew
DROP TABLE helenus_data_hotel.helenus_stays_by_guest;                            -- suspended`,
	}
	Rights = &Condition{
		ID: "C21", Title: "rights of the client's role",
		Says:  "Where the client logged in, its role may read what it asks for, as Cassandra itself judges on the client's own connection.",
		Why:   "A look-up is read by Helenus's role, which may read more. So Cassandra must lately (permissions-validity) have carried the statement out for one key on the client's connection before entries are read; rows of the base are always read there, and that there are none is told only if Cassandra has just carried it out.",
		Help:  "Nothing. A read that the role has no right to runs as written, and Cassandra refuses it. To have it served: GRANT SELECT on the table to the role, which then holds without Helenus, too.",
		Where: []Place{OfExecution},
		CQL: `GRANT SELECT ON hotel.stays TO reporting;   LOGIN reporting;
SELECT room FROM hotel.stays WHERE guest = 'ann' ALLOW FILTERING;   -- served
REVOKE SELECT ON hotel.stays FROM reporting;
SELECT room FROM hotel.stays WHERE guest = 'ann' ALLOW FILTERING;   -- as written, and refused`,
	}
	Masks = &Condition{
		ID: "C23", Title: "masked columns",
		Says: "Neither the column that is asked by, nor the primary key, nor a column of the answer or of another condition is masked.",
		Why: "What a masked column reads depends on the role that reads: Helenus's role, without UNMASK, would keep entries of **** and find them right; with it, a look-up " +
			"would hold in the clear what roles that may read all keyspaces, its own included, must not see. Grants on the base or its keyspace do not reach it.",
		Help: "Leave masked columns out of the statement, or DROP MASKED, if that is right for the data. If a column is masked that a look-up has, the change is suspended and the column masked in its table as well, a moment later: " +
			"`helenus rollback ID` and `helenus drop ID`, before the mask if that moment counts. Statements over masked columns run as written.",
		Where: []Place{OfTable, OfStatement},
		CQL: `ALTER TABLE hotel.stays ALTER card MASKED WITH mask_inner(0, 4);
SELECT room, card FROM hotel.stays WHERE guest = ? ALLOW FILTERING;   -- refused
SELECT room FROM hotel.stays WHERE guest = ? ALLOW FILTERING;         -- served
ALTER TABLE hotel.stays ALTER guest MASKED WITH DEFAULT;               -- suspended`,
	}
	SideEffects = &Condition{
		ID: "C22", Title: "side effects",
		Says:  "Whoever looks on inside Cassandra (triggers, CDC, audit and slow query logs, exports by Spark) knows that statements of Helenus are among those of the application.",
		Why:   "A served read is several small reads by Helenus's role in place of one, and a write of the column is preceded by a write to the look-up table.",
		Help:  "Have consumers of CDC and audit logs leave out keyspaces and tables whose name begins with `helenus_`, and Helenus's role. A trigger on the base is warned of: what it writes elsewhere does no harm, what it writes to the base itself Helenus does not see.",
		Where: []Place{ByDesign},
		CQL:   `-- nodetool enableauditlog --excluded-users helenus`,
	}
)
