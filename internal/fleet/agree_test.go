package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/capture/store"
)

// TestSettingsAgree: a member whose lease is another does not stay, for a write waits for as long as others may serve; other settings may differ, and that is told.
func TestSettingsAgree(t *testing.T) {
	state := &lone{kinds: map[string][]store.Document{}, beats: map[string]json.RawMessage{}}
	at := time.Duration(0)
	member := func(id string, settings map[string]string) *Member {
		return New(Options{
			Store: state, ID: id, Address: id + ":9042", Form: 1, Settings: settings, Must: []string{"serving-lease"},
			Now: func() time.Duration { return at }, Beside: func(f func()) { f() }, Wait: func(_ context.Context, d time.Duration) error { at += d; return nil },
			Truth: Truth{
				Rules: func() uint64 { return 0 }, Barrier: func(context.Context) error { return nil },
				Withholding: func() bool { return false }, Blocked: func() string { return "" }, Reverify: func(context.Context, string) error { return nil },
			},
		})
	}
	first := member("a", map[string]string{"serving-lease": "4s", "keyspaces": "[shop]"})
	if _, err := first.Join(t.Context()); err != nil {
		t.Fatal(err)
	}
	var refused *SettingError
	if _, err := member("b", map[string]string{"serving-lease": "9s"}).Join(t.Context()); !errors.As(err, &refused) || refused.Member != "a" || refused.Other != "4s" {
		t.Fatalf("%v", err)
	}
	if len(state.kinds[KindMember]) != 1 {
		t.Errorf("who was refused is on the register: %v", state.kinds[KindMember])
	}
	third := member("c", map[string]string{"serving-lease": "4s", "keyspaces": "[shpo]"})
	if alone, err := third.Join(t.Context()); err != nil || alone {
		t.Fatalf("%v, alone: %v", err, alone)
	}
	f := third.Fleet()
	if lines := f.Differences(); len(lines) != 1 || !strings.Contains(lines[0], "keyspaces is") {
		t.Errorf("%q", lines)
	}
}
