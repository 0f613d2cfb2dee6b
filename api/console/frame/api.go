package frame

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/inside"
)

// API is the way from a page to the routes of the api, on behalf of the page's caller.
type API struct{ handler http.Handler }

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
	answer := &inside.Answer{}
	a.handler.ServeHTTP(answer, r)
	if answer.TooLong {
		return fmt.Errorf("the answer of %s is above %d bytes", path, inside.MaxAnswer)
	}
	if answer.Status >= http.StatusBadRequest {
		return answer.Problem()
	}
	if into == nil || answer.Body.Len() == 0 {
		return nil
	}
	if err := json.Unmarshal(answer.Body.Bytes(), into); err != nil {
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
	answer := &inside.Answer{}
	a.handler.ServeHTTP(answer, r)
	if answer.Status >= http.StatusBadRequest {
		return answer.Problem()
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer.Body.Bytes(), into)
}

func (a *API) request(c *gin.Context, method, path string, body io.Reader) (*http.Request, error) {
	return inside.Request(c.Request.Context(), method, path, body,
		inside.Origin{Host: c.Request.Host, Address: c.ClientIP(), Agent: c.Request.UserAgent()})
}
