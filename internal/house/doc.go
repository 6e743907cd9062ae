// Package house holds no code, only the tests that keep the house in order: who may import whom, which top-level
// folders there are, that every package says what it is, that no file or package grows too long (rules_test.go), and that what
// pages and comments refer to is there: links, headings, paths, lines of the acceptance list (docs_test.go). It imports
// nothing.
//
// The rules are data, applied to what go/parser reads from the source files, and to pages, as they lie in the
// working tree. They are themselves tested on small trees that break them.
//
// Where the link is thin: a file is judged by its import lines alone, without regard to build constraints, so an
// import made on one platform only counts everywhere.
package house
