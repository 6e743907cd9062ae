package admin

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/helenus-db/helenus/advisor/safety"
	"github.com/helenus-db/helenus/advisor/writers"
	"github.com/helenus-db/helenus/capture"
)

// safety tells whether several writers can meet in a partition, row or cell of the application's tables.
func (s *Server) safety(r *http.Request) (any, error) {
	v := r.URL.Query()
	group := safety.Partition
	if text := v.Get("group"); text != "" {
		if group = safety.Group(text); !slices.Contains(safety.Groups, group) {
			return nil, invalid(fmt.Sprintf("group %q is none of partition, row and cell", text))
		}
	}
	snapshot, note, err := s.period(r)
	if err != nil {
		return nil, err
	}
	sc := s.o.Schema()
	if sc == nil {
		return nil, &Error{Status: http.StatusServiceUnavailable, Code: "unavailable", Message: "the schema has not been read yet (see /readyz)"}
	}
	in := writers.Input{Schema: sc, Snapshot: withFindings(snapshot, s.o.Statements()), Statistics: s.o.Measured(), Principal: v.Get("principal")}
	if s.o.Nodes != nil {
		in.Nodes = s.o.Nodes()
	}
	if in.Owners, in.Facts, err = known(v); err != nil {
		return nil, err
	}
	found, err := writers.Make(in)
	var wrong *writers.InputError
	if errors.As(err, &wrong) {
		return nil, invalid(wrong.Reason)
	}
	if err != nil {
		return nil, err
	}
	only := v.Get("table")
	list := []*safety.Finding{}
	for _, t := range found.Tables {
		_, name, _ := strings.Cut(t.Name, ".")
		if only != "" && only != t.Name && only != name {
			continue
		}
		f, err := safety.Judge(t, group, safety.Principal{})
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	if len(list) == 0 && only != "" {
		return nil, notFound(fmt.Sprintf("there is no table %s; there are %s", only, strings.Join(found.Names(), ", ")))
	}
	if v.Get("format") == "text" {
		return textOf(func(w io.Writer) error {
			if err := found.Head(w, note); err != nil {
				return err
			}
			return safety.Text(w, list)
		})
	}
	return safety.Document(list), nil
}

// withFindings is a picture with what was learnt from values, which pictures of the past do not have.
func withFindings(s, now *capture.Snapshot) *capture.Snapshot {
	if s == now {
		return s
	}
	out := *s
	out.Feeds, out.Echoes, out.Bursts, out.Templates, out.Profiles = now.Feeds, now.Echoes, now.Bursts, now.Templates, now.Profiles
	return &out
}

// known reads what somebody knows: owner=FINGERPRINT=column, fact=keyspace.table: a, b -> c.
func known(v url.Values) (owners map[string]string, facts []writers.Fact, err error) {
	owners = map[string]string{}
	for _, text := range v["owner"] {
		id, column, ok := strings.Cut(text, "=")
		if !ok || column == "" {
			return nil, nil, invalid(fmt.Sprintf("owner %q is not FINGERPRINT=column", text))
		}
		owners[strings.TrimSpace(id)] = strings.TrimSpace(column)
	}
	for _, text := range v["fact"] {
		f, ok := writers.ParseFact(text)
		if !ok {
			return nil, nil, invalid(fmt.Sprintf("fact %q is not \"keyspace.table: column, column -> column\"", text))
		}
		facts = append(facts, f)
	}
	return owners, facts, nil
}
