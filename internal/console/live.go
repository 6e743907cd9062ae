package console

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// How often what lives is looked at, and how long a stream lasts before the browser opens another.
const (
	lookEvery = time.Second
	streamFor = 10 * time.Minute
	aliveTick = 15 // looks after which a line is sent although nothing changed, so that a gone reader is noticed
)

// changeLive sends what lives on the page of a change each time that it has changed.
func (c *console) changeLive(r *request) error {
	select {
	case c.streams <- struct{}{}:
		defer func() { <-c.streams }()
	default:
		r.w.WriteHeader(http.StatusNoContent) // which tells an EventSource to ask no more
		return nil
	}
	if _, err := c.changeOf(r); err != nil {
		return err
	}
	r.w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(r.w)
	end := time.NewTimer(streamFor)
	defer end.Stop()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var last string
	for n := 0; ; n++ {
		p, err := c.changeOf(r)
		if err != nil {
			return nil //nolint:nilerr // it was forgotten meanwhile: the stream ends
		}
		var b bytes.Buffer
		if err := c.pages["change"].ExecuteTemplate(&b, "live", p); err != nil {
			return err
		}
		text := b.String()
		switch {
		case text != last:
			last = text
			_, err = fmt.Fprintf(r.w, "data: %s\n\n", strings.ReplaceAll(strings.ReplaceAll(text, "\r", ""), "\n", "\ndata: "))
		case n%aliveTick == 0:
			_, err = fmt.Fprint(r.w, ": alive\n\n")
		}
		if err == nil {
			err = out.Flush()
		}
		if err != nil {
			return nil //nolint:nilerr // the reader has gone
		}
		select {
		case <-tick.C:
			if _, _, err := c.o.Sessions.Who(r.Request); err != nil {
				return nil //nolint:nilerr // the session has ended: so does the stream
			}
		case <-r.Context().Done():
			return nil
		case <-c.o.Stopping:
			return nil
		case <-end.C:
			return nil
		}
	}
}
