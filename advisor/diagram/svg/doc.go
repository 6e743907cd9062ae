// Package svg writes drawings as SVG: rectangles, paths and text on a Sheet, with the colours of a light and a dark theme.
//
// A drawing names classes, never colours. What a class looks like stands in style.go, in colours that have a value for each
// theme; the file follows the reader's own (prefers-color-scheme) unless one is asked for. Viewers that know no media
// queries show the light one.
//
// Text is set in Liberation Sans, whose letters are as wide as Arial's and Helvetica's, and is measured with its own font file
// (Width), so that boxes can be made to fit. It is not embedded. Each text says how wide it was measured, so that a viewer
// with other letters spaces them to that.
//
// The same calls give the same bytes. Whatever text holds is escaped; what XML can not hold, or no eye can see, is replaced.
//
// It imports nothing of ours. Thin: letters that the font does not have are taken to be as wide as high.
package svg
