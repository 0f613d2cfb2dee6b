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
	err = c.answer(ctx, r, func(res *http.Response) (err error) {
		kind = res.Header.Get("Content-Type")
		if content, err = io.ReadAll(io.LimitReader(res.Body, most+1)); err != nil {
			return brokenOff(r, err)
		}
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	if int64(len(content)) > most {
		return nil, "", &Error{Kind: Misused, Method: r.Method, Path: r.Path, Text: fmt.Sprintf("the file has more than %d bytes", most)}
	}
	return content, kind, nil
}
