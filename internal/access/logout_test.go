package access

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/helenus-db/helenus/capture/store"
)

// Whoever makes up cookies keeps nobody from ending a session at a member that has not heard of it, however many of them are ended too.
func TestUnheardOfSessionEndsThoughTooMuchIsAsked(t *testing.T) {
	m := newMembers(t)
	ann := m.create("ann", Operator, 0)
	a, b := m.another("secret"), m.another("secret")
	end := func(text string) { b.End(httptest.NewRecorder(), request("Cookie", Cookie+"="+text)) }
	c := begin(t, a, ann)
	for range maxSessions + askedAtOnce {
		end(secret())
	}
	if n := len(b.Sessions().ended); n > maxSessions {
		t.Errorf("%d that were made up are remembered", n)
	}
	if err := b.Sessions().Reload(t.Context()); err != nil { // tells that they were
		t.Fatal(err)
	}
	b.Sessions().mu.Lock()
	delete(b.Sessions().all, idOf(c.Value)) // as if it began after that
	b.Sessions().mu.Unlock()
	end(c.Value)
	for _, g := range []*Gate{b, a} {
		if err := g.Sessions().Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := show(g, c); !errors.Is(err, ErrEnded) {
			t.Errorf("it holds: %v", err)
		}
	}
	if err := b.Sessions().Reload(t.Context()); err != nil || len(b.Sessions().ended) != 0 {
		t.Errorf("%v; %d that are stored nowhere are remembered", err, len(b.Sessions().ended))
	}
}

// meanwhile is a store in which something happens between the reading and the answer.
type meanwhile struct {
	*shared
	happens func()
}

func (s *meanwhile) happen() {
	if f := s.happens; f != nil {
		s.happens = nil
		f()
	}
}

func (s *meanwhile) List(ctx context.Context, kind string) ([]store.Document, error) {
	list, err := s.shared.List(ctx, kind)
	s.happen()
	return list, err
}

func (s *meanwhile) Load(ctx context.Context, kind, id string, v any) error {
	err := s.shared.Load(ctx, kind, id, v)
	s.happen()
	return err
}

// A session that ends while the state is read, which still has it, does not begin anew by that.
func TestSessionEndsWhileTheStateIsRead(t *testing.T) {
	for name, read := range map[string]func(*Sessions, string) error{
		"all": func(s *Sessions, _ string) error { return s.Reload(context.Background()) },
		"one": func(s *Sessions, text string) error {
			s.all = map[string]session{} // it has not heard of it
			_, _, err := s.find(context.Background(), text, time.Time{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMembers(t)
			ann := m.create("ann", Operator, 0)
			g := m.another("secret")
			state := &meanwhile{shared: m.state}
			g.Sessions().store = state
			c := begin(t, g, ann)
			state.happens = func() { g.End(httptest.NewRecorder(), request("Cookie", c.Name+"="+c.Value)) }
			if err := read(g.Sessions(), c.Value); err != nil {
				t.Fatal(err)
			}
			if _, err := show(g, c); !errors.Is(err, ErrEnded) {
				t.Errorf("it holds: %v", err)
			}
		})
	}
}
