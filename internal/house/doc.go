// Package house holds no code, only the test that keeps the house in order: who may import whom, which top-level
// folders there are, that every package says what it is, and that no file or package grows too long. It imports
// nothing.
//
// The rules are data (rules_test.go), applied to what go/parser reads from the source files as they lie in the
// working tree. They are themselves tested on small trees that break them.
//
// Where the link is thin: a file is judged by its import lines alone, without regard to build constraints, so an
// import made on one platform only counts everywhere.
package house
