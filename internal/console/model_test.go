package console

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/internal/admin"
)

// A question is answered by the button of a form, without scripts, and leads back to the questions; the answer reaches the API as one.
func TestAnswerAQuestion(t *testing.T) {
	f := hotel(t)
	w := f.post("/ui/questions/q-1/answer", url.Values{"choice": {"none"}, "reason": {" a voucher "}, "actor": {"eve"}})
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/ui/model#questions" {
		t.Fatalf("%d, %s", w.Code, w.Body.String())
	}
	w = f.post("/ui/questions/q-7/undo", url.Values{})
	if w.Code != http.StatusSeeOther || len(f.orders) != 2 {
		t.Fatalf("%d, %+v", w.Code, f.orders)
	}
	if o := f.orders[0]; o.path != "questions/q-1/answer" || o.d.Choice != "none" || o.d.Reason != "a voucher" || o.d.Actor != "ann" {
		t.Errorf("%+v: who has a token is not whom he says", o)
	}
	if o := f.orders[1]; o.path != "questions/q-7/undo" || o.d.Choice != "" {
		t.Errorf("%+v", o)
	}
	f.refuse = &admin.Error{Status: http.StatusConflict, Code: "refused", Message: "it contradicts"}
	if w := f.post("/ui/questions/q-1/answer", url.Values{"choice": {"1"}}); w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "Nothing was done: it contradicts") {
		t.Errorf("%d\n%s", w.Code, w.Body.String())
	}
	if w := f.post("/ui/questions/q-1/forget", url.Values{}); w.Code != http.StatusNotFound {
		t.Errorf("%d", w.Code)
	}
}

// Answers are orders: a page of another site gives none, and who may not is not offered any.
func TestAnswersAreGuarded(t *testing.T) {
	f := hotel(t)
	if w := f.post("/ui/questions/q-1/answer", url.Values{"choice": {"1"}}, "Sec-Fetch-Site", "cross-site"); w.Code != http.StatusForbidden || len(f.orders) != 0 {
		t.Errorf("%d, %+v", w.Code, f.orders)
	}
	f.person.Role = "viewer"
	body := f.get("/ui/model").Body.String()
	if !strings.Contains(body, "To answer takes the role operator") || strings.Count(body, " disabled>") != 3 {
		t.Errorf("%d buttons are off:\n%s", strings.Count(body, " disabled>"), body)
	}
}
