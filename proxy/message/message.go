// Package message writes what the proxy itself says: the requests of its own connections, and what it answers in Cassandra's place. The library
// go-cassandra-native-protocol knows how; it takes its time and allocates, so nothing here is for what clients and nodes say to each other. It imports
// nothing of ours.
package message

import (
	"bytes"
	"fmt"

	"github.com/datastax/go-cassandra-native-protocol/frame"
	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
)

// codec keeps no state.
var codec = frame.NewCodec()

// Append appends the frame of a message. It panics if the message can not be written in the version: what is said is known when the program is
// written, and a test finds it.
func Append(b []byte, version byte, stream int16, m message.Message) []byte {
	out := bytes.NewBuffer(b)
	if err := codec.EncodeFrame(frame.NewFrame(primitive.ProtocolVersion(version), stream, m), out); err != nil {
		panic(fmt.Sprintf("message: %v can not be said in version %d: %v", m, version, err))
	}
	return out.Bytes()
}

// Startup begins a connection of the proxy's own. said are more options, key and value by turns.
func Startup(said ...string) message.Message {
	return message.NewStartup(append([]string{"DRIVER_NAME", "Helenus"}, said...)...)
}

// Password answers an AUTHENTICATE (SASL PLAIN).
func Password(user, password string) message.Message {
	return &message.AuthResponse{Token: []byte("\x00" + user + "\x00" + password)}
}

// Query asks a statement without values, at consistency ONE.
func Query(text string) message.Message {
	return &message.Query{Query: text, Options: &message.QueryOptions{Consistency: primitive.ConsistencyLevelOne}}
}

// Page asks for the page of so many rows that begins with a state; nil: the first.
func Page(text string, rows int32, state []byte) message.Message {
	return &message.Query{Query: text, Options: &message.QueryOptions{Consistency: primitive.ConsistencyLevelOne, PageSize: rows, PagingState: state}}
}

// Prepare prepares a statement; keyspace, from version 5 on, is that in which it is meant, "" for none.
func Prepare(text, keyspace string) message.Message {
	return &message.Prepare{Query: text, Keyspace: keyspace}
}

// Register asks for all events.
func Register() message.Message {
	return &message.Register{EventTypes: []primitive.EventType{primitive.EventTypeSchemaChange, primitive.EventTypeStatusChange, primitive.EventTypeTopologyChange}}
}

// Options asks what is supported: whether anybody answers.
func Options() message.Message { return &message.Options{} }

// ReadTimeout says that of one replica that was needed none answered.
func ReadTimeout(text string, consistency uint16) message.Message {
	return &message.ReadTimeout{ErrorMessage: text, Consistency: primitive.ConsistencyLevel(consistency), BlockFor: 1}
}

// WriteTimeout is ReadTimeout for a write: of a BATCH, or of a single statement.
func WriteTimeout(text string, consistency uint16, batch bool) message.Message {
	kind := primitive.WriteTypeSimple
	if batch {
		kind = primitive.WriteTypeBatch
	}
	return &message.WriteTimeout{ErrorMessage: text, Consistency: primitive.ConsistencyLevel(consistency), BlockFor: 1, WriteType: kind}
}

// ServerError says that something went wrong that has no name.
func ServerError(text string) message.Message { return &message.ServerError{ErrorMessage: text} }
