package proxy

import (
	"bytes"
	"strings"
	"sync"

	"github.com/helenus-db/helenus/proxy/wire"
)

// maxName bounds a name that a client gives, bytes: it is kept as long as the connection, and shown.
const maxName = 256

// name makes a client's bytes fit to be kept and shown.
func name(b []byte) string {
	return strings.ToValidUTF8(string(b[:min(len(b), maxName)]), "\uFFFD")
}

// login follows who logs in. A role is known only where it stands in the open: Cassandra asked for its
// PasswordAuthenticator, and the client answered with a SASL PLAIN token. Of that, only the user is read, and it counts
// once Cassandra said yes.
//
//	from     to       by
//	-        asked    AUTHENTICATE of PasswordAuthenticator
//	asked    claimed  AUTH_RESPONSE with a PLAIN token
//	claimed  -        AUTH_SUCCESS: the role is the client's
//	claimed  asked    ERROR: wrong password
//
// A client that sends a second token before the first was answered has the first one's name if that succeeds.
type login struct {
	mu      sync.Mutex
	asked   bool
	claimed string
}

const passwordAuthenticator = "PasswordAuthenticator"

// claim notes the user of an AUTH_RESPONSE.
func (l *login) claim(h wire.Header, body []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asked && l.claimed == "" {
		l.claimed = plainUser(h, body)
	}
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
	return name(user)
}

// heardOfLogin follows Cassandra's side of it.
func (c *conn) heardOfLogin(h wire.Header, body []byte) {
	l := &c.login
	l.mu.Lock()
	defer l.mu.Unlock()
	switch h.Opcode {
	case wire.OpAuthenticate:
		r := wire.NewReader(body)
		r.SkipResponsePrefix(h.Flags)
		class := string(r.String())
		l.asked = class[strings.LastIndexByte(class, '.')+1:] == passwordAuthenticator
	case wire.OpAuthSuccess:
		if role := l.claimed; role != "" {
			c.amend(func(n *Client) { n.Role = role })
		}
		l.asked, l.claimed = false, ""
	case wire.OpError:
		l.claimed = ""
	}
}
