package rewrite

// TurnBack has all reads run as they were written from now on, because something that the truth of look-ups rests on failed (a
// part panicked, the state was lost). Entries are written as before, so nothing is missed. Every migration is suspended, which is saved, and
// verified when a person resumes it; one whose suspension can not be saved serves no more in this process. It does not block.
func (e *Engine) TurnBack(reason string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, a := range e.active {
		e.turnBack(a, reason)
	}
}

func (e *Engine) turnBack(a *active, reason string) {
	a.holds.Add(1)
	e.wait.Add(1)
	go func() {
		defer e.wait.Done()
		if e.suspend(a, reason) {
			a.holds.Add(-1)
		}
	}()
}
