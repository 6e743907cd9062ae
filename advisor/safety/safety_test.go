package safety

import (
	"os"
	"testing"
)

func read(t testing.TB, name string) *Grammar {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	g, err := Parse(name, data)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func parsed(t testing.TB, text string) *Grammar {
	t.Helper()
	g, err := Parse("grammar", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return g
}

// TestS15 is example 7: the article-oriented schema is not safe, and figure 3(a)'s tree shows why.
func TestS15(t *testing.T) {
	a, err := Check(read(t, "article.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if a.Safe {
		t.Fatal("safe")
	}
	if got, want := a.Witness.Tree.String(), "users(Alice)/articles(Alice, a1)/{comments(Dave, a1), comments(Eve, a1)}"; got != want {
		t.Errorf("witness %s, want %s", got, want)
	}
}

// TestS16 is example 8.
func TestS16(t *testing.T) {
	a, err := Check(read(t, "user.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if !a.Safe || a.By != "u" {
		t.Errorf("%+v", a)
	}
}

func TestExplicitOfTheSeed(t *testing.T) {
	for name, want := range map[string]bool{"article.txt": false, "user.txt": true} {
		safe, tree, err := SafeExplicitly(read(t, name), 2)
		if err != nil || safe != want {
			t.Errorf("%s: %v %s %v", name, safe, tree, err)
		}
	}
}
