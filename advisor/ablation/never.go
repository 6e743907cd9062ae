//go:build !ablation

package ablation

// Without reports whether a method is switched off.
func Without(Method) bool { return false }
