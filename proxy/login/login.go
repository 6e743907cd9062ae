// Package login sees who logs in, for people who look at a list of connections. It imports proxy/wire only.
//
// A role is known only where it stands in the open: Cassandra asked for its PasswordAuthenticator, and the client answered
// with a SASL PLAIN token. Of that, only the user is read, never the password, and it counts once Cassandra said yes.
//
//	from     to       by
//	-        asked    AUTHENTICATE of PasswordAuthenticator
//	asked    claimed  AUTH_RESPONSE with a PLAIN token
//	claimed  -        AUTH_SUCCESS: the role is the client's
//	claimed  asked    ERROR: wrong password
//
// A client that sends a second token before the first was answered has the first one's name if that succeeds.
//
// Thin: who a certificate stands for (mutual TLS), and any other authenticator's users, are not known.
package login

import (
	"bytes"
	"strings"
	"sync"

	"github.com/helenus-db/helenus/proxy/wire"
)

// MaxName bounds a name that a client gives, bytes: it is kept as long as the connection, and shown.
const MaxName = 256

// Name makes what a client calls itself fit to be kept: cut to MaxName, and valid UTF-8. It may still hold what upsets a terminal.
func Name(b []byte) string {
	return strings.ToValidUTF8(string(b[:min(len(b), MaxName)]), "\uFFFD")
}

// Login follows one connection's. The zero value is one that has not begun. Client and Cassandra may be called at once.
type Login struct {
	mu      sync.Mutex
	asked   bool
	claimed string
}

const authenticator = "PasswordAuthenticator"

// Client is told of an AUTH_RESPONSE.
func (l *Login) Client(h wire.Header, body []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asked && l.claimed == "" {
		l.claimed = plainUser(h, body)
	}
}

// Cassandra is told of an AUTHENTICATE, an AUTH_SUCCESS or an ERROR. It returns the role that was logged in with now, "" for
// none.
func (l *Login) Cassandra(h wire.Header, body []byte) (role string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch h.Opcode {
	case wire.OpAuthenticate:
		r := wire.NewReader(body)
		r.SkipResponsePrefix(h.Flags)
		class := string(r.String())
		l.asked = class[strings.LastIndexByte(class, '.')+1:] == authenticator
	case wire.OpAuthSuccess:
		role = l.claimed
		l.asked, l.claimed = false, ""
	case wire.OpError:
		l.claimed = ""
	}
	return role
}

// plainUser returns the user of a SASL PLAIN token (identity NUL user NUL password), "" if the body is anything else.
func plainUser(h wire.Header, body []byte) string {
	r := wire.NewReader(body)
	r.SkipRequestPrefix(h.Flags)
	token := r.Bytes()
	if r.Bad() || len(r.Rest()) > 0 {
		return ""
	}
	_, token, ok := bytes.Cut(token, []byte{0})
	user, password, more := bytes.Cut(token, []byte{0})
	if !ok || !more || bytes.IndexByte(password, 0) >= 0 {
		return ""
	}
	return Name(user)
}
