package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Client speaks to a Server.
type Client struct {
	Address string // host:port
	Token   string
}

// ErrUnreachable is returned when no answer came.
var ErrUnreachable = errors.New("the process can not be reached; is `helenus run` running, and is --server its --admin address?")

// requestTimeout bounds one request: the longest verifies a large table. Ctrl-C ends it sooner.
const requestTimeout = 30 * time.Minute

// Get reads /api/v1/PATH into v, or its bytes if v is a *[]byte.
func (c *Client) Get(ctx context.Context, path string, v any) error {
	return c.do(ctx, http.MethodGet, path, nil, v)
}

// Post sends body and reads the answer into v.
func (c *Client) Post(ctx context.Context, path string, body, v any) error {
	return c.do(ctx, http.MethodPost, path, body, v)
}

func (c *Client) do(ctx context.Context, method, path string, body, v any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var sent bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&sent).Encode(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://"+c.Address+"/api/v1/"+path, &sent)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+c.Token)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		if cause := new(url.Error); errors.As(err, &cause) {
			err = cause.Err
		}
		return fmt.Errorf("%s: %w (%w)", c.Address, ErrUnreachable, err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return fmt.Errorf("%s: %w (%w)", c.Address, ErrUnreachable, err)
	}
	if answer.StatusCode != http.StatusOK {
		e := &Error{Status: answer.StatusCode}
		if json.Unmarshal(text, e) != nil || e.Message == "" {
			e.Code, e.Message = "internal", fmt.Sprintf("%s answered %s", c.Address, answer.Status)
		}
		return e
	}
	if raw, ok := v.(*[]byte); ok {
		*raw = text
		return nil
	}
	return json.Unmarshal(text, v)
}
