// Package picture is what all our diagrams are made of, boxes with rows and links between them, and draws it as SVG.
//
// A Picture says what there is; package layered says where, package svg how it looks. Boxes are as wide as their longest row,
// up to a bound: what is longer ends in "…" and stands whole in the title that a viewer shows. Below the boxes are Lists: a key to
// the signs, the statements that the labels of links stand for, and what the diagram does not show.
//
// Each box is a group of class "box", each row one of class "row", so that a program can read the picture again; their titles
// hold the whole texts where they were cut.
//
// It imports layered and svg. Mermaid text of the same picture is made by package mermaid.
package picture
