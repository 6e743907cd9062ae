package migrate

import "sync"

// lock is a mutex whose holder may show what is so while it does what takes long, such as storing it: who only looks does not wait for that.
// Its zero value is free. Who waits for it sleeps, and nobody polls it.
type lock struct {
	mu      sync.Mutex // held for a moment only
	cond    sync.Cond  // of mu: it was freed, or shows something
	held    bool
	showing *Change // what the holder shows; it is never changed
}

func (l *lock) Lock() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.held {
		l.wait()
	}
	l.held = true
}

// TryLock takes it if it is free, and reports whether it did.
func (l *lock) TryLock() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held {
		return false
	}
	l.held = true
	return true
}

func (l *lock) Unlock() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.held {
		panic("unlock of a lock that nobody holds")
	}
	l.held, l.showing = false, nil
	l.cond.Broadcast()
}

// show lets those who look see x, nil for nothing, until it is called again or the lock is freed. Only its holder calls it.
func (l *lock) show(x *Change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.showing = x
	l.cond.Broadcast()
}

// look is what the holder shows, or, once nobody holds the lock, free: it is called while nobody can take it.
func (l *lock) look(free func() Change) Change {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.held && l.showing == nil {
		l.wait()
	}
	if l.showing != nil {
		return l.showing.clone()
	}
	return free()
}

func (l *lock) wait() {
	l.cond.L = &l.mu
	l.cond.Wait()
}
