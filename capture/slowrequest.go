package capture

import (
	"time"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/slow"
	"github.com/helenus-db/helenus/proxy"
)

// A normalised text has no literals, but it has words, and where quotes are forgotten or not closed a word may be a value. So
// the log says the text of a statement that was read to its last token and that Cassandra understood; of those on the schema
// and on roles it says what they do, and of all others the fingerprint.

// loggableText is what may be logged of a statement's normalised text.
func loggableText(st cql.Statement, text string) string {
	switch st.Kind() {
	case cql.KindDDL, cql.KindRole, cql.KindOther:
		return cql.Verb(st)
	}
	return text
}

// slowRequest is what the log says of an exchange.
func (r *record) slowRequest(x *proxy.Exchange) slow.Request {
	a := r.description.Load()
	s := slow.Request{
		Fingerprint: a.fingerprint, Text: a.shown, Kind: a.kind.String(), Keyspace: a.keyspace, Table: a.table,
		Children: x.Children, Parts: a.parts, Opcode: opcodeNames[x.Opcode],
		Latency: time.Duration(x.End - x.Start), RequestBytes: x.RequestBytes, ResponseBytes: x.ResponseBytes, Rows: x.Rows,
		Consistency: consistencyNames[min(int(x.Consistency), len(consistencyNames)-1)],
		Paged:       x.Paged, MorePages: x.MorePages, Rewritten: x.Rewritten,
	}
	if x.Failed {
		s.Error = proxy.ErrorNames[proxy.ErrorPlace(x.ErrorCode)]
	}
	if s.Error == "syntax" || s.Error == "invalid" {
		s.Text = ""
	}
	if c := x.Client; c != nil {
		s.Client, s.Node, s.Role = c.Address, c.Node, c.Role
		s.Application, s.Driver = versioned(c.Application, c.ApplicationVersion), versioned(c.Driver, c.DriverVersion)
	}
	return s
}

var opcodeNames = map[byte]string{proxy.OpQuery: "QUERY", proxy.OpExecute: "EXECUTE", proxy.OpBatch: "BATCH", proxy.OpPrepare: "PREPARE"}

func versioned(name, version string) string {
	if version == "" {
		return name
	}
	return name + " " + version
}
