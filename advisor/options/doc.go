// Package options is seed 000.
package options

func (f *finder) advise() {}
