package console

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/helenus-db/helenus/internal/admin"
)

// loginPage is how somebody who is not known comes in.
type loginPage struct{ Next, Error, Provider string }

// inside is where to go after the login: a page of the console, whatever was asked for.
func inside(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Host != "" || u.Scheme != "" || !strings.HasPrefix(next, "/ui/") || strings.ContainsAny(next, "\\\r\n") || strings.HasPrefix(next, "/ui/log") {
		return "/ui/"
	}
	return u.RequestURI()
}

func (c *console) showLogin(w http.ResponseWriter, r *http.Request) {
	c.writeLogin(w, r, inside(r.URL.Query().Get("next")), nil)
}

func (c *console) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	next := inside(r.PostFormValue("next"))
	if err := c.o.Sessions.Begin(w, r, strings.TrimSpace(r.PostFormValue("token"))); err != nil {
		c.writeLogin(w, r, next, err)
		return
	}
	http.Redirect(w, r, next, http.StatusSeeOther) //nolint:gosec // inside lets pages of the console through alone
}

// writeLogin shows the page of the login; why is why an earlier one was refused.
func (c *console) writeLogin(w http.ResponseWriter, r *http.Request, next string, why error) {
	page, status := loginPage{Next: next, Provider: c.o.Sessions.Provider()}, http.StatusOK
	if why != nil {
		page.Error, status = why.Error(), http.StatusUnauthorized
		if e := new(admin.Error); errors.As(why, &e) {
			status = e.Status
		}
	}
	if err := c.write(w, status, "login", frame{Title: "Log in", Page: page}); err != nil {
		c.fail(w, &request{Request: r}, err)
	}
}

func (c *console) leaveForProvider(w http.ResponseWriter, r *http.Request) {
	next := inside(r.URL.Query().Get("next"))
	if err := c.o.Sessions.LeaveForProvider(w, r, next); err != nil {
		c.writeLogin(w, r, next, err)
	}
}

// goOn shows a page from which the browser goes on to another of ours. It came on behalf of another site (a link in Grafana, the provider's redirect), so without the session's cookie,
// which is Strict, and a redirect would be on that site's behalf as well; from a page of ours it sends the cookie.
func (c *console) goOn(w http.ResponseWriter, r *http.Request, page, title, next string) {
	next = inside(next)
	w.Header().Set("Refresh", "0; url="+next)
	if err := c.write(w, http.StatusOK, page, frame{Title: title, Page: loginPage{Next: next}}); err != nil {
		c.fail(w, &request{Request: r}, err)
	}
}

// loginByProvider greets who comes back from the provider.
func (c *console) loginByProvider(w http.ResponseWriter, r *http.Request) {
	next, err := c.o.Sessions.BeginByProvider(w, r)
	if err != nil {
		c.writeLogin(w, r, inside(next), err)
		return
	}
	c.goOn(w, r, "arrived", "Logged in", next)
}

func (c *console) logout(w http.ResponseWriter, r *http.Request) {
	c.o.Sessions.End(w, r)
	http.Redirect(w, r, "/ui/login", http.StatusSeeOther)
}
