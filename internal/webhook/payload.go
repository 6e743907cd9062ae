package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Format is the form of what is sent.
type Format string

// The formats.
const (
	JSON  Format = "json"
	Slack Format = "slack" // what Slack's incoming webhooks take, and Mattermost's, Rocket.Chat's and Discord's (at /slack)
)

// message is the body in the form JSON.
type message struct {
	Delivery string `json:"delivery"` // the same each time that it is sent again
	Event
	Text string `json:"text"`
	Link string `json:"link,omitempty"`
}

// text says an event in words.
func (e *Event) text() string {
	sentence := sentences[e.Kind]
	if e.Change == nil {
		return sentence
	}
	name := e.Change.ID
	if e.Change.Title != "" {
		name += " (" + e.Change.Title + ")"
	}
	text := fmt.Sprintf(sentence, name)
	for _, c := range e.Conditions {
		text += fmt.Sprintf(" Condition %s: %s.", c.ID, c.Title)
	}
	return text
}

// link is the page of the console about an event; "" if it is not known where that is.
func (e *Event) link(console string) string {
	switch {
	case console == "":
		return ""
	case e.Change == nil:
		return strings.TrimSuffix(console, "/") + "/ui/"
	}
	return strings.TrimSuffix(console, "/") + "/ui/changes/" + url.PathEscape(e.Change.ID)
}

// escaped keeps a text from being taken for Slack's markup.
var escaped = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// body is what is sent of an event.
func (e *Event) body(f Format, delivery, console string) ([]byte, error) {
	text, link := e.text(), e.link(console)
	if f == Slack {
		text = escaped.Replace(text)
		if link != "" {
			text += " <" + link + "|Open in the console>"
		}
		return json.Marshal(map[string]string{"text": text})
	}
	return json.Marshal(message{Delivery: delivery, Event: *e, Text: text, Link: link})
}

// SignatureHeader carries when a message was sent, and the HMAC-SHA256 of that, a dot and the body: "t=1790000000,v1=HEX". The time lets a receiver
// refuse what somebody sends again.
const SignatureHeader = "X-Helenus-Signature"

// sign sets the signature of a body.
func sign(h http.Header, secret string, now time.Time, body []byte) {
	at := strconv.FormatInt(now.Unix(), 10)
	sum := hmac.New(sha256.New, []byte(secret))
	_, _ = sum.Write([]byte(at + ".")) // a hash takes all
	_, _ = sum.Write(body)
	h.Set(SignatureHeader, "t="+at+",v1="+hex.EncodeToString(sum.Sum(nil)))
}
