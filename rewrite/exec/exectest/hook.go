package exectest

import "sync/atomic"

// Hook is a function that a test sets, and takes away, while what calls it is at work. The zero value calls nothing.
type Hook[F any] struct{ f atomic.Pointer[F] }

// Set sets the function.
func (h *Hook[F]) Set(f F) { h.f.Store(&f) }

// Clear takes it away.
func (h *Hook[F]) Clear() { h.f.Store(nil) }

// Get returns the function, and whether there is one.
func (h *Hook[F]) Get() (f F, ok bool) {
	if p := h.f.Load(); p != nil {
		return *p, true
	}
	return f, false
}
