package admin

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/helenus-db/helenus/capture/store"
)

// Audit is the audit trail; *store.Store has it.
type Audit interface {
	Audit(ctx context.Context, q store.AuditQuery) ([]store.Entry, error)
	Append(ctx context.Context, entries ...store.Entry) error
}

// AuditAnswer is a page of the audit trail, the latest line first.
type AuditAnswer struct {
	Entries []store.Entry `json:"entries"`
	Next    int64         `json:"next,omitempty"` // what the next page is asked for with as before; 0: there is none
}

// audit reads the trail: ?change=ID&actor=NAME&action=approve&since=24h&until=...&limit=100&before=SEQ.
func (s *Server) audit(r *http.Request) (any, error) {
	v := r.URL.Query()
	q := store.AuditQuery{Change: v.Get("change"), Actor: v.Get("actor"), Action: v.Get("action"), Limit: 100}
	var err error
	if q.From, err = moment(v, "since"); err != nil {
		return nil, err
	}
	if q.To, err = moment(v, "until"); err != nil {
		return nil, err
	}
	if text := v.Get("limit"); text != "" {
		if q.Limit, err = strconv.Atoi(text); err != nil || q.Limit < 1 || q.Limit > store.AuditLimit {
			return nil, invalid(fmt.Sprintf("limit %q is no number from 1 to %d; the answer's next asks for more", text, store.AuditLimit))
		}
	}
	if text := v.Get("before"); text != "" {
		if q.Before, err = strconv.ParseInt(text, 10, 64); err != nil || q.Before < 1 {
			return nil, invalid(fmt.Sprintf("before %q is not what an answer gave as next", text))
		}
	}
	list, err := s.o.Audit.Audit(r.Context(), q)
	if err != nil {
		return nil, err
	}
	answer := AuditAnswer{Entries: list}
	if len(list) == q.Limit {
		answer.Next = list[len(list)-1].Seq
	}
	return answer, nil
}

// noted writes an order into the trail that changes nothing in the state, before it is carried out.
func (s *Server) noted(ctx context.Context, action, target, reason, actor string) error {
	e := store.Entry{Action: action, Target: target, Reason: reason}.By(ctx, actor)
	s.o.Log.Info("order", "order", action, "target", target, "actor", e.Actor, "from", e.From)
	return s.o.Audit.Append(ctx, e)
}
