package calibrate

// Predict is what a model says of a shape.
var Predict = (*Shape).predict

// Summary is what is kept of the times that a shape took.
var Summary = summary
