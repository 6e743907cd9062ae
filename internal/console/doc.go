// Package console is what people see at /ui: pages that the server writes, of what the admin API answers. It asks the API in the process,
// by the API's own routes, so that a page can neither show nor do what the API would refuse.
//
// Every page works without a script where it only reads, and every order is a form on a page of its own that says first what would
// happen. The scripts sort tables, copy commands and exchange what lives; what they show the server has written, and escaped.
//
// Colours are one table (look.go) with a value for light and one for dark; the tests compute the contrast of each pair that is used.
// The policy of contents allows no inline script and no inline style, and nothing from elsewhere.
package console
