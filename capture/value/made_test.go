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
		"123": "0:123", "user:123": "1:123", "listing#42": "1:42", "7|12": "0:7 1:12", "order-123": "1:123", "ORD_9": "1:9", "a:b:" + id: "2:" + id, id + "/5": "0:" + id + " 1:5",
		"t:1:2:3": "1:1 2:2 3:3", "": "", "title": "", "a title 5": "", "user:007": "", "user:-5": "", "2026-11-23": "", "a:b:c:d:5": "", id: "", "x:" + strings.Repeat("9", 19): "", "5:" + strings.Repeat("x", 200): "",
	} {
		var got []string
		h.Made([]byte(text), func(m Made) {
			for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(joints, r) }) {
				tail := part[strings.LastIndexAny(part, "_")+1:]
				if len(part) != 36 {
					tail = part[strings.LastIndexAny(part, "-_")+1:]
				}
				if n, ok := natural([]byte(tail)); ok && m.Class == Integer && h.Of(Integer, []byte{byte(n)}).Hash == m.Hash || m.Class == UUID && h.Of(Text, []byte(tail)).Hash == m.Hash {
					got = append(got, fmt.Sprintf("%d:%s", m.Piece, tail))
				}
			}
		})
		if strings.Join(got, " ") != want {
			t.Errorf("%q is made of %v, want %q", text, got, want)
		}
	}
}
