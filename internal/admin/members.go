package admin

import (
	"context"
	"errors"
	"net/http"

	"github.com/helenus-db/helenus/internal/fleet"
)

// Members is what the API needs of a fleet; *fleet.Member is one.
type Members interface {
	Fleet() fleet.Fleet
	// Dismiss takes one off the register.
	Dismiss(ctx context.Context, id, actor, reason string) error
}

// fleet is who shares the state.
func (s *Server) fleet() fleet.Fleet {
	if s.o.Members == nil {
		return fleet.Fleet{Role: "alone", Members: []fleet.View{}}
	}
	return s.o.Members.Fleet()
}

// removeMember takes a member off the register that is gone for good.
func (s *Server) removeMember(r *http.Request) (any, error) {
	if s.o.Members == nil {
		return nil, notFound("there is no fleet: the state is kept in a file (state: sqlite)")
	}
	d, err := decision(r)
	if err != nil {
		return nil, err
	}
	err = s.o.Members.Dismiss(r.Context(), r.PathValue("id"), d.Actor, d.Reason)
	if unknown := (*fleet.UnknownError)(nil); errors.As(err, &unknown) {
		return nil, &Error{Status: http.StatusNotFound, Code: "not_found", Message: err.Error()}
	}
	if err != nil {
		return nil, err
	}
	return s.fleet(), nil
}
