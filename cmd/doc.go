// Package cmd is the place of the programs. There is one: helenus.
//
// It may import everything; nothing imports it.
package cmd
