package proxy

import (
	"context"
	"fmt"

	"github.com/helenus-db/helenus/proxy/rule"
	"github.com/helenus-db/helenus/proxy/statement"
	"github.com/helenus-db/helenus/proxy/wire"
)

// This file is the whole of what the proxy asks of the rest of Helenus: somebody who listens (Recorder) and somebody who
// may answer in Cassandra's place (Rewriter). Both are nil-able; without them the proxy is a bare relay.

// Recorder hears what was said. Its methods are called from relay goroutines, many at once; they do not block, and they
// keep no byte slice that is passed to them.
type Recorder interface {
	// Statement returns the record of a statement text said while keyspace was in use ("" if none). It is asked once for
	// each id that Cassandra gave, whatever connections use it, and once per QUERY. It never returns nil.
	Statement(keyspace, text string) Record
	// Batch returns the record of a BATCH of these children (kind as on the wire: 0 logged, 1 unlogged, 2 counter).
	// The slice is reused by the caller.
	Batch(kind byte, children []Record) Record
	// Unknown returns the record of requests of which it is not known what they say: an id that was prepared elsewhere, a
	// body that can not be read. It never returns nil.
	Unknown() Record
	// Mark returns a number that the Recorder wants to find in c.Mark. It is asked whenever something was learned of the
	// client.
	Mark(c *Client) uint64
	// Sampling tells whether a value window is open now for this client: one atomic load. While it is, exchanges come
	// with Request and Response filled.
	Sampling(c *Client) bool
}

// Record counts one statement. Done is on the hot path: no allocation, no lock that other statements share. Two of one
// statement are equal by ==, so a Record is a pointer, or another type that can be compared.
type Record interface {
	// Prepared tells what Cassandra answered to a PREPARE of this statement. p is immutable and may be kept.
	Prepared(p *Prepared)
	// Done counts finished exchanges of the statement: those whose answers went to one client at once, at least one. xs is
	// reused after the call. A child of a batch, for which InBatch is set, comes alone, and so does one with Values or a Response.
	Done(xs []Exchange)
}

// Client is one client connection, and who is at its other end. It is immutable: what is learned during the handshake
// comes with a new one. What the client says of itself is cut to 256 bytes and is valid UTF-8; it may still hold anything.
type Client struct {
	ID          uint64 // number of the connection, unique in this process
	Address     string // remote host:port
	Node        string // host:port of its Cassandra node
	Application string // STARTUP option APPLICATION_NAME, else ""
	Driver      string // STARTUP option DRIVER_NAME, else ""
	Instance    string // STARTUP option CLIENT_ID, else ""
	Version     byte   // protocol version
	User        bool   // Cassandra asked it to authenticate

	ApplicationVersion string // STARTUP option APPLICATION_VERSION, else ""
	DriverVersion      string // STARTUP option DRIVER_VERSION, else ""
	Compression        string // STARTUP option COMPRESSION, else ""
	Role               string // that it logged in as; "" if it did not, or not by user and password
	TLS                *TLS   // nil: none

	Mark uint64 // what Recorder.Mark said; 0 without a Recorder
}

// TLS is how a client's connection is secured. Immutable.
type TLS struct {
	Version string // "TLS 1.3"
	Cipher  string // "TLS_AES_128_GCM_SHA256"
	Peer    string // subject of the certificate that the client showed, "" if none was asked for
	Resumed bool   // the handshake took up an earlier session
}

// Exchange is one request and its answer. What is counted of every one comes first, so that it lies together.
type Exchange struct {
	Client        *Client
	Prepared      *Prepared // nil for QUERY, and for an id prepared elsewhere
	Start, End    int64     // nanoseconds since the proxy started: request read, answer handed to the client's socket
	RequestBytes  int       // frame bodies, bytes; decompressed, if they came compressed
	ResponseBytes int
	Rows          int // rows in the answer, -1 if it does not say
	// Hash is of the request's body without its timestamp, under a key of this process; 0 if the body was not seen whole. Who
	// says the same again has the same hash.
	Hash uint64
	Manner
	Opcode   byte    // of the request: OpQuery, OpExecute or OpBatch; or OpPrepare, if it failed
	Children int     // statements in a BATCH that are known
	Values   []Value // bound values, only while sampling; a BATCH has none, its children have theirs
	Response []byte  // body of a RESULT Rows answer after its kind: metadata, rows; only while sampling; may be cut short
	Trace    *Trace  // that the application keeps and the request is part of, if Options.Traces is set; valid during the call
}

// Manner is how a request was said and answered, as far as it is one of few. Most exchanges of a statement have the same.
type Manner struct {
	Consistency       uint16 // as on the wire
	SerialConsistency uint16 // of a conditional write, as on the wire, 0 if not sent
	ErrorCode         int32  // of the ERROR, if Failed
	Warnings          uint16 // which, if Warned: 1 << the place in WarningNames of each
	Applied           byte   // Applied or NotApplied for a conditional write that Cassandra answered, else 0
	Failed            bool   // answered by an ERROR message
	InBatch           bool   // counted as a child of a batch
	Paged             bool   // the request carried a paging state
	MorePages         bool   // the answer says so
	Serial            bool   // read at SERIAL or LOCAL_SERIAL
	Stamped           bool   // the request carried a timestamp of its client's
	Warned            bool   // the answer carries warnings
	Rewritten         bool   // answered by the Rewriter, not by Cassandra
}

// Prepared is what Cassandra answered to a PREPARE.
type Prepared = statement.Prepared

// Column is a bind variable or a column of a result.
type Column = statement.Column

// Type is a column's type, as the protocol says it.
type Type = statement.Type

// Codes of types, as the protocol has them.
const (
	TypeCustom    = wire.TypeCustom
	TypeASCII     = wire.TypeASCII
	TypeBigint    = wire.TypeBigint
	TypeBlob      = wire.TypeBlob
	TypeBoolean   = wire.TypeBoolean
	TypeCounter   = wire.TypeCounter
	TypeDecimal   = wire.TypeDecimal
	TypeDouble    = wire.TypeDouble
	TypeFloat     = wire.TypeFloat
	TypeInt       = wire.TypeInt
	TypeTimestamp = wire.TypeTimestamp
	TypeUUID      = wire.TypeUUID
	TypeVarchar   = wire.TypeVarchar
	TypeVarint    = wire.TypeVarint
	TypeTimeuuid  = wire.TypeTimeuuid
	TypeInet      = wire.TypeInet
	TypeDate      = wire.TypeDate
	TypeTime      = wire.TypeTime
	TypeSmallint  = wire.TypeSmallint
	TypeTinyint   = wire.TypeTinyint
	TypeDuration  = wire.TypeDuration
	TypeList      = wire.TypeList
	TypeMap       = wire.TypeMap
	TypeSet       = wire.TypeSet
	TypeUDT       = wire.TypeUDT
	TypeTuple     = wire.TypeTuple
)

// Value is one bound value.
type Value struct {
	Name  string // "" if positional
	Bytes []byte // nil if Null or Unset
	Null  bool
	Unset bool
}

// Rewriter may change a statement's text, or take a request over.
type Rewriter interface {
	// Epoch is raised whenever Rule may answer differently than before. It is loaded for every request, so it is one
	// atomic load. A connection that sees a new epoch asks Rule again for the statements that it knows.
	Epoch() uint64
	// Rule returns what is to be done with a statement said in a keyspace, or nil: nothing, as nearly always.
	Rule(keyspace, text string) Rule
	// Unsure is Rule for a statement of which it is not known in which keyspace it is said, as a USE is under way on its connection.
	Unsure(text string) Rule
	// Take is offered every EXECUTE and QUERY whose statement has a Rule, and every BATCH in which a child has one.
	// It runs on the relay's goroutine and must not block. On false the request is forwarded as it came. On true it
	// belongs to the Rewriter, which calls exactly one of r.Forward, r.Answer, r.Fail, once, from any goroutine, soon.
	Take(r *Request) bool
	// Opaque is told of a connection whose requests can not be read (it agreed with Cassandra on a compression that the
	// proxy does not know). The returned function is called when the connection has ended.
	Opaque(c *Client) (ended func())
}

// Rule is what is to be done with a statement.
type Rule = rule.Rule

// Named is a Rule with a name, under which it is counted.
type Named = rule.Named

// Request is one request that the Rewriter may take. It is valid until Forward, Answer or Fail was called; its slices
// belong to it, so they may be read from other goroutines until then.
type Request struct {
	Client   *Client
	Version  byte
	Flags    byte // of the frame header: tracing 0x02, custom payload 0x04, ...
	Opcode   byte
	Stream   int16
	Keyspace string // in use on the connection, or named by the v5 request
	Start    int64  // as Exchange.Start

	// EXECUTE, QUERY
	Prepared *Prepared // EXECUTE
	Text     string    // QUERY, and EXECUTE (the text prepared)
	Rule     Rule
	Values   []Value

	// BATCH
	BatchType byte
	Children  []Child

	Consistency       uint16
	SerialConsistency uint16 // 0 if not sent (SERIAL is 8, LOCAL_SERIAL 9)
	SkipMetadata      bool
	PageSize          int32  // 0 if not sent
	PagingState       []byte // nil if not sent; an empty one Cassandra refuses
	HasTimestamp      bool
	Timestamp         int64 // microseconds
	HasNow            bool
	NowSeconds        int32 // what Cassandra takes the time for (v5 now_in_seconds): times to live begin then
	Unusual           bool  // carries v5 options (keyspace, now_in_seconds), flags that this program does not know, or what Cassandra refuses: a page size of 0, the least timestamp, a serial consistency that may be none

	Responder Responder
}

// Child is one statement of a BATCH.
type Child struct {
	Prepared *Prepared // nil if it came as text, or if the id was prepared elsewhere
	Text     string    // "" if the id was prepared elsewhere
	Rule     Rule
	Values   []Value
}

// Responder carries a taken request on. The relay implements it; tests may.
type Responder interface {
	Forward(r *Request, f Forward)
	Answer(r *Request, rows Rows)
	Fail(r *Request, code int32, message string)
}

// Asker is a Responder that carries statements of ours out on the client's own connection to Cassandra, and so with the rights of its
// role, until the request was forwarded or answered. Its methods block.
type Asker interface {
	// Describe is what Cassandra says of a statement, which names its keyspace.
	Describe(ctx context.Context, text string) (*Prepared, error)
	// Outdated takes note that what was said of a statement is not true any more, as a table or a type was altered: the next Describe asks.
	Outdated(p *Prepared)
	// Ask carries out a SELECT of ours, and returns its answer from its kind on. What Cassandra answers with an ERROR is a *Refused.
	Ask(ctx context.Context, q Own) (*Prepared, []byte, error)
	// Lately tells how many nanoseconds ago a statement of ours was sent on this connection that Cassandra carried out; ok is false if none was.
	Lately(text string) (ago int64, ok bool)
}

// Ours marks a statement that Helenus sends by itself. Cassandra knows a prepared statement by its text: prepared by us in a client's words after a table or
// a type was altered, it would not ask the client to prepare it anew, and a client that does not have answers described (CASSANDRA-10786) would read rows of
// the new columns as ones of the old. Logs of Cassandra that have texts show the mark, too.
func Ours(text string) string { return text + " /* helenus */" }

// Own is a SELECT of ours. Its text names its keyspace, and Cassandra prepares it.
type Own struct {
	Text        string
	Values      [][]byte // in order, nil is null
	Consistency uint16
	Metadata    bool // the answer is to describe its columns
}

// Refused is an ERROR of Cassandra's in answer to a statement of ours on a client's connection.
type Refused struct {
	Code int32
	Text string
}

func (e *Refused) Error() string {
	return fmt.Sprintf("Cassandra refused it to the client's role (%#x): %s", e.Code, e.Text)
}

// Forward says how a taken request goes on to Cassandra: always as it came.
type Forward struct {
	// Done, if set, is called after the answer was passed on to the client, or with Lost set when the connection ended
	// before. It runs on the relay's goroutine and must not block. The Response is valid during the call only.
	Done func(Response)
}

// Response is Cassandra's answer to a forwarded request.
type Response struct {
	Lost      bool // no answer came: the request may or may not have been carried out
	Opcode    byte // OpResult or OpError
	Failed    bool
	ErrorCode int32
	Body      []byte // from the message's first field on (tracing id, warnings and payload are stepped over); may be cut short (Truncated)
	Truncated bool
}

// Rows is the content of a RESULT Rows answer, without metadata: for each row, its cells in the order of
// Prepared.Results; a nil cell is null.
type Rows [][][]byte

// Forward sends the request on to Cassandra; its answer goes to the client.
func (r *Request) Forward(f Forward) { r.Responder.Forward(r, f) }

// Answer answers an EXECUTE with rows, with the metadata that Cassandra gave when the statement was prepared.
func (r *Request) Answer(rows Rows) { r.Responder.Answer(r, rows) }

// Fail answers with an ERROR message (protocol error codes).
func (r *Request) Fail(code int32, message string) { r.Responder.Fail(r, code, message) }

// Opcodes of the messages that this package's users meet.
const (
	OpError   byte = 0x00
	OpQuery   byte = 0x07
	OpResult  byte = 0x08
	OpPrepare byte = 0x09
	OpExecute byte = 0x0A
	OpBatch   byte = 0x0D
)

// What Exchange.Applied may be.
const (
	Applied    = wire.Applied
	NotApplied = wire.NotApplied
)

// WarningNames are names of the kinds of warnings that Cassandra's answers carry; the first stands for all others.
var WarningNames = wire.WarningNames

// ErrorNames are names of the protocol's error codes, each at its ErrorPlace; the first stands for codes not listed.
var ErrorNames = wire.ErrorNames

// ErrorPlace is the place of an error code in ErrorNames.
func ErrorPlace(code int32) int { return wire.ErrorPlace(code) }
