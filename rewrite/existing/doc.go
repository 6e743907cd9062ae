// Package existing is the kind of change that finds rows by a table which the application keeps itself: orders by customer, beside orders. It makes no
// table, fills nothing and writes nothing.
//
//	read      the keys of the base that the application's table has of the values asked for; then the base rows by these keys, by the application's own
//	          statement, as a look-up does (package lookup): what is outdated in that table is in no answer
//	shadow    answers are compared with the original's; so are some reads that are served (control)
//	verify    both tables are read whole: a base row that is not in the other table, looked at several times, is one that answers would lack
//
// So an answer can only lack rows, and only such as the application has not written to its table, yet or ever. That is for a person to accept, by
// a condition (condition.Copies), which refuses until then. See docs/decisions/061.
//
// A client that has logged in has both tables read on its own connection: it needs the right to both.
//
// It imports package lookup and what that rests on for reading by keys, and what kinds may.
package existing
