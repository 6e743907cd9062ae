package proxy

import (
	"bytes"
	"strings"
	"sync/atomic"
	"time"
)

// using is the USEs of a connection. Cassandra changes the keyspace when it carries one out, and carries out at once what a client sends one after the other: until it has
// answered, what is said on the connection without a keyspace of its own may be said in the one or in the other.
type using struct {
	sent  atomic.Uint32 // by the upward goroutine, before it is sent
	ended atomic.Uint32 // by the downward one, once what the answer says was noted
}

// underWay tells whether it is not known which keyspace is in use. It runs on the upward goroutine, and is asked before that is looked at.
func (u *using) underWay() bool { return u.sent.Load() != u.ended.Load() }

// inOrder has a USE come to Cassandra behind what was sent before it and is held, which it would carry out in another keyspace. Nothing more is read from the client meanwhile, as that
// is meant in the new one. It runs on the upward goroutine.
func (c *conn) inOrder() {
	for c.held.Load() > 0 && !c.closed.Load() {
		time.Sleep(time.Millisecond)
	}
	c.up.out.Settle() // what went on is not sent yet, perhaps
}

// uses tells whether a statement is a USE.
func uses(text []byte) bool { return begins(pastComments(text), "USE") }

// space is what may stand between words.
const space = " \n\t\r"

// begins tells whether a text begins with a word, in whatever case, and goes on.
func begins(text []byte, word string) bool {
	text = bytes.TrimLeft(text, space)
	return len(text) > len(word) && strings.EqualFold(string(text[:len(word)]), word)
}

// pastComments is a text from its first word on.
func pastComments(text []byte) []byte {
	for {
		text = bytes.TrimLeft(text, space)
		var comment, end string
		for _, x := range [][2]string{{"--", "\n"}, {"//", "\n"}, {"/*", "*/"}} {
			if bytes.HasPrefix(text, []byte(x[0])) {
				comment, end = x[0], x[1]
			}
		}
		if comment == "" {
			return text
		}
		_, text, _ = bytes.Cut(text[len(comment):], []byte(end))
	}
}
