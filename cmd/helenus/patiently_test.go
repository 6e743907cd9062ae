package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/capture/store"
	"github.com/helenus-db/helenus/internal/config"
	"github.com/helenus-db/helenus/internal/keyspace"
)

// TestAStartWaitsForTheState: a state in Cassandra that can not be read just now is waited for, one that would fail again is not; nor is a file.
func TestAStartWaitsForTheState(t *testing.T) {
	slow := errors.New("operation timed out - received only 1 responses")
	garbled := fmt.Errorf("restore changes: load: %w", json.Unmarshal([]byte("{"), new(int)))
	for name, c := range map[string]struct {
		shared bool
		fails  []error
		tries  int
		err    error
	}{
		"at once":             {true, nil, 1, nil},
		"twice too slow":      {true, []error{slow, slow}, 3, nil},
		"a file":              {false, []error{slow}, 1, slow},
		"of a newer version":  {true, []error{slow, fmt.Errorf("state: %w", store.ErrNewer)}, 2, store.ErrNewer},
		"moved":               {true, []error{store.ErrMoved}, 1, store.ErrMoved},
		"garbled":             {true, []error{garbled}, 1, garbled},
		"until it is stopped": {true, []error{slow, slow, slow, slow, slow, slow, slow, slow, slow, slow, slow, slow}, 0, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &helenus{settings: &config.Settings{StateKeyspace: "helenus"}, log: slog.New(slog.DiscardHandler)}
				if c.shared {
					h.shared = &keyspace.Store{}
				}
				ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
				defer cancel()
				tries := 0
				err := h.patiently(ctx, func() error {
					if tries++; tries <= len(c.fails) {
						return c.fails[tries-1]
					}
					return nil
				})
				if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
					t.Errorf("it ends with %v", err)
				}
				if c.tries > 0 && tries != c.tries {
					t.Errorf("%d tries", tries)
				}
			})
		})
	}
}

// TestAStartSaysWhatTheStateWaitsFor: a password, a right or a port that asks for TLS is not mended by waiting for nodes.
func TestAStartSaysWhatTheStateWaitsFor(t *testing.T) {
	s := &config.Settings{ContactPoints: []string{"10.0.0.1:9042"}, StateKeyspace: "helenus", Username: "helenus"}
	for _, c := range []struct {
		err         error
		says, never string
	}{
		{noSession(s, errors.New("gocql: unable to create session: Provided username helenus and/or password are incorrect")), "Start this process anew with settings that Cassandra takes", "majority"},
		{noSession(s, errors.New("gocql: unable to create session: authentication required (using \"org.apache.cassandra.auth.PasswordAuthenticator\")")), "set username and HELENUS_PASSWORD", "majority"},
		{noSession(s, errors.New("gocql: unable to create session: EOF")), "set cassandra-tls", "majority"},
		{noSession(s, errors.New("gocql: no response to connection startup within timeout")), "Once a majority of its replicas answers", "Start this process anew"},
		{refusal(gocql.ErrCodeUnauthorized), "SELECT and MODIFY", "majority"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			h := &helenus{settings: s, log: slog.New(slog.NewTextHandler(&log, nil)), shared: &keyspace.Store{}}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
			defer cancel()
			_ = h.patiently(ctx, func() error { return c.err })
			if said := log.String(); !strings.Contains(said, c.says) || strings.Contains(said, c.never) {
				t.Errorf("%v: %s", c.err, said)
			}
		})
	}
}

// refusal is what Cassandra answers, by its code.
type refusal int

func (r refusal) Code() int     { return int(r) }
func (refusal) Message() string { return "no" }
func (refusal) Error() string   { return "no" }
