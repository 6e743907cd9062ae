//go:build ablation

package ablation

import (
	"os"
	"slices"
	"strings"
)

var without = strings.Split(os.Getenv(Variable), ",")

// Without reports whether a method is switched off.
func Without(m Method) bool { return slices.Contains(without, string(m)) }
