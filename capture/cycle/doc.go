// Package cycle finds how the traffic goes with the time of day.
package cycle
