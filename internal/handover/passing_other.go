//go:build !linux

package handover

import (
	"context"
	"log/slog"
	"time"
)

// Giver waits for nobody on this system.
type Giver struct{}

// Request is never made on this system.
type Request struct{ PID int }

// Listen returns ErrUnsupported.
func Listen(string, time.Duration, *slog.Logger) (*Giver, error) { return nil, ErrUnsupported }

// Asked is where nobody turns up.
func (g *Giver) Asked() <-chan *Request { return nil }

// Close does nothing.
func (g *Giver) Close() {}

// Refuse does nothing.
func (r *Request) Refuse(string) error { return ErrUnsupported }

// Going does nothing.
func (r *Request) Going() error { return ErrUnsupported }

// Give does nothing.
func (r *Request) Give([]Kept) error { return ErrUnsupported }

// Take returns ErrUnsupported.
func Take(context.Context, string) ([]Socket, error) { return nil, ErrUnsupported }
