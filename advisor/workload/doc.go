// Package workload holds conceptual statements, queries and writes over an entity graph with their weights (seed 003,
// sections 3.2 and 7.1), their language, and the YAML file that holds a model, a workload and existing tables.
//
//	SELECT Guest.name FROM Guest.reservations.room.hotel WHERE hotel.city = ? AND room.rate > ? ORDER BY room.rate LIMIT 10
//	INSERT INTO Reservation SET reservation_id = ?, start_date = ? AND CONNECT TO guest(?), room(?)
//	UPDATE Room FROM Room.reservations.guest SET rate = ? WHERE guest.guest_id = ?
//	DELETE FROM Guest WHERE Guest.guest_id = ?
//	CONNECT Guest(?) TO reservations(?)
//	DISCONNECT Guest(?) FROM reservations(?)
//
// A path starts at an entity and goes on by role names, or by entity names where only one relationship leads there. A field
// is written as a path from any entity of the FROM path, named as in the path or by its own name; a longer path makes a
// branch. A statement may end in GIVEN and fields that the application knows besides, such as the rest of a table's primary
// key: a write needs no support query for those, and a read may use them.
//
// The parser is a lexer and one function per clause (recursive descent). It imports advisor/model only. Thin today: no
// IN, !=, OR, DESC or aggregates (each is refused by name); parameters are not told apart by name.
package workload
