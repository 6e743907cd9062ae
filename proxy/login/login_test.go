package login

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/helenus-db/helenus/proxy/wire"
)

func TestLogin(t *testing.T) {
	const class = "org.apache.cassandra.auth.PasswordAuthenticator"
	token := func(s string) []byte { return wire.AppendBytes(nil, []byte(s)) }
	var l Login
	for i, step := range []struct {
		opcode byte
		body   []byte
		want   string
	}{
		{wire.OpAuthSuccess, nil, ""},
		{wire.OpAuthResponse, token("\x00early\x00p"), ""}, // nobody asked
		{wire.OpAuthSuccess, nil, ""},
		{wire.OpAuthenticate, wire.AppendString(nil, class), ""},
		{wire.OpAuthResponse, token("\x00first\x00p"), ""},
		{wire.OpAuthResponse, token("\x00second\x00p"), ""}, // before the first was answered
		{wire.OpAuthSuccess, nil, "first"},
		{wire.OpAuthSuccess, nil, ""},
		{wire.OpAuthResponse, token("\x00late\x00p"), ""},
		{wire.OpAuthSuccess, nil, ""},
		{wire.OpAuthenticate, wire.AppendString(nil, class), ""},
		{wire.OpAuthResponse, token("\x00wrong\x00p"), ""},
		{wire.OpError, wire.AppendError(nil, wire.ErrCredentials, "no"), ""},
		{wire.OpAuthResponse, token("\x00right\x00p"), ""},
		{wire.OpAuthSuccess, nil, "right"},
		{wire.OpAuthenticate, nil, ""}, // not even a class
		{wire.OpAuthResponse, token("\x00x\x00p"), ""},
		{wire.OpAuthSuccess, nil, ""},
	} {
		got := ""
		if h := (wire.Header{Version: 4, Opcode: step.opcode}); step.opcode == wire.OpAuthResponse {
			l.Client(h, step.body)
		} else {
			got = l.Cassandra(h, step.body)
		}
		if got != step.want {
			t.Errorf("step %d: role %q, want %q", i, got, step.want)
		}
	}
}

func FuzzLogin(f *testing.F) {
	f.Add(byte(0), []byte("\x00\x00\x00\x0b\x00user\x00PASSWD"))
	f.Add(byte(0), []byte("\x00\x00\x00\x05\x00user\x00PASSWD"))
	f.Add(wire.FlagCustomPayload, []byte("\x00\x01\x00\x01k\x00\x00\x00\x01v\x00\x00\x00\x04\x00u\x00p"))
	f.Add(byte(0), []byte("\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, flags byte, body []byte) {
		h := wire.Header{Version: 4, Flags: flags, Opcode: wire.OpAuthResponse}
		user := plainUser(h, body)
		if !utf8.ValidString(user) || len(user) > 3*MaxName || strings.ContainsRune(user, 0) {
			t.Errorf("user %q", user)
		}
		// What stands after the last NUL is the password.
		if i := strings.LastIndexByte(string(body), 0); user != "" && i >= 0 {
			with := append([]byte(nil), body[:i+1]...)
			for range body[i+1:] {
				with = append(with, '*')
			}
			if again := plainUser(h, with); again != user {
				t.Errorf("the password shows: %q and %q", user, again)
			}
		}
	})
}
