package match

import (
	"strings"
	"testing"

	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/histogram"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/condition"
)

func TestJudge(t *testing.T) {
	read := "SELECT room FROM hotel.stays WHERE guest = ? ALLOW FILTERING"
	l := lookUp(t, read, "SELECT count(*) FROM hotel.stays WHERE guest = ? ALLOW FILTERING")
	schemaOf := &schema.Schema{Keyspaces: []schema.Keyspace{{Name: "hotel", Tables: []schema.Table{*base()}}}}
	statement := func(text string) capture.Statement {
		print, normal, st, err := cql.FingerprintText(text, "hotel")
		if err != nil {
			t.Fatal(err)
		}
		return capture.Statement{Fingerprint: print.String(), Keyspace: "hotel", Text: normal, Kind: st.Kind().String(), Count: 3,
			Variables: []capture.Column{{Name: "x"}}, Latency: histogram.Distribution{}}
	}
	good := statement("UPDATE stays SET guest = ?" + whole)
	verdicts := Judge(l.Rewrite, &capture.Snapshot{Statements: []capture.Statement{good}}, schemaOf)
	if len(verdicts) != 4 || verdicts[0].Refused || verdicts[1].Refused || verdicts[2].Condition != "C5" || verdicts[3].Refused || verdicts[3].Statement != good.Fingerprint {
		t.Errorf("%+v", verdicts)
	}
	// A trigger may write the base past Helenus.
	schemaOf.Keyspaces[0].Tables[0].Triggers = []string{"audited"}
	verdicts = Judge(l.Rewrite, &capture.Snapshot{Statements: []capture.Statement{good}}, schemaOf)
	if len(verdicts) != 5 || verdicts[1].Condition != "C22" || verdicts[1].Refused || verdicts[1].Statement != "" || !strings.Contains(verdicts[1].Reason, "trigger audited on hotel.stays") {
		t.Errorf("%+v", verdicts)
	}
	schemaOf.Keyspaces[0].Tables[0].Triggers = nil
	// No write refuses a look-up; one whose rows nobody can know is warned of.
	for text, condition := range map[string]condition.ID{
		"UPDATE stays SET guest = ?" + whole + " IF EXISTS":                                    "",
		"UPDATE stays SET guest = now()" + whole:                                               "",
		"UPDATE stays SET guest = guest + ?" + whole:                                           "",
		"INSERT INTO stays JSON ?":                                                             "",
		`UPDATE stays SET guest = ? WHERE room = uuid() AND wing = ? AND day = ? AND "No" = ?`: "C6",
		"TRUNCATE stays": "C20",
	} {
		s := statement(text)
		verdicts = Judge(l.Rewrite, &capture.Snapshot{Statements: []capture.Statement{s}}, schemaOf)
		if last := verdicts[len(verdicts)-1]; len(verdicts) != 4 || last.Refused || last.Condition != condition || last.Statement != s.Fingerprint {
			t.Errorf("%s: %+v", text, verdicts)
		}
		s.Errors, s.NotApplied = 2, 1
		if verdicts = Judge(l.Rewrite, &capture.Snapshot{Statements: []capture.Statement{s}}, schemaOf); len(verdicts) != 3 {
			t.Errorf("%s, which was never carried out: %+v", text, verdicts)
		}
	}
	for _, text := range []string{"UPDATE stays SET guest = ? WHERE status = ?", "INSERT INTO stays (room, guest) VALUES (?, ?)", "DELETE FROM stays WHERE room = ?"} {
		if verdicts := Judge(l.Rewrite, &capture.Snapshot{Statements: []capture.Statement{statement(text)}}, schemaOf); len(verdicts) != 3 {
			t.Errorf("%s: %+v", text, verdicts)
		}
	}
	unread := capture.Statement{Fingerprint: "f", Keyspace: "hotel", Text: "UPSERT hotel.stays", Count: 1}
	if verdicts := Judge(l.Rewrite, &capture.Snapshot{Statements: []capture.Statement{unread}}, schemaOf); len(verdicts) != 4 || verdicts[3].Condition != "C20" || verdicts[3].Refused ||
		!strings.Contains(verdicts[3].Reason, "could not be read") {
		t.Errorf("%+v", verdicts)
	}
	literal, serial, paged := statement(read), statement(read), statement(read)
	literal.Variables, serial.Serial, paged.Paged = nil, 3, 3
	for condition, s := range map[condition.ID]capture.Statement{"": literal, "C12": serial, "C3": paged} {
		verdicts = Judge(l.Rewrite, &capture.Snapshot{Statements: []capture.Statement{s}}, schemaOf)
		if verdicts[1].Condition != condition {
			t.Errorf("%s: %+v", condition, verdicts)
		}
	}
	if verdicts := Judge(l.Rewrite, &capture.Snapshot{}, nil); len(verdicts) != 1 || !verdicts[0].Refused {
		t.Errorf("%+v", verdicts)
	}
}
