package value

import (
	"fmt"
	"strings"
	"testing"
)

// What a text is made of has the hash of the identifier itself, whatever type that has elsewhere.
func TestMade(t *testing.T) {
	const id = "0f8fad5b-d9cb-469f-a165-70867728950e"
	h := Hasher{K0: 1, K1: 2}
	for text, want := range map[string]string{
		"123": "0:123", "user:123": "0:user 1:123", "listing#42": "0:listing 1:42", "7|12": "0:7 1:12", "order-123": "1:123", "ORD_9": "1:9", "a:b:" + id: "2:" + id, id + "/5": "0:" + id + " 1:5",
		"t:1:2:3": "1:1 2:2 3:3", "": "", "title": "", "a title 5": "", "user:007": "0:user 1:007", "user:-5": "0:user 1:-5", "2026-11-23": "", "a:b:c:d:5": "", id: "",
		"x:" + strings.Repeat("9", 19): "1:" + strings.Repeat("9", 19), "5:" + strings.Repeat("x", 200): "",
		"acme|bob": "0:acme 1:bob", "acme:north-1;bob@acme.com": "0:acme 1:north-1 2:bob@acme.com", "acme-bob": "", "bob@acme.com": "", "/home/bob": "1:home 2:bob",
		"https://acme.com/bob": "", "one, two": "", "2026-11-23T10:00:00Z": "0:2026-11-23T10 1:00 2:00Z",
	} {
		var got []string
		h.Made([]byte(text), func(m Made) {
			for tail := text; tail != ""; tail = tail[1:] { // whatever part of it has that hash
				one := strings.FieldsFunc(tail, func(r rune) bool { return strings.ContainsRune(joints, r) })
				if len(one) == 0 {
					break
				}
				if n, ok := natural([]byte(one[0])); m.Class == Integer && ok && h.Of(Integer, []byte{byte(n)}).Hash == m.Hash || m.Class != Integer && h.Of(Text, []byte(one[0])).Hash == m.Hash {
					got = append(got, fmt.Sprintf("%d:%s", m.Piece, one[0]))
					break
				}
			}
		})
		if strings.Join(got, " ") != want {
			t.Errorf("%q is made of %v, want %q", text, got, want)
		}
	}
}
