package safety

import (
	"math"
	"strings"
	"testing"
)

// TestS04 is the seed's figures as what-if input: 25,000 comments an hour over articles, and 4,500 of an hour on one hot article.
// One write a second to a group is what Datastore promises at least.
func TestS04(t *testing.T) {
	const hour = 3600
	for name, c := range map[string]struct {
		load Load
		want Verdict
	}{
		"spread over the articles of a day":  {Load{Rate: 25000.0 / hour / 600}, Cold},
		"one write a second":                 {Load{Rate: 1, Service: 0.005}, Cold},
		"a hot article":                      {Load{Rate: 4500.0 / hour}, Cold},
		"all on one video, in slow ballots":  {Load{Rate: 25000.0 / hour, Service: 0.05}, Hot},
		"ten at once, as Datastore may take": {Load{Rate: 10, Service: 0.005}, Unsafe},
	} {
		if got := Grade(&Answer{}, LWT, c.load, 0); got != c.want {
			t.Errorf("%s: %s, want %s (chance %.3g)", name, got, c.want, c.load.Chance())
		}
	}
	if p := (Load{Rate: 41, Service: 0.005}).Chance(); math.Abs(p-0.1854) > 1e-3 {
		t.Errorf("a chance of %g", p)
	}
}

// TestS01S02: entities are keys of a kind and parameters in a tree (S-1), and what is assumed is what is checked (S-2): one user's
// writes never meet, several users' may (S-3: what is not proven counts as unsafe).
func TestS01S02(t *testing.T) {
	own := parsed(t, "root ::= users(u)\nusers(u) ::= articles(u, a')*\narticles(u, a) ::= ε\nput_u(users(u))\nput_u(articles(u, a))\ndel_u(articles(u, a))")
	if a, err := Check(own); err != nil || !a.Safe || a.By != "u" {
		t.Errorf("one's own: %+v %v", a, err)
	}
	unknown := parsed(t, "root ::= users(u)\nusers(u) ::= articles(u, a')*\narticles(u, a) ::= ε\nput_f(articles(u, a))")
	a, err := Check(unknown)
	if err != nil || a.Safe {
		t.Fatalf("a writer of whom nothing is known: %+v %v", a, err)
	}
	if !strings.HasPrefix(a.Witness.Tree.String(), "users(") {
		t.Errorf("witness %s", a.Witness.Tree)
	}
}

// TestS22 reads the seed's notation as it is meant where the scan has lost it: put_u and del_u with the user as subscript, and ε.
func TestS22(t *testing.T) {
	g := parsed(t, "root ::= |u'∈U users(u')\nusers(u) ::= ε\nput_u(users(u), v)\ndel_u(users(u))")
	if len(g.Writes) != 2 || g.Writes[0].Owner.Name != "u" || g.Writes[0].Delete || !g.Writes[1].Delete {
		t.Errorf("%+v", g.Writes)
	}
	if text := g.String(); !strings.Contains(text, "ε") || !strings.Contains(text, "put_u(users(u)") {
		t.Errorf("printed as\n%s", text)
	}
}

// TestS07: a grammar that allows more than there is makes nothing unsafe safe: the same key twice, an entity of another's.
func TestS07(t *testing.T) {
	for text, safe := range map[string]bool{
		"root ::= users(u)\nusers(u) ::= (articles(u, a) articles(u, a))*\narticles(u, a) ::= ε\nput_u(articles(u, a))": true,
		"root ::= users(u)\nusers(u) ::= articles(w, a)*\narticles(u, a) ::= ε\nput_u(articles(u, a))":                  false,
	} {
		if a, err := Check(parsed(t, text)); err != nil || a.Safe != safe {
			t.Errorf("%s: %+v %v", text, a, err)
		}
	}
}
