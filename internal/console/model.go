package console

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/helenus-db/helenus/advisor"
	"github.com/helenus-db/helenus/advisor/infer"
	"github.com/helenus-db/helenus/internal/access"
	"github.com/helenus-db/helenus/internal/admin"
)

// modelPage is what was concluded of the application's data, what is not certain, and what people said about it.
type modelPage struct {
	infer.Description
	Asked advisor.Questions
	Why   string      // there is none
	Lacks access.Role // what it takes to answer and the person does not have; "" if he may
	Claim bool        // he may say who he is
	Error string      // why an answer was not taken
}

func (c *console) model(r *request) error { return c.showModel(r, http.StatusOK, "") }

// showModel shows the page; why is why an answer was not taken.
func (c *console) showModel(r *request, status int, why string) error {
	p := modelPage{Error: why, Claim: r.who.Claims}
	if needed := admin.Needed("POST /api/v1/questions/{id}/answer"); !r.who.Role.Allows(needed) {
		p.Lacks = needed
	}
	var err error
	if p.Description, err = ask[infer.Description](c, r, "model"); err != nil {
		p.Why = err.Error()
	}
	if p.Asked, err = ask[advisor.Questions](c, r, "questions"); err != nil {
		return err
	}
	return c.write(r.w, status, "model", frame{Title: "Model", Here: "model", Who: &r.who, Page: p})
}

// answerQuestion answers a question, or takes the answer back, and leads back to the model.
func (c *console) answerQuestion(r *request) error {
	id, order := r.PathValue("id"), r.PathValue("order")
	if order != "answer" && order != "undo" {
		return &admin.Error{Status: http.StatusNotFound, Code: "not_found", Message: "There is no such page."}
	}
	if err := r.ParseForm(); err != nil {
		return &admin.Error{Status: http.StatusBadRequest, Code: "invalid", Message: "The form could not be read: " + err.Error()}
	}
	d := &admin.Decision{Actor: r.who.Name, Reason: strings.TrimSpace(r.PostForm.Get("reason"))}
	if name := strings.TrimSpace(r.PostForm.Get("actor")); r.who.Claims && name != "" {
		d.Actor = name
	}
	if order == "answer" {
		d.Choice = r.PostForm.Get("choice")
	}
	if _, err := c.o.API.Ask(r.Context(), http.MethodPost, "questions/"+url.PathEscape(id)+"/"+order, d); err != nil {
		return c.showModel(r, statusOf(err), "Nothing was done: "+err.Error())
	}
	c.o.Log.Info("a question was answered in the console", "question", id, "order", order, "actor", d.Actor, "remote", r.RemoteAddr)
	http.Redirect(r.w, r.Request, "/ui/model#questions", http.StatusSeeOther)
	return nil
}
