package fleet

import (
	"testing"
	"time"
)

// TestNobodyAnswersWhatItCanNotKnow drives the real protocol through random schedules: whatever happens to members, nobody answers by a change while something was written
// without an entry and not found since.
func TestNobodyAnswersWhatItCanNotKnow(t *testing.T) {
	worlds := 150
	if testing.Short() {
		worlds = 30
	}
	served := 0
	for seed := range uint64(worlds) {
		w := play(seed, 60*time.Second, func(*actor) {})
		if w.harm != "" {
			t.Fatalf("seed %d: %s", seed, w.harm)
		}
		served += w.served
	}
	t.Logf("%d worlds, %d answers looked at", worlds, served)
	if served < 100*worlds {
		t.Errorf("only %d answers in %d worlds: nothing was tried", served, worlds)
	}
}

// TestMutantsAreCaught: the protocol without one of its rules is caught by the same schedules.
func TestMutantsAreCaught(t *testing.T) {
	for name, spoil := range map[string]func(*actor){
		"a member acknowledges what it has not followed":     func(a *actor) { a.blind = a.name == "m1" },
		"the newest beat is trusted":                         func(a *actor) { a.twice = true },
		"a write goes on before the others have turned back": func(a *actor) { a.hasty = true },
		"a leader waits for nobody":                          func(a *actor) { a.careless = true },
		"a member beats while it withholds":                  func(a *actor) { a.loud = true },
		"a barrier waits for no request":                     func(a *actor) { a.open = true },
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(3000) {
				if w := play(seed, 60*time.Second, spoil); w.harm != "" {
					t.Logf("seed %d", seed)
					return
				}
			}
			t.Error("not caught")
		})
	}
}
