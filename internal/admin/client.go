package admin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Client speaks to a Server.
type Client struct {
	Address string // host:port, or https://host:port
	Token   string
	HTTP    *http.Client // nil: http.DefaultClient
}

// ErrUnreachable is returned when no answer came.
var ErrUnreachable = errors.New("the process can not be reached; is `helenus run` running, and is --server its --admin address?")

// requestTimeout bounds one request: the longest verifies a large table. Ctrl-C ends it sooner.
const requestTimeout = 30 * time.Minute

// Get reads /api/v1/PATH into v, or its bytes if v is a *[]byte.
func (c *Client) Get(ctx context.Context, path string, v any) error {
	return c.do(ctx, http.MethodGet, path, nil, v)
}

// Delete removes what is at /api/v1/PATH and reads the answer into v.
func (c *Client) Delete(ctx context.Context, path string, body, v any) error {
	return c.do(ctx, http.MethodDelete, path, body, v)
}

// Post sends body and reads the answer into v.
func (c *Client) Post(ctx context.Context, path string, body, v any) error {
	return c.do(ctx, http.MethodPost, path, body, v)
}

// base is where the server is. Plain HTTP is what it speaks unless somebody says otherwise.
func (c *Client) base() string {
	if strings.HasPrefix(c.Address, "https://") || strings.HasPrefix(c.Address, "http://") {
		return c.Address
	}
	return "http://" + c.Address
}

func (c *Client) http() *http.Client { return cmp.Or(c.HTTP, http.DefaultClient) }

func (c *Client) do(ctx context.Context, method, path string, body, v any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var sent bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&sent).Encode(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base()+"/api/v1/"+path, &sent)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+c.Token)
	request.Header.Set("Content-Type", "application/json")
	answer, err := c.http().Do(request)
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
	if answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusAccepted {
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
