package message

import (
	"bytes"
	"testing"

	"github.com/datastax/go-cassandra-native-protocol/message"

	"github.com/helenus-db/helenus/proxy/wire"
)

// TestAllThatIsSaidCanBeSaid, in every version that clients and nodes may speak, whatever a client's request carried.
func TestAllThatIsSaidCanBeSaid(t *testing.T) {
	for _, version := range []byte{3, 4, 5} {
		for opcode, all := range map[byte][]message.Message{
			wire.OpStartup:      {Startup(), Startup("HELENUS_MEMBER", "a")},
			wire.OpAuthResponse: {Password("user", "")},
			wire.OpQuery:        {Query("SELECT"), Page("SELECT", 500, nil), Page("SELECT", 500, []byte("state"))},
			wire.OpPrepare:      {Prepare("SELECT", ""), Prepare("SELECT", "k")},
			wire.OpRegister:     {Register()},
			wire.OpOptions:      {Options()},
			wire.OpError:        {ServerError(""), ReadTimeout("late", 6), ReadTimeout("late", 0xABCD), WriteTimeout("late", 1, true), WriteTimeout("late", 0xABCD, false)},
		} {
			for _, m := range all {
				b := Append([]byte("before"), version, 7, m)
				frame, ok := bytes.CutPrefix(b, []byte("before"))
				h := wire.ParseHeader(frame)
				if !ok || h.Opcode != opcode || h.Stream != 7 || h.Length != len(frame)-wire.HeaderSize || h.Version&^wire.ResponseBit != version ||
					(h.Version&wire.ResponseBit != 0) != (opcode == wire.OpError) {
					t.Errorf("v%d: %v is said as %x", version, m, b)
				}
			}
		}
	}
}
