// Package plan holds plans: what the optimiser chooses and the executor runs.
package plan
