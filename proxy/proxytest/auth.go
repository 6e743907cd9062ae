package proxytest

import (
	"sync"

	"github.com/helenus-db/helenus/proxy/wire"
)

// Mechanism plays the server of a SASL mechanism for one connection: it is called with each token of the client, round 0
// first, and returns a challenge, or that it is done (answer then goes with AUTH_SUCCESS), or an error's text.
type Mechanism func(round int, token []byte) (answer []byte, done bool, refused string)

// Password is the mechanism of PasswordAuthenticator.
func Password(user, password string) Mechanism {
	return func(_ int, token []byte) ([]byte, bool, string) {
		if string(token) != "\x00"+user+"\x00"+password {
			return nil, false, "Provided username " + user + " and/or password are incorrect"
		}
		return nil, true, ""
	}
}

// PasswordClass is the class that Cassandra names for user and password.
const PasswordClass = "org.apache.cassandra.auth.PasswordAuthenticator"

// Authenticate asks every client to authenticate by a mechanism before next (nil: [Default]) gets anything but OPTIONS.
func Authenticate(class string, by Mechanism, next Handler) Handler {
	if next == nil {
		next = Default
	}
	var mu sync.Mutex
	rounds := make(map[*Conn]int) // -1 when done
	return func(r *Request) {
		mu.Lock()
		round := rounds[r.Conn]
		mu.Unlock()
		switch {
		case r.Header.Opcode == wire.OpOptions || round < 0:
			next(r)
			return
		case r.Header.Opcode == wire.OpStartup:
			r.Welcome(wire.OpAuthenticate, wire.AppendString(nil, class))
			return
		case r.Header.Opcode != wire.OpAuthResponse:
			r.Reply(wire.OpError, wire.AppendError(nil, wire.ErrCredentials, "authenticate first"))
			return
		}
		b := wire.NewReader(r.Body)
		b.SkipRequestPrefix(r.Header.Flags)
		answer, done, refused := by(round, b.Bytes())
		round++
		if done {
			round = -1
		}
		mu.Lock()
		rounds[r.Conn] = round
		mu.Unlock()
		switch {
		case refused != "":
			r.Reply(wire.OpError, wire.AppendError(nil, wire.ErrCredentials, refused))
		case done:
			r.Reply(wire.OpAuthSuccess, wire.AppendBytes(nil, answer))
		default:
			r.Reply(wire.OpAuthChallenge, wire.AppendBytes(nil, answer))
		}
	}
}
