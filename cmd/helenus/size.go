package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// size is a flag of a number of bytes: 2GB, 500 MB, 1.5GiB or 2000000.
type size float64

// units are what sizes may be given in.
var units = map[string]float64{"": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}

// Set reads the flag.
func (s *size) Set(text string) error {
	number := strings.TrimSpace(text)
	unit := strings.TrimLeft(number, "+-.0123456789eE")
	v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(number, unit)), 64)
	times, known := units[strings.ToUpper(strings.TrimSpace(unit))]
	if v *= times; err != nil || !known || !(v >= 0) || math.IsInf(v, 0) {
		return fmt.Errorf("%s is not a number of bytes, such as 2GB", text)
	}
	*s = size(v)
	return nil
}

// String is the number.
func (s *size) String() string { return strconv.FormatFloat(float64(*s), 'g', -1, 64) }

// Type is what help calls it.
func (s *size) Type() string { return "size" }
