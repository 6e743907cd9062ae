package admin

import (
	"bytes"
	"context"
	"flag"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/goccy/go-yaml"

	"github.com/helenus-db/helenus/advisor"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/advisor/lint"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cycle"
	"github.com/helenus-db/helenus/capture/profile"
	"github.com/helenus-db/helenus/capture/report"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/capture/tracer"
	"github.com/helenus-db/helenus/capture/window"
	"github.com/helenus-db/helenus/internal/access"
	"github.com/helenus-db/helenus/internal/fleet"
	"github.com/helenus-db/helenus/rewrite"
	"github.com/helenus-db/helenus/rewrite/calendar"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

var update = flag.Bool("update", false, "write docs/openapi.yaml")

const openAPI = "../../docs/openapi.yaml"

// operation is what the document says of a route.
type operation struct {
	says    string
	body    reflect.Type // nil: none
	answer  reflect.Type // nil: see text
	further reflect.Type // another answer that it may be
	text    string       // media type of an answer that is no JSON, or that ?format=text asks for
}

func is[T any]() reflect.Type { return reflect.TypeFor[T]() }

// operations are all routes of the API. Those that are orders about one thing have a body of the same form.
var operations = map[string]operation{
	"GET /api/v1/status":                        {says: "How things stand: whether it is healthy, and what waits for a person", answer: is[Status]()},
	"GET /api/v1/model":                         {says: "Entities, relationships, joins by hand, evidence", answer: is[infer.Description](), text: "text/plain"},
	"GET /api/v1/model/export":                  {says: "The model file: what is inferred now, with the corrections in force; of a version the file that was imported", text: "text/plain"},
	"GET /api/v1/model/versions":                {says: "Every version of the corrections that is remembered, the latest first", answer: is[[]advisor.Version]()},
	"GET /api/v1/model/diff":                    {says: "How what is inferred now differs from the model file that was imported last", answer: is[ModelDiff]()},
	"POST /api/v1/model/diff":                   {says: "How what is inferred now differs from a model file", body: is[ModelOrder](), answer: is[ModelDiff]()},
	"POST /api/v1/model/import":                 {says: "Put the corrections of a model file in force", body: is[ModelOrder](), answer: is[advisor.Imported]()},
	"POST /api/v1/model/reset":                  {says: "Go back to the corrections of a version, or to none", body: is[ModelOrder](), answer: is[advisor.Imported]()},
	"GET /api/v1/questions":                     {says: "Questions about the model, those worth most first, and what was answered", answer: is[advisor.Questions]()},
	"POST /api/v1/questions/{id}/answer":        {says: "Answer a question: the answer is a correction from then on", body: is[Decision](), answer: is[advisor.Version]()},
	"POST /api/v1/questions/{id}/undo":          {says: "Take the answer to a question back", body: is[Decision](), answer: is[advisor.Version]()},
	"GET /api/v1/others":                        {says: "Who was seen to be connected to Cassandra past Helenus, over the last 30 days", answer: is[rewrite.Sightings]()},
	"GET /api/v1/connections":                   {says: "The client connections", answer: is[[]any]()},
	"GET /api/v1/recommendations":               {says: "The advice, with trouble if the latest round failed", answer: is[Recommendations]()},
	"GET /api/v1/recommendations/{id}":          {says: "One advice; as text it is explained", answer: is[recommend.Recommendation](), text: "text/plain"},
	"GET /api/v1/changes":                       {says: "All changes, each in its one state, proposed, carried out or over; ?state=serving,suspended of these alone", answer: is[[]Change]()},
	"GET /api/v1/changes/{id}":                  {says: "One change, with what was advised, how it is carried out, and its calendar, as far as they are there; the beginning of its id is enough", answer: is[Change]()},
	"POST /api/v1/changes/{id}/approve":         {says: "Carry it out: the answer is the change, or of a timeline the calendar, that begins", body: is[Decision](), answer: is[migrate.Change](), further: is[calendar.Calendar]()},
	"POST /api/v1/changes/{id}/dismiss":         {says: "Do not show it again until it changes materially; needs a reason", body: is[Decision](), answer: is[recommend.Recommendation]()},
	"POST /api/v1/changes/{id}/snooze":          {says: "Do not show it for a while (for), unless it changes materially; needs a reason", body: is[Decision](), answer: is[recommend.Recommendation]()},
	"POST /api/v1/changes/{id}/reopen":          {says: "Take a dismissal or a snooze back", body: is[Decision](), answer: is[recommend.Recommendation]()},
	"POST /api/v1/changes/{id}/hold":            {says: "The change stays in shadow, where reads run as written and are compared, once it has come there", body: is[Decision](), answer: is[migrate.Change]()},
	"POST /api/v1/changes/{id}/cut-over":        {says: "A change that was held serves, once enough reads were compared", body: is[Decision](), answer: is[migrate.Change]()},
	"POST /api/v1/changes/{id}/throttle":        {says: "Change the pace at which its table is filled and compared: rate, rows a second (0: as the settings say), and paused; what is left out stays", body: is[Decision](), answer: is[migrate.Change]()},
	"POST /api/v1/changes/{id}/rollback":        {says: "The original statements run again at once; the table stays", body: is[Decision](), answer: is[migrate.Change]()},
	"POST /api/v1/changes/{id}/resume":          {says: "Verify a suspended or failed change again, and go on", body: is[Decision](), answer: is[migrate.Change]()},
	"POST /api/v1/changes/{id}/verify":          {says: "Compare its two tables now; what is missing is repaired", body: is[Decision](), answer: is[migrate.Change]()},
	"GET /api/v1/changes/{id}/spark":            {says: "The PySpark script that fills the table of a change that is in state backfill, and verifies it", text: "text/plain"},
	"POST /api/v1/changes/{id}/filled":          {says: "Say that a bulk job has filled its table: it is verified next", body: is[Decision](), answer: is[migrate.Change]()},
	"POST /api/v1/changes/{id}/drop":            {says: "Drop the table of a change that was rolled back", body: is[Decision](), answer: is[migrate.Change]()},
	"POST /api/v1/recommendations/{id}/approve": {says: "The name of changes/{id}/approve until the last release: carry it out", body: is[Decision](), answer: is[migrate.Change](), further: is[calendar.Calendar]()},
	"POST /api/v1/recommendations/{id}/reject":  {says: "The name of changes/{id}/dismiss until the last release", body: is[Decision](), answer: is[recommend.Recommendation]()},
	"POST /api/v1/recommendations/{id}/reopen":  {says: "The name of changes/{id}/reopen until the last release", body: is[Decision](), answer: is[recommend.Recommendation]()},
	"POST /api/v1/advise":                       {says: "Work the advice out now", answer: is[Recommendations]()},
	"GET /api/v1/migrations":                    {says: "Changes that are carried out, or were: states, progress, counts, events", answer: is[[]migrate.Change]()},
	"GET /api/v1/migrations/{id}":               {says: "One change", answer: is[migrate.Change]()},
	"POST /api/v1/migrations/{id}/throttle":     {says: "The same as changes/{id}/throttle", body: is[Decision](), answer: is[migrate.Change]()},
	"POST /api/v1/migrations/{id}/rollback":     {says: "The name of changes/{id}/rollback until the last release", body: is[Decision](), answer: is[migrate.Change]()},
	"POST /api/v1/migrations/{id}/resume":       {says: "The name of changes/{id}/resume until the last release", body: is[Decision](), answer: is[migrate.Change]()},
	"POST /api/v1/migrations/{id}/verify":       {says: "The name of changes/{id}/verify until the last release", body: is[Decision](), answer: is[migrate.Change]()},
	"POST /api/v1/migrations/{id}/drop":         {says: "The name of changes/{id}/drop until the last release", body: is[Decision](), answer: is[migrate.Change]()},
	"GET /api/v1/calendars":                     {says: "Calendars under way", answer: is[[]calendar.Calendar]()},
	"GET /api/v1/calendars/{id}":                {says: "One calendar", answer: is[calendar.Calendar]()},
	"POST /api/v1/calendars/{id}/pause":         {says: "No further change of it begins until it is resumed", body: is[Decision](), answer: is[calendar.Calendar]()},
	"POST /api/v1/calendars/{id}/resume":        {says: "Follow a paused calendar again", body: is[Decision](), answer: is[calendar.Calendar]()},
	"POST /api/v1/calendars/{id}/withdraw":      {says: "End it; with drop what serves goes, too", body: is[Decision](), answer: is[calendar.Calendar]()},
	"GET /api/v1/bypass":                        {says: "The kill-switch", answer: is[rewrite.Bypass]()},
	"POST /api/v1/bypass/on":                    {says: "From the next request on all run as they came; changes are suspended", body: is[Decision](), answer: is[rewrite.Bypass]()},
	"POST /api/v1/bypass/off":                   {says: "Requests are seen again", body: is[Decision](), answer: is[rewrite.Bypass]()},
	"GET /api/v1/members":                       {says: "The processes that share the state: who leads, who is silent", answer: is[fleet.Fleet]()},
	"DELETE /api/v1/members/{id}":               {says: "Take a member that is gone for good off the register; all changes are verified before they serve again", body: is[Decision](), answer: is[fleet.Fleet]()},
	"GET /api/v1/statements":                    {says: "What was said, since the start or in a period", answer: is[report.Statements]()},
	"GET /api/v1/statements/{id}":               {says: "One statement, by its fingerprint or the first digits of it", answer: is[Detail]()},
	"POST /api/v1/statements/{id}/trace":        {says: "Say its next execution again, traced", body: is[Decision](), answer: is[tracer.Trace]()},
	"GET /api/v1/tables":                        {says: "How tables and columns are used", answer: is[TablesAnswer]()},
	"GET /api/v1/lint":                          {says: "What is wrong with tables and statements, with fixes", answer: is[lint.Report]()},
	"GET /api/v1/schema":                        {says: "Keyspaces, tables, columns, indexes and types", answer: is[schema.Schema]()},
	"GET /api/v1/safety":                        {says: "Whether several writers can meet in a partition, a row or a cell", answer: is[any](), text: "text/plain"},
	"GET /api/v1/flows":                         {says: "The joins that the application does by hand", answer: is[[]capture.Flow]()},
	"GET /api/v1/profiles":                      {says: "What is known of columns, variables and partitions", answer: is[profile.Document]()},
	"GET /api/v1/sampling":                      {says: "Whether values are looked at", answer: is[window.Statistics]()},
	"POST /api/v1/sampling/on":                  {says: "Look at values again", body: is[Decision](), answer: is[window.Statistics]()},
	"POST /api/v1/sampling/off":                 {says: "Look at no values, and forget all that was hashed", body: is[Decision](), answer: is[window.Statistics]()},
	"POST /api/v1/capture/record":               {says: "A hashed trace of what is said meanwhile", body: is[Decision](), text: "application/gzip"},
	"GET /api/v1/cdc/tables":                    {says: "The tables that CDC agents have to know, and by which columns their rows are watched", answer: is[[]rewrite.CDCTable]()},
	"POST /api/v1/cdc/rows":                     {says: "Compare rows that a CDC agent saw written with their entries; the answer comes when that is done", body: is[rewrite.CDCReport](), answer: is[rewrite.CDCFindings]()},
	"GET /api/v1/cycles":                        {says: "How the traffic goes with the time", answer: is[cycle.Report]()},
	"GET /api/v1/cycles/workload":               {says: "A workload in YAML with a weight for each step of the cycle", text: "text/plain"},
	"GET /api/v1/audit":                         {says: "The audit trail, the latest line first", answer: is[AuditAnswer]()},
	"GET /api/v1/tokens":                        {says: "Who may", answer: is[[]access.Token]()},
	"POST /api/v1/tokens":                       {says: "Make a token; this answer alone has its text", body: is[TokenOrder](), answer: is[TokenMade]()},
	"DELETE /api/v1/tokens/{name}":              {says: "Revoke a token", body: is[Decision](), answer: is[access.Token]()},
	"DELETE /api/v1/sessions/{name}":            {says: "End all sessions of somebody, at all members of a fleet: of a token's name, of a person of OpenID Connect, or api, of the bootstrap token", body: is[Decision](), answer: is[SessionsEnded]()},
	"GET /api/v1/session":                       {says: "Who you are", answer: is[access.Identity]()},
	"POST /api/v1/session": {says: "A cookie for a token, which does in place of it", answer: is[struct {
		access.Identity
		Expires time.Time `json:"expires"`
	}]()},
	"DELETE /api/v1/session": {says: "End the session"},
	"GET /healthz":           {says: "The process lives", text: "text/plain"},
	"GET /readyz":            {says: "Whether it reaches Cassandra and has restored its changes; 503 if not", answer: is[[]Check]()},
	"GET /metrics":           {says: "Metrics for Prometheus; needs a token with the setting metrics-token", text: "text/plain"},
}

// outside are routes that are not registered with the others.
var outside = []string{"POST /api/v1/session", "DELETE /api/v1/session", "GET /healthz", "GET /readyz", "GET /metrics"}

// document is docs/openapi.yaml.
func document(t *testing.T) []byte {
	made := &schemas{t, object{}}
	problem := object{"description": "It was not done, and why", "content": object{"application/json": object{"schema": made.of(is[Error]())}}}
	paths := object{}
	for pattern, o := range operations {
		method, route, _ := strings.Cut(pattern, " ")
		responses := object{}
		content := object{}
		if o.answer != nil {
			schema := made.of(o.answer)
			if o.further != nil {
				schema = object{"oneOf": []any{schema, made.of(o.further)}}
			}
			content["application/json"] = object{"schema": schema}
		}
		if o.text != "" {
			content[o.text] = object{"schema": object{"type": "string"}}
			if o.text == "application/gzip" {
				content[o.text] = object{"schema": object{"type": "string", "format": "binary"}}
			}
		}
		switch {
		case len(content) == 0:
			responses["204"] = object{"description": "Done"}
		default:
			responses["200"] = object{"description": o.says, "content": content}
		}
		if route == "/readyz" {
			responses["503"] = responses["200"]
		}
		if strings.HasSuffix(route, "/approve") {
			responses["202"] = object{"description": "It is proposed: another person must approve it, too", "content": object{"application/json": object{"schema": made.of(is[Proposed]())}}}
		}
		api := strings.HasPrefix(route, "/api/")
		if api {
			responses["default"] = object{"$ref": "#/components/responses/Error"}
		}
		one := object{"summary": o.says, "responses": responses, "operationId": operationID(method, route)}
		if api {
			role := Needed(pattern)
			if slices.Contains(outside, pattern) {
				role = access.Viewer
			}
			one["description"] = "Needs role " + string(role) + "."
		} else {
			one["security"] = []any{}
		}
		var given []any
		for _, m := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(route, -1) {
			given = append(given, object{"name": m[1], "in": "path", "required": true, "schema": object{"type": "string"}})
		}
		for name := range strings.FieldsSeq(parameters[pattern]) {
			bare, required := strings.CutSuffix(name, "!")
			p := object{"name": bare, "in": "query", "schema": object{"type": "string"}}
			if bare == "owner" || bare == "fact" {
				p["schema"] = object{"type": "array", "items": object{"type": "string"}}
			}
			if required {
				p["required"] = true
			}
			given = append(given, p)
		}
		if given != nil {
			one["parameters"] = given
		}
		if o.body != nil {
			one["requestBody"] = object{"content": object{"application/json": object{"schema": made.of(o.body)}}}
		}
		if paths[route] == nil {
			paths[route] = object{}
		}
		paths[route].(object)[strings.ToLower(method)] = one //nolint:forcetypeassert // made above
	}
	// A body may leave out what it has nothing to say of.
	for _, body := range []string{"admin.Decision", "admin.TokenOrder", "admin.ModelOrder"} {
		delete(made.made[body].(object), "required") //nolint:forcetypeassert // made above
	}
	body, err := yaml.MarshalWithOptions(object{
		"openapi": "3.0.3",
		"info": object{"title": "Helenus", "version": "v1",
			"description": "The admin API. docs/operating.md says what it is for, docs/access.md who may. Written by `go test ./internal/admin -run OpenAPI -update`; durations are nanoseconds unless a description says otherwise."},
		"paths": paths, "security": []any{object{"token": []any{}}, object{"session": []any{}}},
		"components": object{
			"schemas": made.made, "responses": object{"Error": problem},
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}, "session": object{"type": "apiKey", "in": "cookie", "name": access.Cookie}},
		},
	}, yaml.IndentSequence(true))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func operationID(method, route string) string {
	id := strings.ToLower(method)
	for word := range strings.FieldsFuncSeq(strings.TrimPrefix(route, "/api/v1"), func(c rune) bool { return strings.ContainsRune("/{}-_", c) }) {
		id += strings.ToUpper(word[:1]) + word[1:]
	}
	return id
}

// TestOpenAPI: docs/openapi.yaml is a valid document of the routes that are served, all of them and no others, with the parameters that are read.
func TestOpenAPI(t *testing.T) {
	want := document(t)
	if *update {
		if err := os.WriteFile(openAPI, want, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(openAPI); err != nil || !bytes.Equal(got, want) {
		t.Errorf("docs/openapi.yaml is not what the API is (%v); run: go test ./internal/admin -run OpenAPI -update", err)
	}
	loadOpenAPI(t)

	p := someParts()
	p.options = func(o *Options) { o.Windows = &looking{} }
	serve(t, p, false)
	served := append(slices.Clone(p.server.patterns), outside...)
	slices.Sort(served)
	if documented := slices.Sorted(maps.Keys(operations)); !slices.Equal(slices.Compact(served), documented) {
		t.Errorf("served\n%v\ndocumented\n%v", served, documented)
	}

	read, documented := map[string]bool{}, map[string]bool{}
	names := regexp.MustCompile(`(?:\b[vq]|Query\(\))\.Get\("(\w+)"\)|moment\(\w+(?:\.URL\.Query\(\))?, "(\w+)"\)|\bv\["(\w+)"\]`)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range names.FindAllStringSubmatch(string(text), -1) {
			read[m[1]+m[2]+m[3]] = true
		}
	}
	for pattern, names := range parameters {
		if _, served := operations[pattern]; !served {
			t.Errorf("parameters of no route: %s", pattern)
		}
		for name := range strings.FieldsSeq(names) {
			documented[strings.TrimSuffix(name, "!")] = true
		}
	}
	if !maps.Equal(read, documented) {
		t.Errorf("parameters that are read: %v, documented: %v", slices.Sorted(maps.Keys(read)), slices.Sorted(maps.Keys(documented)))
	}
}

func loadOpenAPI(t *testing.T) routers.Router {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromFile(openAPI)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(context.Background()); err != nil {
		t.Fatal(err)
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return router
}

// TestAnswersAreAsDocumented asks a server for everything, and holds what it sends and what it answers to the document: good answers and refusals.
func TestAnswersAreAsDocumented(t *testing.T) {
	openapi3filter.RegisterBodyDecoder("application/gzip", openapi3filter.FileBodyDecoder)
	router := loadOpenAPI(t)
	p := &parts{all: []recommend.Recommendation{
		{ID: "r-1", Kind: recommend.LookUpTable, State: recommend.Open, Eligible: true, Rewrite: &plan.Rewrite{Table: "t"},
			Verdicts: []plan.Verdict{{Statement: "4ad1f0aa52c17d3f9b8e6a7c5d4e3f21", Condition: "C20"}, {Statement: "aaaa0000", Condition: "C20", Refused: true, Reason: "so"}}},
		{ID: "r-2", Kind: recommend.LookUpTable, State: recommend.Open, Eligible: true, Rewrite: &plan.Rewrite{Table: "u"}},
	}}
	p.options = func(o *Options) { o.Windows, o.Members = &looking{}, pair{} }
	c := serve(t, p, false)
	asked := map[string]int{}
	ask := func(method, path, body string, want int) {
		t.Helper()
		q, err := http.NewRequest(method, "http://"+c.Address+path, strings.NewReader(body)) //nolint:noctx // of the test
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Authorization", "Bearer secret")
		if body != "" {
			q.Header.Set("Content-Type", "application/json")
		}
		in := &http.Request{Method: method, URL: q.URL, Header: q.Header.Clone(), Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}
		in.URL.Host, in.URL.Scheme = c.Address, "http"
		route, values, err := router.FindRoute(in)
		if err != nil {
			t.Fatalf("%s %s: %v", method, path, err)
		}
		options := &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true}
		request := &openapi3filter.RequestValidationInput{Request: in, PathParams: values, Route: route, Options: options}
		if err := openapi3filter.ValidateRequest(context.Background(), request); err != nil && want < 400 {
			t.Errorf("%s %s: the request is not as documented: %v", method, path, err)
		}
		a, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(a.Body)
		if _ = a.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if a.StatusCode != want {
			t.Errorf("%s %s: %s, want %d: %s", method, path, a.Status, want, text)
		}
		answer := &openapi3filter.ResponseValidationInput{RequestValidationInput: request, Status: a.StatusCode, Header: a.Header, Options: options}
		if err := openapi3filter.ValidateResponse(context.Background(), answer.SetBodyBytes(text)); err != nil {
			t.Errorf("%s %s: the answer is not as documented: %v", method, path, err)
		}
		if want < 400 || route.Path == "/readyz" {
			asked[method+" "+route.Path]++
		}
	}
	const api = "/api/v1/"
	ann := `{"actor": "ann", "reason": "to see"}`
	for _, path := range []string{"status", "connections", "others", "recommendations", "recommendations/r-1", "recommendations/r-1?format=text", "model", "model?format=text", "migrations", "bypass", "statements", "statements?since=1h&sort=calls&limit=2", "statements/aaaa1111", "tables", "lint", "schema", "safety", "safety?format=text&table=t",
		"flows", "profiles", "profiles?hashes=true", "sampling", "cycles?zone=UTC", "audit?limit=10", "tokens", "session"} {
		ask("GET", api+path, "", 200)
	}
	ask("POST", api+"advise", "", 200)
	ask("POST", api+"recommendations/r-1/reject", ann, 200)
	ask("POST", api+"recommendations/r-1/reopen", ann, 200)
	ask("POST", api+"recommendations/r-1/approve", `{"actor": "ann", "on_entry_failure": "refuse", "despite": ["C20:4ad1f0"]}`, 200)
	ask("GET", api+"migrations/r-1", "", 200)
	for _, order := range []string{"verify", "resume", "rollback", "drop"} {
		ask("POST", api+"migrations/r-1/"+order, ann, 200)
	}
	ask("GET", api+"model/export", "", 200)
	ask("GET", api+"questions", "", 200)
	file := `{"actor": "ann", "reason": "to see", "file": "name: x\nmodel:\n  entities: []\nstatements: []\ncorrections:\n- rename: k.t\n  to: Thing\n- relationship: k.t.b\n  to: none\n"}`
	ask("POST", api+"model/diff", file, 200)
	ask("POST", api+"model/import", file, 200)
	ask("GET", api+"model/export?version=1", "", 200)
	ask("GET", api+"model/diff", "", 200)
	ask("POST", api+"questions/q-1/answer", `{"actor": "ann", "choice": "2"}`, 200)
	ask("GET", api+"questions", "", 200)
	ask("POST", api+"questions/q-1/undo", ann, 200)
	ask("POST", api+"model/reset", `{"actor": "ann", "version": 1, "dry_run": true}`, 200)
	ask("GET", api+"model/versions", "", 200)
	ask("POST", api+"changes/r-1/dismiss", ann, 200)
	ask("POST", api+"changes/r-1/reopen", ann, 200)
	ask("POST", api+"changes/r-1/snooze", `{"actor": "ann", "reason": "not now", "for": "168h"}`, 200)
	ask("POST", api+"changes/r-1/reopen", ann, 200)
	ask("POST", api+"changes/r-1/approve", ann, 200)
	for _, order := range []string{"verify", "hold", "cut-over", "resume", "rollback", "drop"} {
		ask("POST", api+"changes/r-1/"+order, ann, 200)
	}
	ask("POST", api+"changes/r-1/filled", ann, 200)
	ask("POST", api+"changes/r-1/throttle", `{"actor": "ann", "rate": 500, "paused": false}`, 200)
	ask("POST", api+"migrations/r-1/throttle", `{"actor": "ann", "paused": true}`, 200)
	ask("POST", api+"changes/r-1/throttle", ann, 400)
	ask("GET", api+"changes/r-1/spark", "", 200)
	ask("GET", api+"cdc/tables", "", 200)
	ask("POST", api+"cdc/rows", `{"node": "10.0.0.1", "behind_bytes": 0, "rows": [{"keyspace": "shop", "table": "users", "id": "6bddc1a5-2e0e-4b1c-a4a1-0b0f0b1f6f5b", "key": ["AAAAAQ=="]}]}`, 200)
	ask("GET", api+"members", "", 200)
	ask("DELETE", api+"members/b", ann, 200)
	ask("DELETE", api+"members/c", ann, 404)
	ask("POST", api+"cdc/rows", `{"node": "10.0.0.1", "behind_bytes": 0}`, 400)
	ask("GET", api+"changes", "", 200)
	ask("GET", api+"changes?state=proposed,dropped", "", 200)
	ask("GET", api+"changes/r-1", "", 200)
	p.calendars = []calendar.Calendar{{ID: "c-1", State: calendar.Following, Seasons: []calendar.Season{{ID: "c-1.1"}}}}
	ask("GET", api+"calendars", "", 200)
	ask("GET", api+"calendars/c-1", "", 200)
	for _, order := range []string{"pause", "resume", "withdraw"} {
		ask("POST", api+"calendars/c-1/"+order, ann, 200)
	}
	ask("POST", api+"statements/aaaa1111/trace?wait=2s", ann, 200)
	for _, path := range []string{"bypass/on", "bypass/off", "sampling/off", "sampling/on", "capture/record?for=1ms"} {
		ask("POST", api+path, ann, 200)
	}
	ask("POST", api+"tokens", `{"name": "vic", "role": "viewer", "expires": "2099-01-01T00:00:00Z"}`, 200)
	ask("GET", api+"tokens", "", 200)
	ask("DELETE", api+"tokens/vic", ann, 200)
	ask("DELETE", api+"sessions/vic", ann, 200)
	ask("GET", api+"audit", "", 200)
	ask("POST", api+"session", "", 200)
	ask("DELETE", api+"session", "", 204)
	ask("GET", "/healthz", "", 200)
	ask("GET", "/readyz", "", 503)
	ask("GET", "/metrics", "", 200)

	ask("GET", api+"recommendations/r-9", "", 404)
	ask("GET", api+"changes/r-9", "", 404)
	ask("GET", api+"changes?state=lost", "", 400)
	ask("POST", api+"changes/r-2/snooze", `{"actor": "ann", "reason": "not now", "for": "7"}`, 400)
	ask("GET", api+"statements?limit=x", "", 400)
	ask("POST", api+"recommendations/r-2/reject", `{"actor": "ann"}`, 400)
	ask("POST", api+"recommendations/r-2/reject", `{"who": "ann"}`, 400)
	ask("POST", api+"capture/record", ann, 400)
	ask("POST", api+"calendars/c-9/pause", ann, 404)

	two := &parts{all: p.all[1:]}
	two.options = func(o *Options) { o.Approvers = 2 }
	c = serve(t, two, false)
	ask("POST", api+"recommendations/r-2/approve", ann, 202)
	for pattern := range operations {
		if asked[pattern] == 0 && pattern != "GET /api/v1/cycles/workload" { // whose answer is not JSON; TestCycles asks for it
			t.Errorf("%s was not asked", pattern)
		}
	}
}

// pair is a fleet of two members.
type pair struct{}

func (pair) Fleet() fleet.Fleet {
	return fleet.Fleet{Self: "a", Role: "leader", Leader: "a", Term: 3, Epoch: 12, Serving: true, Members: []fleet.View{
		{Entry: fleet.Entry{ID: "a", Incarnation: 1, Address: "10.0.0.1:9042", Version: "1.2.3", Form: 1}, Self: true, Leads: true, Serves: true, Epoch: 12, Counter: 40},
		{Entry: fleet.Entry{ID: "b", Incarnation: 2, Address: "10.0.0.2:9042", Form: 1}, Silent: "5s", Blocked: "a client can not be read"},
	}}
}

func (pair) Dismiss(_ context.Context, id, _, _ string) error {
	if id != "b" {
		return &fleet.UnknownError{ID: id}
	}
	return nil
}
