package twintest

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/datastax/go-cassandra-native-protocol/frame"
	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
)

// Way is how a statement is sent.
type Way int

// The ways.
const (
	Query   Way = iota // QUERY: a text, perhaps with values
	Execute            // EXECUTE of what was prepared
	Batch              // BATCH of Children
)

// Value is a bound value.
type Value = *primitive.Value

// Statement is one request. In its texts @ stands for the keyspace.
type Statement struct {
	Way      Way
	Text     string
	Values   []Value
	Named    map[string]Value // instead of Values
	Children []Statement      // of a Batch: Query or Execute
	Unlogged bool             // the Batch is
	Counter  bool             // the Batch is of counters
	At       int64            // the protocol's default timestamp, microseconds; 0: none
	Level    primitive.ConsistencyLevel
	Page     int32 // most rows of the answer; 0: 5,000
}

// String is the statement as a person would write it.
func (s Statement) String() string {
	if s.Way == Batch {
		texts := make([]string, len(s.Children))
		for i, c := range s.Children {
			texts[i] = c.Text
		}
		return "BATCH[" + strings.Join(texts, "; ") + "]"
	}
	return s.Text
}

// Answer is what Cassandra said.
type Answer struct {
	Code    primitive.ErrorCode // 0xFFFF: none
	Message string
	Rows    [][][]byte
	Columns []string
	Types   []string // of the columns
	More    bool     // there are more pages
}

// NoError is the Code of an Answer that is none.
const NoError primitive.ErrorCode = 0xFFFF

// Failed tells whether it is an error.
func (a Answer) Failed() bool { return a.Code != NoError }

// Refused tells whether it is one by which Cassandra says that it did not even try.
func (a Answer) Refused() bool { return a.Failed() && a.Code >= 0x2000 && a.Code < 0x2500 }

// Applied is the answer of a conditional statement; known is false for any other.
func (a Answer) Applied() (applied, known bool) {
	if len(a.Columns) == 0 || a.Columns[0] != "[applied]" || len(a.Rows) == 0 {
		return false, false
	}
	return bytes.Equal(a.Rows[0][0], []byte{1}), true
}

// Conn is a connection over which one request after the other is sent. Any error of a method but New's means that it is
// unusable, and that what was asked for last may have been carried out or not.
type Conn struct {
	conn     net.Conn
	reader   *bufio.Reader
	codec    frame.Codec
	timeout  time.Duration
	keyspace string
	prepared map[string][]byte
}

// Dial connects to address, for statements in a keyspace.
func Dial(address, keyspace string, timeout time.Duration) (*Conn, error) {
	conn, err := net.DialTimeout("tcp", address, timeout)
	if err != nil {
		return nil, err
	}
	c := &Conn{conn: conn, reader: bufio.NewReader(conn), codec: frame.NewCodec(), timeout: timeout, keyspace: keyspace, prepared: map[string][]byte{}}
	got, err := c.ask(message.NewStartup())
	if err == nil {
		if _, ok := got.(*message.Ready); !ok {
			err = fmt.Errorf("STARTUP was answered by %v", got)
		}
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

// Close closes the connection.
func (c *Conn) Close() { _ = c.conn.Close() }

func (c *Conn) ask(m message.Message) (message.Message, error) {
	if err := c.conn.SetDeadline(time.Now().Add(c.timeout)); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := c.codec.EncodeFrame(frame.NewFrame(primitive.ProtocolVersion4, 1, m), &out); err != nil {
		return nil, err
	}
	if _, err := c.conn.Write(out.Bytes()); err != nil {
		return nil, err
	}
	got, err := c.codec.DecodeFrame(c.reader)
	if err != nil {
		return nil, err
	}
	return got.Body.Message, nil
}

func (c *Conn) text(s string) string { return strings.ReplaceAll(s, "@", c.keyspace) }

// prepare returns the id of a text, or the answer that says why there is none.
func (c *Conn) prepare(text string) (id []byte, refusal message.Error, err error) {
	text = c.text(text)
	if id := c.prepared[text]; id != nil {
		return id, nil, nil
	}
	got, err := c.ask(&message.Prepare{Query: text})
	if err != nil {
		return nil, nil, err
	}
	switch m := got.(type) {
	case *message.PreparedResult:
		c.prepared[text] = m.PreparedQueryId
		return m.PreparedQueryId, nil, nil
	case message.Error:
		return nil, m, nil
	}
	return nil, nil, fmt.Errorf("PREPARE was answered by %v", got)
}

// Do sends a statement and waits for the answer. What has to be prepared is, once a connection.
func (c *Conn) Do(s Statement) (Answer, error) {
	for again := 0; ; again++ {
		m, refusal, err := c.message(s)
		if err != nil {
			return Answer{}, err
		}
		if refusal != nil {
			return Answer{Code: refusal.GetErrorCode(), Message: refusal.GetErrorMessage()}, nil
		}
		got, err := c.ask(m)
		if err != nil {
			return Answer{}, err
		}
		if _, forgotten := got.(*message.Unprepared); forgotten && again < 3 {
			clear(c.prepared)
			continue
		}
		a, err := read(got)
		if err == nil && a.More && s.Page == 0 {
			err = errors.New("an answer has more than one page")
		}
		return a, err
	}
}

func (c *Conn) message(s Statement) (message.Message, message.Error, error) {
	level := cmp.Or(s.Level, primitive.ConsistencyLevelOne)
	var at *int64
	if s.At != 0 {
		at = &s.At
	}
	options := &message.QueryOptions{Consistency: level, PositionalValues: s.Values, NamedValues: s.Named, DefaultTimestamp: at, PageSize: cmp.Or(s.Page, 5000)}
	switch s.Way {
	case Query:
		return &message.Query{Query: c.text(s.Text), Options: options}, nil, nil
	case Execute:
		id, refusal, err := c.prepare(s.Text)
		return &message.Execute{QueryId: id, Options: options}, refusal, err
	}
	b := &message.Batch{Consistency: level, DefaultTimestamp: at}
	switch {
	case s.Unlogged:
		b.Type = primitive.BatchTypeUnlogged
	case s.Counter:
		b.Type = primitive.BatchTypeCounter
	}
	for _, child := range s.Children {
		one := &message.BatchChild{Query: c.text(child.Text), Values: child.Values}
		if child.Way == Execute {
			id, refusal, err := c.prepare(child.Text)
			if refusal != nil || err != nil {
				return nil, refusal, err
			}
			one.Query, one.Id = "", id
		}
		b.Children = append(b.Children, one)
	}
	return b, nil, nil
}

func read(got message.Message) (Answer, error) {
	a := Answer{Code: NoError}
	switch m := got.(type) {
	case message.Error:
		a.Code, a.Message = m.GetErrorCode(), m.GetErrorMessage()
	case *message.RowsResult:
		a.More = m.Metadata.PagingState != nil
		a.Rows = m.Data
		for _, column := range m.Metadata.Columns {
			a.Columns, a.Types = append(a.Columns, column.Name), append(a.Types, fmt.Sprint(column.Type))
		}
	case *message.VoidResult, *message.SetKeyspaceResult, *message.SchemaChangeResult:
	default:
		return a, fmt.Errorf("no answer to a statement: %v", got)
	}
	return a, nil
}
