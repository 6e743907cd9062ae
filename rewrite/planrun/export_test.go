package planrun

// After is the least text that is greater than all with a prefix.
var After = after
