package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// maxAnswer bounds what is read of an answer; a page of a list is some hundred KB.
	maxAnswer = 8 << 20
	// tries bounds how often a request is sent that the server wants later.
	tries = 6
	// requestTimeout is longer than the longest wait that a request asks for.
	requestTimeout = 90 * time.Second
	// parallel requests are on their way at most: a small server does other things besides.
	parallel = 6
)

// StatusError is an answer that is no success.
type StatusError struct {
	Method, Path string
	Status       int
	Text         string // of the answer, cut
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s %s was answered %d: %s", e.Method, e.Path, e.Status, e.Text)
}

// status is the status of the answer that an error is about; 0 for another error.
func status(err error) int {
	var answer *StatusError
	if errors.As(err, &answer) {
		return answer.Status
	}
	return 0
}

// client calls the public API as one person.
type client struct {
	http   *http.Client
	access Access
}

func newClient(access Access) *client {
	access.Server = strings.TrimRight(access.Server, "/")
	return &client{http: &http.Client{Timeout: requestTimeout}, access: access}
}

// call sends a body as JSON (nil: none) and reads the answer into out (nil: nowhere).
func (c *client) call(ctx context.Context, method, path string, body, out any) error {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
	}
	return c.send(ctx, method, path, text, "application/json", nil, out)
}

func (c *client) get(ctx context.Context, path string, query url.Values, out any) error {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return c.call(ctx, http.MethodGet, path, nil, out)
}

// send sends a body, and sends it again where the server asks for that.
func (c *client) send(ctx context.Context, method, path string, body []byte, kind string, header http.Header, out any) error {
	for try := 1; ; try++ {
		later, err := c.attempt(ctx, method, path, body, kind, header, out)
		if err == nil || later == 0 || try == tries {
			return err
		}
		if err := pause(ctx, later); err != nil {
			return err
		}
	}
}

// attempt sends a request once. later is when to try again; 0: never.
func (c *client) attempt(ctx context.Context, method, path string, body []byte, kind string, header http.Header,
	out any) (later time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, method, c.access.Server+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	for name, values := range header {
		r.Header[name] = values
	}
	if len(body) > 0 {
		r.Header.Set("Content-Type", kind)
	}
	switch {
	case header != nil: // of an app, which has no key
	case strings.HasPrefix(path, "/v1/ai-authoring/"):
		r.SetBasicAuth(c.access.User, c.access.AccessKey)
	case strings.HasPrefix(path, "/api/v3/"):
		r.Header.Set("X-API-Key", c.access.APIKey)
	}
	res, err := c.http.Do(r)
	if err != nil {
		return 0, withoutQuery(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return 0, fmt.Errorf("the answer to %s %s: %w", method, bare(path), err)
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		refused := &StatusError{Method: method, Path: bare(path), Status: res.StatusCode, Text: short(string(text))}
		if res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusServiceUnavailable {
			return retryAfter(res), refused
		}
		return 0, refused
	}
	if out == nil || len(text) == 0 {
		return 0, nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return 0, fmt.Errorf("the answer to %s %s: %w", method, bare(path), err)
	}
	return 0, nil
}

// retryAfter is the time that an answer names, at most half a minute.
func retryAfter(res *http.Response) time.Duration {
	seconds, err := strconv.Atoi(res.Header.Get("Retry-After"))
	if err != nil || seconds < 1 {
		seconds = 1
	}
	return time.Duration(min(seconds, 30)) * time.Second
}

// bare is a path without its query, which may hold a token.
func bare(path string) string {
	path, _, _ = strings.Cut(path, "?")
	return path
}

// withoutQuery takes the query out of the address that an error of net/http names: it may
// hold a token.
func withoutQuery(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		failed.URL = bare(failed.URL)
	}
	return err
}

func short(text string) string {
	const most = 400
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return text
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// part is a file of a form.
type part struct {
	field, name string
	content     []byte
}

// upload sends a form with files.
func (c *client) upload(ctx context.Context, path string, values map[string]string, parts []part, header http.Header, out any) error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, value := range values {
		if err := form.WriteField(name, value); err != nil {
			return err
		}
	}
	for _, p := range parts {
		w, err := form.CreateFormFile(p.field, p.name)
		if err != nil {
			return err
		}
		if _, err := w.Write(p.content); err != nil {
			return err
		}
	}
	if err := form.Close(); err != nil {
		return err
	}
	return c.send(ctx, http.MethodPost, path, body.Bytes(), form.FormDataContentType(), header, out)
}

// all runs work for each of n things, some at a time, and returns the first error.
func all(ctx context.Context, n int, work func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i := range n {
		group.Go(func() error { return work(ctx, i) })
	}
	return group.Wait()
}

// until asks again and again until done says so, and fails with the name of what did not come.
func until(ctx context.Context, what string, done func() (bool, error)) error {
	const every, most = 150 * time.Millisecond, 5 * time.Minute
	ctx, cancel := context.WithTimeoutCause(ctx, most, fmt.Errorf("%s: it did not come within %s", what, most))
	defer cancel()
	for {
		ok, err := done()
		if err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil || ok {
			return err
		}
		if err := pause(ctx, every); err != nil {
			return err
		}
	}
}
