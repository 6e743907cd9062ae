package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/internal/admin"
	"github.com/helenus-db/helenus/internal/change"
	"github.com/helenus-db/helenus/internal/preview"
	"github.com/helenus-db/helenus/rewrite"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// api answers as a process would that has a look-up table to advise, one that serves, and one that was rolled back. It keeps what it was ordered.
type api struct {
	*httptest.Server
	mu     sync.Mutex
	orders []string
	bodies []string
	tokens []string
}

func startAPI(t *testing.T) *api {
	t.Helper()
	lookUp := plan.Rewrite{Keyspace: "hotel", Base: "reservations", Column: "guest_id", Table: "helenus_reservations_by_guest_id"}
	state := func(id string, s migrate.State) migrate.Change {
		return migrate.Change{ID: id, Rewrite: lookUp, State: s, Entries: 60_000, Actor: "ann"}
	}
	advice := recommend.Recommendation{ID: "r-open", Kind: recommend.LookUpTable, State: recommend.Open, Title: "look up reservations by guest_id", Eligible: true, Rewrite: &lookUp,
		Keyspace: "hotel", Table: "reservations", SavedSecondsPerSecond: 0.464, BenefitRatio: 0.41, WriteCostRatio: 2.1, WriteRequests: 5, StorageBytes: 13.6e6, Confidence: 0.97,
		Writes: []recommend.Write{{PerSecond: 0.7}}, Beforehand: []string{"Freshness, with 3 replicas: reads at QUORUM find all."}}
	about := map[string]any{
		"recommendations": admin.Recommendations{Recommendations: []recommend.Recommendation{advice}, Dismissed: []recommend.Dismissal{}}, "recommendations/r-open": advice,
		"migrations": []migrate.Change{state("r-serving", migrate.Serving), state("r-rolled", migrate.RolledBack)}, "migrations/r-serving": state("r-serving", migrate.Serving), "migrations/r-rolled": state("r-rolled", migrate.RolledBack),
		"changes": []admin.Change{{ID: "r-open", State: change.Proposed, Kind: "look-up table", Title: advice.Title, Keyspace: "hotel", Table: "reservations"}, {ID: "r-serving", State: change.Serving}, {ID: "r-late", State: change.Snoozed,
			Until: time.Date(2027, 1, 2, 0, 0, 0, 0, time.UTC), Reason: "after the move"}, {ID: "r-no", State: change.Dismissed, Reason: "too dear"}},
		"calendars": []any{}, "bypass": rewrite.Bypass{},
	}
	for id, answer := range map[string]any{"r-open": advice, "r-serving": about["migrations/r-serving"], "r-rolled": about["migrations/r-rolled"]} {
		about["changes/"+id] = answer
	}
	a := &api{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimPrefix(r.URL.Path, "/api/v1/")
		a.mu.Lock()
		a.tokens = append(a.tokens, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		if r.Method != http.MethodGet {
			a.orders = append(a.orders, r.Method+" "+path)
			text, _ := io.ReadAll(r.Body)
			a.bodies = append(a.bodies, string(text))
			path = path[:strings.LastIndex(path, "/")]
		}
		a.mu.Unlock()
		if answer, ok := about[path]; ok {
			_ = json.NewEncoder(w).Encode(answer)
			return
		}
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(&admin.Error{Code: "not_found", Message: "there is no " + path})
	}))
	t.Cleanup(a.Close)
	t.Setenv(envServer, strings.TrimPrefix(a.URL, "http://"))
	t.Setenv(envToken, "secret")
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	return a
}

func (a *api) ordered() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.orders
}

// said runs a command, and is what it printed and its error.
func said(args ...string) (string, error) { return saidBy(nil, args...) }

// saidBy has somebody type, too.
func saidBy(in *os.File, args ...string) (string, error) {
	var out bytes.Buffer
	c := root()
	c.SetArgs(args)
	c.SetOut(&out)
	c.SetErr(&out)
	if in != nil {
		c.SetIn(in)
	} else {
		c.SetIn(strings.NewReader(""))
	}
	err := c.ExecuteContext(context.Background())
	return out.String(), err
}

func TestAnswersInEachForm(t *testing.T) {
	startAPI(t)
	table, err := said("recommendations")
	if err != nil || !strings.Contains(table, "464 ms/s") || !strings.Contains(table, "41 %") || strings.Contains(strings.ToLower(table), "confidence") {
		t.Errorf("table: %v\n%s", err, table)
	}
	wide, err := said("recommendations", "-o", "wide")
	if err != nil || !strings.Contains(wide, "hotel.reservations") || !strings.Contains(wide, "0.97") {
		t.Errorf("wide: %v\n%s", err, wide)
	}
	inJSON, err := said("recommendations", "--json")
	if err != nil {
		t.Fatal(err)
	}
	if same, err := said("recommendations", "-o", "json"); err != nil || same != inJSON {
		t.Errorf("-o json is not --json: %v\n%s", err, same)
	}
	inYAML, err := said("recommendations", "-o", "yaml")
	if err != nil {
		t.Fatal(err)
	}
	var fromJSON, fromYAML any
	if err := errors.Join(json.Unmarshal([]byte(inJSON), &fromJSON), yaml.Unmarshal([]byte(inYAML), &fromYAML)); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(fromYAML)
	first, _ := json.Marshal(fromJSON)
	if err != nil || !bytes.Equal(again, first) {
		t.Errorf("YAML says something else than JSON: %v\n%s\n%s", err, again, first)
	}
	if text, err := said("migrations", "-o", "wide"); err != nil || !strings.Contains(text, "ann") {
		t.Errorf("who approved: %v\n%s", err, text)
	}
}

func TestWideTablesCutNothing(t *testing.T) {
	long := strings.Repeat("word ", 60)
	for form, whole := range map[form]bool{asTable: false, asWide: true} {
		var out bytes.Buffer
		sheet := newTable("id", wideOnly("more"), "text")
		sheet.AppendRow([]any{1, "m", cut(long, 20)})
		if err := render(form.paper(&out), sheet); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), strings.TrimSpace(long)); got != whole || strings.Contains(out.String(), "MORE") != whole || !strings.Contains(out.String(), "word") {
			t.Errorf("%s: %s", form, out.String())
		}
	}
}

func TestDryRunsChangeNothing(t *testing.T) {
	a := startAPI(t)
	for _, tt := range []struct {
		args []string
		code int
		says []string
	}{
		{[]string{"approve", "r-open"}, 0, []string{"Nothing was done", "464 ms of cluster work each second, 41 % of what its reads cost", "CREATE TABLE hotel.helenus_reservations_by_guest_id, about 13.6 MB", "1 write statement (0.7 a second in all)", "Freshness, with 3 replicas"}},
		{[]string{"reject", "r-open", "--reason", "x"}, 0, []string{"Nothing changes in the cluster"}},
		{[]string{"rollback", "r-serving"}, 0, []string{"run as the application wrote them", "60,000 entries"}},
		{[]string{"drop", "r-rolled"}, 0, []string{"DROP TABLE hotel.helenus_reservations_by_guest_id (60,000 entries when it was filled)"}},
		{[]string{"verify", "r-serving"}, 0, []string{"in both directions"}},
		{[]string{"bypass", "on"}, 0, []string{"1 change serves nothing any more"}},
		{[]string{"drop", "r-serving"}, exitRefused, []string{"r-serving is serving, so it would be refused"}},
		{[]string{"resume", "r-serving"}, exitRefused, []string{"r-serving is serving"}},
		{[]string{"approve", "r-none"}, exitNotFound, []string{"there is no recommendations/r-none"}},
	} {
		out, err := said(append(tt.args, "--dry-run")...)
		if exitCode(err) != tt.code {
			t.Errorf("%v: exit code %d, %v", tt.args, exitCode(err), err)
		}
		for _, want := range tt.says {
			if !strings.Contains(out+fmt.Sprint(err), want) {
				t.Errorf("%v does not say %q: %s %v", tt.args, want, out, err)
			}
		}
	}
	if len(a.ordered()) > 0 {
		t.Errorf("was ordered: %v", a.ordered())
	}
	var would foresight
	out, err := said("drop", "r-rolled", "--dry-run", "--json")
	if err := errors.Join(err, json.Unmarshal([]byte(out), &would)); err != nil || would.Confirm != "hotel.helenus_reservations_by_guest_id" || len(would.Would) != 3 {
		t.Errorf("%v %+v", err, would)
	}
}

// terminal is a pseudo-terminal: what is typed into the one is read from the other.
func terminal(t *testing.T) (keyboard, tty *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	t.Cleanup(func() { _ = keyboard.Close() })
	if err := unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tty.Close() })
	return keyboard, tty
}

func TestDroppingIsConfirmed(t *testing.T) {
	const table = "hotel.helenus_reservations_by_guest_id"
	a := startAPI(t)
	if out, err := said("drop", "r-rolled"); exitCode(err) != exitNotConfirmed || !strings.Contains(err.Error(), "give --yes") {
		t.Errorf("without a terminal: %v %s", err, out)
	}
	for typed, code := range map[string]int{"yes": exitNotConfirmed, "": exitNotConfirmed, table: 0} {
		keyboard, tty := terminal(t)
		if _, err := keyboard.WriteString(typed + "\n"); err != nil {
			t.Fatal(err)
		}
		before := len(a.ordered())
		out, err := saidBy(tty, "drop", "r-rolled")
		if exitCode(err) != code || !strings.Contains(out, "Type the table's name, "+table) || !strings.Contains(out, "60,000 entries") || (len(a.ordered()) > before) != (code == 0) {
			t.Errorf("typed %q: %d %v %s, ordered %v", typed, exitCode(err), err, out, a.ordered())
		}
	}
	if out, err := said("drop", "r-rolled", "--yes"); err != nil || !strings.Contains(out, "r-rolled is dropped") {
		t.Errorf("--yes: %v %s", err, out)
	}
	if _, err := said("rollback", "r-serving"); err != nil { // which drops nothing
		t.Error(err)
	}
	if got := strings.Join(a.ordered(), "; "); got != "POST changes/r-rolled/drop; POST changes/r-rolled/drop; POST changes/r-serving/rollback" {
		t.Error(got)
	}
}

// TestOrdersHaveTheirFlags: whoever adds an order that preview knows gives its command --dry-run, and --yes if it drops.
func TestOrdersHaveTheirFlags(t *testing.T) {
	commands := map[string]string{"continue": "resume", "withdraw": "rollback", "withdraw all": "rollback", "create table": "approve", "drop table": "approve"}
	for name, order := range preview.Orders {
		if commands[name] == "" {
			commands[name] = name
		}
		c, _, err := root().Find([]string{commands[name]})
		if err != nil || c.Flags().Lookup("dry-run") == nil || (order.Typed != nil && c.Flags().Lookup("yes") == nil) {
			t.Errorf("%s (%s): %v", name, commands[name], err)
		}
	}
}

func TestContextsOfCommands(t *testing.T) {
	a := startAPI(t)
	t.Setenv(envServer, "")
	t.Setenv(envToken, "of the environment")
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("of the file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	address := strings.TrimPrefix(a.URL, "http://")
	for _, tt := range []struct {
		args  string
		code  int
		says  string
		token string // that the process is shown
	}{
		{"context list", 0, "No context", ""},
		{"context add prod --server " + address + " --token-file " + token, 0, "prod is kept, and in use", ""},
		{"context add prod --server " + address, exitRefused, "--replace replaces it", ""},
		{"context add spare --server " + address, 0, "spare is kept.", ""},
		{"context add bad --server x", exitUsage, "is not host:port", ""},
		{"context add bad --server h:1 --server-ca ca.pem", exitUsage, "for an https --server", ""},
		{"context list", 0, "*  prod", ""},
		{"recommendations", 0, "r-open", "of the file"},
		{"recommendations --context spare", 0, "r-open", "of the environment"},
		{"recommendations --context spare --token mine", 0, "r-open", "mine"},
		{"recommendations --context pord", exitUsage, "did you mean prod?", ""},
		{"recommendations --context prod --server " + address, exitUsage, "leave --server", ""},
		{"recommendations --server " + address, 0, "r-open", "of the environment"}, // a context's token is for its own server only
		{"context use spare", 0, "spare is in use", ""},
		{"recommendations", 0, "r-open", "of the environment"},
		{"context use none-such", exitNotFound, "no such context", ""},
		{"context use --none", 0, "No context is in use", ""},
		{"context remove spare", 0, "spare is forgotten", ""},
		{"context remove spare", exitNotFound, "no such context", ""},
	} {
		a.tokens = nil
		out, err := said(strings.Fields(tt.args)...)
		if exitCode(err) != tt.code || !strings.Contains(out+fmt.Sprint(err), tt.says) {
			t.Errorf("%s: %d %v\n%s", tt.args, exitCode(err), err, out)
		}
		if (len(a.tokens) > 0) != (tt.token != "") || (tt.token != "" && a.tokens[0] != tt.token) {
			t.Errorf("%s: the process was shown %q", tt.args, a.tokens)
		}
	}
	if out, err := said("context", "list", "--json"); err != nil || strings.Contains(out, "of the file") || !strings.Contains(out, `"token_file": "`+token) {
		t.Errorf("%v %s", err, out)
	}
	t.Setenv(envContext, "prod")
	t.Setenv(envServer, address)
	if _, err := said("recommendations"); exitCode(err) != exitUsage || !strings.Contains(err.Error(), "unset one") {
		t.Errorf("the environment names two: %v", err)
	}
}

func TestTypingErrorsAreUnderstood(t *testing.T) {
	for args, want := range map[string]string{
		"aprove r-1": `unknown command "aprove" for "helenus"; did you mean approve?`, "token lst": "did you mean list?", "approve --dtach r-1": "did you mean --detach?",
		"recommendations -json": "did you mean --json?", "recommendations -o jsn": "did you mean json?", "recommendations --frobnicate": "unknown flag: --frobnicate; see", "qqqqqqqqq": "for \"helenus\"; see",
	} {
		if _, err := said(strings.Fields(args)...); exitCode(err) != exitUsage || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %d %v", args, exitCode(err), err)
		}
	}
}

func TestShellsComplete(t *testing.T) {
	a := startAPI(t)
	t.Setenv(envToken, "secret")
	offers := func(args ...string) string {
		out, err := said(append([]string{cobra.ShellCompNoDescRequestCmd}, args...)...)
		if err != nil {
			t.Errorf("%v: %v", args, err)
		}
		out, _, _ = strings.Cut("\n"+out, "\n:")
		return strings.Join(strings.Fields(out), " ")
	}
	for args, want := range map[string]string{
		"approve ": "r-open", "drop ": "r-rolled", "rollback ": "r-serving", "migrations ": "r-serving r-rolled", "bypass ": "on off", "approve r-open ": "", "recommendations ": "",
		"statements --sort ": "time p50 p99 calls rows bytes errors", "run --topology ": "mirror single fleet", "token create --role ": "agent viewer operator admin", "migrations --output ": "table wide json yaml",
		"lint --fail-on ": "error warning note never", "appr": "approve",
	} {
		if got := offers(strings.Split(args, " ")...); got != want {
			t.Errorf("%q offers %q, want %q", args, got, want)
		}
	}
	a.Close()
	begin := time.Now()
	if got := offers("approve", ""); got != "" || time.Since(begin) > completeWithin+time.Second {
		t.Errorf("without a process: %q, after %v", got, time.Since(begin))
	}
}

// TestExitCodesHaveOneMeaning holds the table to the constants, and what is answered to the codes.
func TestExitCodesHaveOneMeaning(t *testing.T) {
	for i, e := range exits {
		if e.code != i || e.meaning == "" {
			t.Errorf("code %d stands at %d", e.code, i)
		}
	}
	status := func(n int) error { return fmt.Errorf("asked: %w", &admin.Error{Status: n}) }
	for want, errs := range map[int][]error{
		exitDone: {nil}, exitFailed: {errors.New("x"), status(500), status(503), status(507)}, exitUsage: {usageError{errors.New("x")}, status(400)}, exitNotFound: {status(404)},
		exitRefused: {status(409)}, exitNotAllowed: {status(401), status(403)}, exitUnreachable: {fmt.Errorf("x: %w", admin.ErrUnreachable)},
		exitGap: {exitError{errors.New("x"), exitGap}}, exitNotConfirmed: {exitError{usageError{errors.New("x")}, exitNotConfirmed}},
	} {
		for _, err := range errs {
			if got := exitCode(err); got != want {
				t.Errorf("%v: %d, want %d", err, got, want)
			}
		}
	}
}
