// Package layered places the boxes of a directed graph in layers and leads its edges around them (Sugiyama's method), for
// diagrams of some dozens up to a few hundred boxes.
//
// Boxes that nothing connects are laid out each for themselves and then set in rows, so that the whole is about as wide as a
// page. Of what is connected:
//
//  1. Cycles are opened by turning the edges that lead back in a search in depth (rank.go).
//  2. Each box gets the layer below the lowest of those that lead to it. A layer that would become too wide gives its boxes
//     to the next. A label is a box of its own on its edge, on a layer between, above what the edge leads to: so labels
//     lie over nothing. What spans several layers becomes a chain of points, one in each layer.
//  3. Orders in the layers are improved by the weighted median of the neighbours, downwards and upwards in turn, and by
//     exchanging neighbours, a fixed number of times; the order with the fewest crossings stays (order.go).
//  4. Brandes and Köpf (2001) gives x: four alignments along the medians, leftmost and rightmost, upwards and downwards, of
//     which the mean of the middle two is taken (place.go). Where that is much wider than any layer must be, layers are
//     drawn together instead, at the price of bends.
//  5. Edges leave boxes below and enter above, at ports that are apart, and go down and sideways only. What goes sideways
//     lies between the layers, each on a track of its own where it would lie on another (route.go). So an edge runs through
//     no box, by construction.
//
// An edge from a box to itself is a loop at its right side. Nothing is random and no map is walked: the same graph has the
// same layout.
//
// It imports nothing. Thin: layers are as high as their highest box; crossings in the tracks of one channel are lessened
// by order, not minimised; two edges may share a stretch of a vertical where their tracks would wait for each other in a
// circle.
package layered
