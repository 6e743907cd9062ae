// Package workload holds conceptual statements, queries and writes over an entity graph with their weights (seed 003,
// sections 3.2 and 7.1), their language, and the YAML file that holds a model, a workload, existing tables and schemas.
//
//	SELECT Guest.name FROM Guest.reservations.room.hotel WHERE hotel.city = ? AND room.rate BETWEEN ? AND ? ORDER BY room.rate DESC LIMIT 10
//	SELECT hotel.city, count(*), avg(room.rate) FROM Room.hotel WHERE room.floor IN (?, ?) GROUP BY hotel.city
//	SELECT Hotel.name, rooms.rate FROM Hotel.rooms WHERE Hotel.name LIKE 'Grand%' ORDER BY rooms.rate LIMIT 3 PER Hotel.hotel_id
//	INSERT INTO Reservation SET reservation_id = ?, start_date = ? AND CONNECT TO guest(?), room(?)
//	UPDATE Room FROM Room.reservations.guest SET rate = rate + ? WHERE guest.guest_id = ?
//	DELETE FROM Guest WHERE Guest.guest_id = ?
//	CONNECT Guest(?) TO reservations(?)
//	DISCONNECT Guest(?) FROM reservations(?)
//
// A path starts at an entity and goes on by role names, or by entity names where only one relationship leads there. A field
// is written as a path from any entity of the FROM path, named as in the path or by its own name; a longer path makes a
// branch. FROM takes several paths, which begin at one entity or at a name of a path before.
//
// An entity that is met over two relationships is two occurrences of it: `SELECT comment.from_user.name,
// comment.to_user.name FROM comment`. A step that is taken again leads to the same occurrence, back over the edge it came by
// too; AS makes another one and gives it a name, which then stands instead of the role: `FROM employee.manager.reports AS
// colleague`. Printed statements number them: `FROM comment.from_user, comment.to_user AS user#2`; they read back to the same.
// A name that is given to two ways closes a circle, and is refused.
//
// Conditions are =, !=, <, <=, >, >=, BETWEEN, IN and LIKE with a prefix, joined by AND; a query may have none. IN takes a list,
// or a parameter for the list with the mean number of its values: `IN ?ids ITEMS 25`, 10 if it does not say. ORDER BY mixes ASC
// and DESC. `LIMIT 3 PER fields` keeps three rows of those that have the same values there, before `LIMIT 10`. Of a grouped
// query, SELECT, PER and ORDER BY name fields of GROUP BY only; of DISTINCT, those of SELECT. GROUP BY and ORDER BY may come in
// either order. What follows -- is a comment.
//
// A statement may end in GIVEN and fields that the application knows besides, such as the rest of a table's primary key: a write
// needs no support query for those, and a read may use them.
//
// A weight is a rate. It may be one for each mix, a list of one for each time step (whose mean then counts), or both. A weight
// of 0 is one, too: the statement does not run then, but can be answered (seed 004, W-1). `interval` is how long time steps
// are, in seconds: a number for all, or a list of one for each (time.go).
//
// The parser is a lexer and one function per clause (recursive descent); model.Scope resolves paths. Every error knows what
// text it is about: *SyntaxError in the statement, *model.FileError in the file, with the text underlined. It imports
// advisor/model only. Thin: there is no OR and no nested query; values of SET are not kept, and parameters are not told apart
// by name. Two connections of one INSERT to the same entity set over different relationships name the same entity.
package workload
