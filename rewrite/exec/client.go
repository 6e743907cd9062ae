package exec

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/proxy"
)

// Client reads on one client's own connection to Cassandra, and so with the rights of its role, while a request of that client is
// taken.
type Client struct {
	asker  proxy.Asker
	within time.Duration
}

// OnClient returns the Client of a request. within is how long Cassandra may itself remember what a role may (permissions_validity). ok is false if
// nothing can be asked on its connection.
func OnClient(r *proxy.Request, within time.Duration) (c *Client, ok bool) {
	a, ok := r.Responder.(proxy.Asker)
	return &Client{a, within}, ok
}

// Query runs a SELECT and returns its whole answer. An ERROR of Cassandra's is a *ClientError.
func (c *Client) Query(ctx context.Context, q Query) (Answer, error) {
	p, body, err := c.asker.Ask(ctx, proxy.Own{Text: q.Text, Values: q.Values, Consistency: uint16(q.Consistency), // #nosec G115 -- as on the wire
		Metadata: strings.HasPrefix(q.Text, "SELECT * ")}) // its columns may change under a prepared statement
	if err != nil {
		return Answer{}, onClient(err)
	}
	names, rows, err := parseRows(body)
	if err != nil {
		return Answer{}, fmt.Errorf("read an answer on the client's connection: %w", err)
	}
	answer := Answer{Columns: names, Rows: rows}
	if names == nil {
		for _, column := range p.Results {
			answer.Columns = append(answer.Columns, column.Name)
		}
	}
	if len(answer.Columns) == len(p.Results) {
		answer.typed = func(i int, t proxy.Type) bool { return equal(&p.Results[i].Type, &t) }
	}
	return answer, nil
}

// Describe is what Cassandra says of a statement.
func (c *Client) Describe(ctx context.Context, text string) (*proxy.Prepared, error) {
	p, err := c.asker.Describe(ctx, text)
	if err != nil {
		return nil, onClient(err)
	}
	return p, nil
}

// Outdated has the next Describe ask Cassandra again for what p says.
func (c *Client) Outdated(p *proxy.Prepared) { c.asker.Outdated(p) }

// Lately tells whether Cassandra carried a statement out on this connection no longer ago than it may remember a role's rights.
func (c *Client) Lately(text string) bool {
	ago, ok := c.asker.Lately(text)
	return ok && time.Duration(ago) < c.within
}

// ClientError is an error on a client's connection, of Cassandra's or on the way: it says nothing of what our own session can do.
type ClientError struct {
	cause error
	code  int
	text  string
}

var _ gocql.RequestError = (*ClientError)(nil)

func onClient(err error) error {
	e := &ClientError{cause: err}
	var refused *proxy.Refused
	if errors.As(err, &refused) {
		e.code, e.text = int(refused.Code), refused.Text
	}
	return e
}

// Error implements error.
func (e *ClientError) Error() string { return "on the client's connection: " + e.cause.Error() }

// Unwrap implements errors.Is.
func (e *ClientError) Unwrap() error { return e.cause }

// Code implements gocql.RequestError; 0 if it is not from Cassandra.
func (e *ClientError) Code() int { return e.code }

// Message implements gocql.RequestError.
func (e *ClientError) Message() string { return e.text }
