package safety

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
)

// TestWorked (S-15, S-16, S-26) is the table of section 4.7 of the design: schemas of known applications. Each is a partition of rows with a
// writer, keys by name of variable.
func TestWorked(t *testing.T) {
	rows := func(partition, key, writes string) string {
		return fmt.Sprintf("root ::= p(%s)\np(%s) ::= row(%s)*\nrow(%s) ::= ε\n%s", partition, partition, key, key, writes)
	}
	const tweets = "put_u(row(t)) append\n"
	for name, c := range map[string]struct {
		text  string
		want  Verdict
		class Class
		by    string
	}{
		"Twissandra users":                      {rows("u", "u", "put_u(row(u))"), Safe, "", "u"},
		"Twissandra tweets, author known":       {rows("t", "t", "fd author: t -> u\n"+tweets), Safe, "", "author(t)"},
		"Twissandra tweets, author probable":    {rows("t", "t", "fd? author: t -> u\n"+tweets), SafeIf, Append, ""},
		"Twissandra tweets":                     {rows("t", "t", tweets), Unsafe, Append, ""},
		"Twissandra userline":                   {rows("u", "u, time", "put_u(row(u, time)) append"), Safe, "", "u"},
		"Twissandra userline, public":           {rows("u", "u, time", "put_u(row(u, time)) append\nput_u(row('!PUBLIC!', time)) append"), Unsafe, Append, ""},
		"Twissandra friends":                    {rows("u", "u, f", "put_u(row(u, f)) append"), Safe, "", "u"},
		"Twissandra followers":                  {rows("u", "u, f", "put_f(row(u, f)) append"), Unsafe, Append, ""},
		"Twissandra timeline":                   {rows("r", "r, t", "put_author(row(r, t)) append"), Unsafe, Append, ""},
		"KillrVideo comments_by_video":          {rows("v", "v, c", "put_u(row(v, c)) append"), Unsafe, Append, ""},
		"KillrVideo comments_by_user":           {rows("u", "u, c", "put_u(row(u, c)) append"), Safe, "", "u"},
		"KillrVideo video_ratings":              {rows("v", "v", "put_u(row(v)) counter"), Unsafe, Counter, ""},
		"KillrVideo video_ratings_by_user":      {rows("v", "v, u", "put_u(row(v, u)) append"), Unsafe, Append, ""},
		"KillrVideo latest_videos, spread":      {rows("day, group", "day, group, v", "put_u(row(day, hash(v), v)) append"), Unsafe, Append, ""},
		"KillrVideo latest_videos":              {rows("day", "day, v", "put_u(row(day, v)) append"), Unsafe, Append, ""},
		"EAC, the writer is the server":         {rows("s", "s, x", "put_s(row(s, x)) append"), Safe, "", "s"},
		"EAC, the writer is the player":         {rows("s", "s, x", "put_player(row(s, x)) append"), Unsafe, Append, ""},
		"read-only":                             {rows("s", "s, x", ""), Safe, "", ""},
		"two facts are needed of three":         {rows("t", "t", "fd? f: t -> a\nfd? g: a -> u\nfd? h: b -> u\n"+tweets), SafeIf, Append, ""},
		"S-13 anyone":                           {rows("u", "u", "put[*](row(u))"), Unsafe, "", ""},
		"S-13 two writers of one key":           {rows("u, v", "u, v", "put_u(row(u, v))\nput_v(row(u, v))"), Unsafe, "", ""},
		"S-8 comments on comments":              {"root ::= c(u, p)\nc(u, p) ::= c(u', p)*\nput_u(c(u, p))", Unsafe, "", ""},
		"S-8 comments of one's own on comments": {"root ::= c(u, p)\nc(u, p) ::= c(u, p')*\nput_u(c(u, p))", Safe, "", "u"},
		"S-17 as it is printed":                 {"root ::= users(u)\nusers(u) ::= (|a' articles(u, a'))* | (|a' comments(u, a'))*\narticles(u, a) ::= ε\ncomments(u, a) ::= ε\nput_u(users(u), v)\nput_u(articles(u, a), v)\nput_u(comments(u, a), v)", Safe, "", "u"},
		"alternatives that exclude each other":  {"root ::= p(u, v)\np(u, v) ::= x(u)* | y(v)*\nx(u) ::= ε\ny(u) ::= ε\nput_u(x(u))\nput_u(y(u))", Safe, "", ""},
		"alternatives that are repeated":        {"root ::= p(u, v)\np(u, v) ::= (x(u) | y(v))*\nx(u) ::= ε\ny(u) ::= ε\nput_u(x(u))\nput_u(y(u))", Unsafe, "", ""},
		"a single child":                        {"root ::= p(a)\np(a) ::= x(a, u')?\nx(a, u) ::= ε\nput_u(x(a, u))", Safe, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := parsed(t, c.text)
			f, err := JudgeGrammar(name, g, Partition)
			if err != nil {
				t.Fatal(err)
			}
			if f.Verdict != c.want || f.Class != c.class || f.By != c.by {
				t.Errorf("%s %q by %q, want %s %q by %q", f.Verdict, f.Class, f.By, c.want, c.class, c.by)
			}
			explicit, _, err := SafeExplicitly(g, 2)
			if err != nil || explicit != f.Answer.Safe {
				t.Errorf("the explicit automata say %v, %v", explicit, err)
			}
			if f.Verdict == Unsafe { // S-25
				if len(f.Options) == 0 {
					t.Error("no edited schema")
				}
				for _, o := range f.Options {
					edited := o.Schema
					if _, err := Parse("option", []byte(edited)); err != nil {
						t.Errorf("%s does not read back: %v\n%s", o.What, err, edited)
					}
				}
			}
			if name == "two facts are needed of three" && len(f.If) != 2 {
				t.Errorf("if %v", f.If)
			}
		})
	}
}

// TestS18: the check is never run with one user.
func TestS18(t *testing.T) {
	for _, users := range []int{-1, 0, 1} {
		if _, _, err := SafeExplicitly(read(t, "article.txt"), users); !errors.Is(err, ErrUsers) {
			t.Errorf("%d users: %v", users, err)
		}
	}
}

// TestS09S12S14: the automata of examples 3, 5 and 6 over Alice and Dave, and figure 3(a)'s run.
func TestS09S12S14(t *testing.T) {
	err := Explicitly(read(t, "article.txt"), 2, func(x *Explicit) bool {
		text := x.String()
		for _, want := range []string{
			"A_s: final states {q_users(Alice), q_users(Dave)}", "q_comments(Dave, v1) ← comments(Dave, v1)( ε )",
			"q_Alice ← users(Alice)( (q_Alice | q_⊥)* )", "q_Dave ← comments(Dave, v1)( (q_Dave | q_⊥)* )",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("no %s in\n%s", want, text)
			}
		}
		number := map[string]int{}
		for i, s := range x.Symbols {
			number[s] = i
			if got := len(x.Writes.Rules[i]); got != 1 { // three rules per (u, a), deletes add none
				t.Errorf("%d rules for %s", got, s)
			}
		}
		node := func(key string, kids ...*ground) *ground { return &ground{number[key], kids} }
		for _, c := range []struct {
			tree           *ground
			schema, writes bool
		}{
			{node("users(Alice)", node("articles(Alice, v1)", node("comments(Dave, v1)"), node("comments(Alice, v1)"))), true, false},
			{node("users(Alice)", node("articles(Alice, v1)", node("comments(Alice, v1)"), node("comments(Alice, v1)"))), true, true},
			{node("users(Alice)", node("articles(Dave, v1)")), false, false},
			{node("comments(Dave, v1)"), false, true},
		} {
			if s, w := x.Schema.accepts(c.tree), x.Writes.accepts(c.tree); s != c.schema || w != c.writes {
				t.Errorf("%s: A_s %v, A_w %v, want %v, %v", x.treeText(c.tree), s, w, c.schema, c.writes)
			}
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestS21 is the sharded counter, and what the grades are.
func TestS21(t *testing.T) {
	counter := &Table{Name: "visits", Partition: []string{"page", "shard"}, Values: []string{"n"}, Shard: "shard", Shards: 16,
		Writes: []TableWrite{{ID: "visit", Owner: Var("u"), Key: map[string]Term{"page": Var("p"), "shard": Func("random", Var("r"))}, Sets: []string{"n"}, Class: Counter, Rate: 1}}}
	f, err := Judge(counter, Partition, Principal{})
	if err != nil || f.Verdict != Mitigated {
		t.Errorf("%v %v", f, err)
	}
	// KillrVideo's latest_videos as its comment proposes: (yyyymmdd, group), the last row of section 4.7 that is mitigated.
	latest := &Table{Name: "latest_videos", Partition: []string{"yyyymmdd", "group"}, Clustering: []string{"videoid"}, Values: []string{"name"}, Shard: "group", Shards: 8,
		Writes: []TableWrite{{ID: "post", Owner: Var("userid"), Class: Append, Rate: 1,
			Key: map[string]Term{"yyyymmdd": Var("d"), "group": Func("hash", Var("videoid")), "videoid": Var("videoid")}}}}
	if f, err := Judge(latest, Partition, Principal{}); err != nil || f.Verdict != Mitigated || f.Class != Append || len(f.Options) == 0 {
		t.Errorf("latest_videos: %+v %v", f, err)
	}
	no := &Answer{}
	for name, c := range map[string]struct {
		class Class
		load  Load
		want  Verdict
	}{
		"no one has looked":      {LWT, Load{Overlaps: -1}, Unsafe},
		"rare":                   {LWT, Load{Rate: 0.1}, Cold},
		"often":                  {LWT, Load{Rate: 41}, Hot},
		"refused":                {LWT, Load{Failures: 1}, Hot},
		"in between":             {Counter, Load{Rate: 5}, Unsafe},
		"appends, often":         {Append, Load{Rate: 41, Overlaps: 6}, Unsafe},
		"appends, one partition": {Append, Load{Share: 11}, Hot},
		"appends, large":         {Append, Load{Bytes: 2e8}, Hot},
		"one overlap":            {Overwrite, Load{Overlaps: 1}, Hot},
		"lost updates":           {Modify, Load{Overlaps: 2}, Hot},
	} {
		if got := Grade(no, c.class, c.load, 0); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestGroups checks one table with groups of each size: overwrites of other cells do not meet.
func TestGroups(t *testing.T) {
	table := &Table{Name: "t", Partition: []string{"p"}, Clustering: []string{"c"}, Static: []string{"s"}, Values: []string{"x", "y"}}
	key := map[string]Term{"p": Var("p"), "c": Var("c")}
	table.Facts = []Fact{{Name: "buyer", From: []string{"c"}, To: "u"}, {Name: "seller", From: []string{"c"}, To: "v"}}
	table.Writes = []TableWrite{
		{ID: "buy", Owner: Var("u"), Key: key, Sets: []string{"x"}, Class: Overwrite},
		{ID: "sell", Owner: Var("v"), Key: key, Sets: []string{"y"}, Class: Overwrite},
	}
	for group, want := range map[Group]bool{Partition: false, Row: false, Cell: true} {
		f, err := Judge(table, group, Principal{})
		if err != nil {
			t.Fatal(err)
		}
		if f.Answer.Safe != want {
			t.Errorf("%s: safe %v", group, f.Answer.Safe)
		}
		if !want && len(f.Options) == 0 {
			t.Errorf("%s: no edited schema", group)
		}
	}
}

func TestBadGrammars(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		line int
		col  int
		want string
	}{
		"an undefined production": {"root ::= users(u)\nusers(u) ::= (articels(u, a'))*\n", 2, 15, "there is no production for articels"},
		"another arity":           {"root ::= users(u)\nusers(u) ::= users(u, u)", 2, 14, "1 parameters, not 2"},
		"no root":                 {"users(u) ::= ε", 1, 1, "no production for root"},
		"two of a kind":           {"root ::= a()\na() ::= ε\na() ::= ε", 3, 1, "two productions"},
		"two roots":               {"root ::= a()\nroot ::= a()\na() ::= ε", 2, 1, "two productions"},
		"an empty root":           {"root ::= ε", 1, 10, "names no entity"},
		"an open bracket":         {"root ::= (a()\na() ::= ε", 2, 1, "where ) should stand"},
		"nothing":                 {"root ::=", 1, 9, "the text ends"},
		"a write to nothing":      {"root ::= a()\na() ::= ε\nput_u(b(u))", 3, 7, "no production for b"},
		"a write by no one":       {"root ::= a()\na() ::= ε\nput(a())", 3, 4, "the writer"},
		"an unknown class":        {"root ::= a()\na() ::= ε\nput_u(a()) lwtt", 3, 12, "no class of writes"},
		"a sign":                  {"root ::= a() & b()", 1, 14, "no meaning"},
		"an open constant":        {"root ::= a('x)\n", 1, 12, "does not end"},
		"a function in a key":     {"root ::= a(f(x))\na(x) ::= ε", 1, 10, "variables and constants"},
		"a fact without arrow":    {"root ::= a()\na() ::= ε\nfd a b", 3, 6, "->"},
		"too deep":                {"root ::= " + strings.Repeat("(", 500) + "a()", 1, 210, "brackets in brackets"},
		"not UTF-8":               {"root ::= \xff", 0, 0, "UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("file", []byte(c.text))
			var bad *model.FileError
			if !errors.As(err, &bad) || bad.Line != c.line || bad.Column != c.col || !strings.Contains(bad.Reason, c.want) {
				t.Errorf("%v, want %d:%d %s", err, c.line, c.col, c.want)
			}
		})
	}
}

// FuzzParse: what is read prints to what is read as the same; nothing crashes or hangs.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"root ::= |u'∈U users(u')\nusers(u) ::= (a(u)|users(u'))* ε?\na(u) ::= a('c')+\nput_u(users(u), v) lwt\nfd? g: u, v -> w\ndel[f(u)](a('x''y'))", "root ::= |a, b in C x(a) | y(b)\nx ::= ε", "put[*](a(", "fd a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		g, err := Parse("fuzz", []byte(s))
		if err != nil {
			return
		}
		text := g.String()
		again, err := Parse("again", []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s\nprinted from\n%s", err, text, s)
		}
		if again.String() != text {
			t.Fatalf("%s\nreads back as\n%s", text, again)
		}
	})
}

// many is a grammar of 5,000 templates: kinds in a few groups, each template with a constant of its own, so that none are alike.
func many() *Grammar {
	var b strings.Builder
	b.WriteString("root ::= ")
	for i := range 50 {
		if i > 0 {
			b.WriteString(" | ")
		}
		fmt.Fprintf(&b, "p%d(u)", i)
	}
	for i := range 50 {
		fmt.Fprintf(&b, "\np%d(u) ::= r%d(u, x)*\nr%d(u, x) ::= ε", i, i, i)
	}
	for i := range 5000 {
		fmt.Fprintf(&b, "\nput_u(r%d(u, 'c%d'))", i%50, i)
	}
	g, err := Parse("many", []byte(b.String()))
	if err != nil {
		panic(err)
	}
	return g
}

// TestThousands: 5,000 templates are checked without looking at pairs of them, of which there are 12.5 million. What is looked at is counted;
// the benchmark has the time.
func TestThousands(t *testing.T) {
	g := many()
	a, err := Check(g)
	if err != nil {
		t.Fatal(err)
	}
	if !a.Safe {
		t.Errorf("unsafe: %s", a.Witness.Tree)
	}
	if pairs, writes := related(newChecker(g, nil)); pairs > 10*50 || writes > 0 { // 50 groups
		t.Errorf("%d pairs of nodes and %d of writes are looked at", pairs, writes)
	}
}

func BenchmarkThousands(b *testing.B) {
	g := many()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Check(g); err != nil {
			b.Fatal(err)
		}
	}
}

// SafeExplicitly decides by explicit automata whether a grammar is safe, and names a tree that is not. Probable facts do not
// count.
func SafeExplicitly(g *Grammar, users int) (safe bool, witness string, err error) {
	safe = true
	err = Explicitly(g, users, func(x *Explicit) bool {
		safe, witness = x.Safe()
		return safe
	})
	return safe, witness, err
}

// runOn returns the states that an automaton may give the root of a tree.
func (a *Automaton) runOn(t *ground) []bool {
	var children [][]bool
	for _, c := range t.children {
		children = append(children, a.runOn(c))
	}
	out := make([]bool, len(a.States))
	for _, r := range a.Rules[t.symbol] {
		at, begin := []int(nil), true
		for _, c := range children {
			at, begin = r.Word.stepFrom(at, begin, c), false
		}
		if r.Word.acceptsAt(at, begin) {
			out[r.State] = true
		}
	}
	return out
}

// accepts reports whether a run ends in a final state.
func (a *Automaton) accepts(t *ground) bool {
	for q, ok := range a.runOn(t) {
		if ok && a.Final[q] {
			return true
		}
	}
	return false
}
