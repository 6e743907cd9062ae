package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/internal/config"
	"github.com/helenus-db/helenus/internal/guard"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// A backend that says of a statement without markers that it has one, in the partition key, makes gocql panic: it looks for the key's value among
// none. That costs the reading of the schema, which is tried again, and not the process.
func TestBackendThatMakesGocqlPanic(t *testing.T) {
	m := startMock(t, func(r *proxytest.Request) {
		if r.Header.Opcode == wire.OpPrepare {
			r.Reply(wire.OpResult, proxytest.PreparedBody(r.Header.Version, r.Text(), []proxytest.Column{{Name: "id", Type: 13}}, nil))
			return
		}
		proxytest.Default(r)
	})
	s := config.Defaults()
	s.ContactPoints = []string{m.Addr}
	secured, err := secure(s, logger(s))
	if err != nil {
		t.Fatal(err)
	}
	live := schema.NewLive(sessions{s, secured.dialer()}.reading, nil, "")
	defer live.Close()
	before := guard.Count(guard.Session)
	_, err = live.Refresh(t.Context())
	var panicked *guard.Panic
	if !errors.As(err, &panicked) || guard.Count(guard.Session) != before+1 {
		t.Fatalf("%v", err)
	}
	if stack := string(panicked.Stack); !strings.Contains(stack, "gocql.createRoutingKey") {
		t.Errorf("%v\n%s", panicked, stack)
	}
}
