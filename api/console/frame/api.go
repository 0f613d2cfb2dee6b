package frame

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
)

// API is the way from a page to the routes of the api, on behalf of the page's caller.
type API struct{ handler http.Handler }

// maxAnswer bounds what a page takes of one answer; the largest, a crash with its threads,
// has some hundred KiB.
const maxAnswer = 16 << 20

// Get asks a route and decodes its answer into a value. A refusal is a *respond.Problem
// with the route's status and text.
func (a *API) Get(c *gin.Context, path string, query url.Values, into any) error {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return a.Send(c, http.MethodGet, path, nil, into)
}

// Send asks a route with a body, which is encoded as JSON (nil: none), and decodes its
// answer; into nil: the answer is of no interest.
func (a *API) Send(c *gin.Context, method, path string, body, into any) error {
	var sent io.Reader = http.NoBody
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("encode the body of %s: %w", path, err)
		}
		sent = bytes.NewReader(text)
	}
	r, err := a.request(c, method, path, sent)
	if err != nil {
		return err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	answer := &answer{header: http.Header{}}
	a.handler.ServeHTTP(answer, r)
	if answer.tooLong {
		return fmt.Errorf("the answer of %s is above %d bytes", path, maxAnswer)
	}
	if answer.status >= http.StatusBadRequest {
		return answer.problem()
	}
	if into == nil || answer.body.Len() == 0 {
		return nil
	}
	if err := json.Unmarshal(answer.body.Bytes(), into); err != nil {
		return fmt.Errorf("read the answer of %s: %w", path, err)
	}
	return nil
}

// Pass serves a route's answer as the page's own: files, exports, pictures.
func (a *API) Pass(c *gin.Context, path string, query url.Values) error {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	r, err := a.request(c, http.MethodGet, path, http.NoBody)
	if err != nil {
		return err
	}
	if header := c.GetHeader("Range"); header != "" {
		r.Header.Set("Range", header)
	}
	a.handler.ServeHTTP(c.Writer, r)
	return nil
}

// Upload sends the request's own body to a route, and decodes its answer.
func (a *API) Upload(c *gin.Context, path string, into any) error {
	r, err := a.request(c, http.MethodPost, path, c.Request.Body)
	if err != nil {
		return err
	}
	r.ContentLength = c.Request.ContentLength
	for _, name := range []string{"Content-Type", "Idempotency-Key"} {
		if value := c.GetHeader(name); value != "" {
			r.Header.Set(name, value)
		}
	}
	answer := &answer{header: http.Header{}}
	a.handler.ServeHTTP(answer, r)
	if answer.status >= http.StatusBadRequest {
		return answer.problem()
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer.body.Bytes(), into)
}

func (a *API) request(c *gin.Context, method, path string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequestWithContext(auth.FromInside(c.Request.Context()), method, path, body)
	if err != nil {
		return nil, fmt.Errorf("request of %s: %w", path, err)
	}
	r.Host, r.RemoteAddr = c.Request.Host, net.JoinHostPort(c.ClientIP(), "0")
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", c.Request.UserAgent())
	return r, nil
}

// answer keeps what a route answers.
type answer struct {
	header  http.Header
	status  int
	body    bytes.Buffer
	tooLong bool
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.body.Len()+len(p) > maxAnswer {
		a.tooLong = true
		return len(p), nil
	}
	return a.body.Write(p)
}

// problem reads a failure in the shapes of the interfaces.
func (a *answer) problem() error {
	var plain struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	text := http.StatusText(a.status)
	if json.Unmarshal(a.body.Bytes(), &plain) == nil {
		var inner struct{ Detail, Message string }
		switch {
		case plain.Message != "":
			text = plain.Message
		case json.Unmarshal(plain.Error, &text) == nil:
		case json.Unmarshal(plain.Error, &inner) == nil:
			text = inner.Detail + inner.Message
		}
	}
	return &respond.Problem{Status: a.status, Text: text}
}
