// Package chart draws the charts of a calibration and of the benches as SVG: grouped bars, lines, scattered points, with
// linear or logarithmic axes, in one plain style that stands in style.go alone.
//
// A chart is made by Bars, Lines or Scatter from a Frame (what stands around it) and Series, and written by SVG, alone or
// several on one sheet. What can not be drawn (series of other lengths than their groups, infinities, zero on a logarithmic
// axis) is an error when the chart is made, so that writing it fails only if the writer does. Text may hold anything: it is
// escaped, and what can not be printed is replaced. The same charts give the same bytes, on any machine.
//
// It imports gonum.org/v1/plot and nothing of ours. Text is not embedded: who opens the SVG sees it in Liberation Sans, or
// the nearest that the machine has, which may be a little wider or narrower than the space that was left for it.
package chart
