package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// RunFile reads a file of a run: a screenshot, a page's source, a console. It returns its
// bytes and its media type. One of more than most bytes is an *Error of kind Misused.
func (c *Client) RunFile(ctx context.Context, id string, most int64) (content []byte, kind string, err error) {
	r := Request{Method: http.MethodGet, Path: Path("v1", "ai-authoring", "files", id), Query: url.Values{"content": {"1"}},
		Header: http.Header{"Accept": {"*/*"}}}
	res, err := c.Do(ctx, r)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	content, err = io.ReadAll(io.LimitReader(res.Body, most+1))
	if err != nil {
		return nil, "", &Error{Kind: Unreachable, Method: r.Method, Path: r.Path, Text: "the answer broke off", Err: err}
	}
	if int64(len(content)) > most {
		return nil, "", &Error{Kind: Misused, Method: r.Method, Path: r.Path, Text: fmt.Sprintf("the file has more than %d bytes", most)}
	}
	return content, res.Header.Get("Content-Type"), nil
}
