package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestSafetyBadInput(t *testing.T) {
	hotel, article := "../../examples/designs/hotel.yaml", "../../advisor/safety/testdata/article.txt"
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no file":               {[]string{"nowhere.yaml"}, "nowhere.yaml"},
		"an unknown group":      {[]string{hotel, "--group", "rows"}, `no group is called "rows"; nearest is "row"`},
		"one user":              {[]string{article, "--explain", "--users", "1"}, "at least two users"},
		"an unknown entity":     {[]string{hotel, "--principal", "Gast"}, `no entity is called "Gast"`},
		"an unknown statement":  {[]string{hotel, "--owner", "bok=Guest.guest_id"}, `no statement is called "bok"; nearest is "book"`},
		"an unknown field":      {[]string{hotel, "--owner", "book=Guest.gast_id"}, "gast_id"},
		"no field":              {[]string{hotel, "--owner", "book"}, "STATEMENT=Entity.attribute"},
		"an unknown schema":     {[]string{hotel, "--schema", "nothing"}, "nothing"},
		"an unknown production": {[]string{written(t, "g.txt", "root ::= usres(u)\nusers(u) ::= ε\n")}, "g.txt:1:10: there is no production for usres"},
		"JSON and automata":     {[]string{article, "--json", "--explain"}, "leave -o out"},
		"nothing to check":      {[]string{written(t, "none.yaml", small[:strings.Index(small, "- {id: rates")]+"[]\n")}, "has no tables, and no statements to design any for"},
		"two sets of tables":    {[]string{hotel, "--schema", "x", "--designed"}, "name one"},
		"tables of a grammar":   {[]string{article, "--designed"}, "a grammar says itself"},
		"live and designed":     {[]string{"--live", "--designed"}, "leave --schema, --designed"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err, code := executed(t, "safety", c.args...)
			if err == nil || code != exitUsage || !strings.Contains(err.Error(), c.want) || out != "" {
				t.Errorf("exit %d: %v; printed %q\nwant ...%s...", code, err, out, c.want)
			}
		})
	}
}

// TestSafetyOfHotel checks the sample application's tables with groups of each size.
func TestSafetyOfHotel(t *testing.T) {
	for _, c := range []struct {
		args []string
		want map[string]string // verdicts by table
	}{
		{nil, map[string]string{"hotels": "SAFE", "rooms": "SAFE", "guests": "SAFE-IF", "reservations": "UNSAFE"}},
		{[]string{"--principal", "Guest"}, map[string]string{"hotels": "SAFE", "rooms": "SAFE", "guests": "SAFE", "reservations": "UNSAFE"}},
		{[]string{"--principal", "Guest", "--group", "row"}, map[string]string{"hotels": "SAFE", "rooms": "SAFE", "guests": "SAFE", "reservations": "SAFE-IF"}},
		{[]string{"--principal", "Guest", "--owner", "guest-change=*"}, map[string]string{"hotels": "SAFE", "rooms": "SAFE", "guests": "UNSAFE", "reservations": "UNSAFE"}},
	} {
		out, err, _ := executed(t, "safety", append([]string{"../../examples/designs/hotel.yaml", "--json"}, c.args...)...)
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Findings []struct {
				Name, Verdict string
				Options       []struct{ Verdict string }
			}
		}
		if err := json.Unmarshal([]byte(out), &doc); err != nil {
			t.Fatal(err)
		}
		for _, f := range doc.Findings {
			if c.want[f.Name] != f.Verdict {
				t.Errorf("%v: %s is %s, want %s", c.args, f.Name, f.Verdict, c.want[f.Name])
			}
			if strings.HasPrefix(f.Verdict, "UNSAFE") && len(f.Options) == 0 {
				t.Errorf("%v: %s has no edited schema", c.args, f.Name)
			}
		}
	}
}

// TestSafetyOfRUBiS: bids are sent by bidders, not by the item's seller, who is a user too.
func TestSafetyOfRUBiS(t *testing.T) {
	out, err, _ := executed(t, "safety", "../../examples/designs/rubis.yaml", "--schema", "rubis_baseline", "--principal", "users")
	if err != nil {
		t.Fatal(err)
	}
	for table, want := range map[string]string{"bids_by_item": "UNSAFE,", "bids_by_user": "SAFE,", "users": "SAFE,", "items": "SAFE-IF,"} {
		_, after, ok := strings.Cut("\n"+out, "\n"+table+"  ")
		_, verdict, _ := strings.Cut(after, "verdict  ")
		if !ok || !strings.HasPrefix(verdict, want) {
			t.Errorf("%s: %.40s, want %s", table, verdict, want)
		}
	}
}

// TestSafetyExplains prints the seed's automata.
func TestSafetyExplains(t *testing.T) {
	out, err, _ := executed(t, "safety", "../../advisor/safety/testdata/article.txt", "--explain")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"users(Alice)/articles(Alice, a1)/{comments(Dave, a1), comments(Eve, a1)}", "A_w: final states", "L(A_s) ⊄ L(A_w)", "root ::= |u' users(u')"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}
