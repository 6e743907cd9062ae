//go:build race

package drivers

func init() { race = true }
