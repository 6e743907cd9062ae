//go:build race

package tcp

const raceDetected = true
