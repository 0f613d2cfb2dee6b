package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/outbound"
)

// maxResponse is how much is read of an endpoint's response, so that it can end it.
const maxResponse = 64 << 10

// toEndpoint posts the file as multipart/form-data: name, then payload. The
// Idempotency-Key is the task's id, the same in each attempt.
func (c *buildCopy) toEndpoint(ctx context.Context) (string, error) {
	head, tail, contentType, err := formEnvelope(fileName(c.build.FileName))
	if err != nil {
		return "", err
	}
	file, info, err := c.Objects.Open(ctx, c.build.File.Key, 0, -1)
	if err != nil {
		return "", err
	}
	if info.Size != c.build.File.Size {
		file.Close()
		return "", fmt.Errorf("copy to the endpoint: %w", object.ErrSize)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	client := c.Guard.Client(tasks.BuildSync.Timeout)
	meter := c.Slowest.watch(ctx, client.Transport, stop)
	client.Transport = meter
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.conn.Endpoint, &requestBody{
		Reader: io.MultiReader(bytes.NewReader(head), file, bytes.NewReader(tail)), Closer: file})
	if err != nil {
		file.Close()
		return "", tasks.Permanent(errors.New("connection: the endpoint is not a URL"))
	}
	request.ContentLength = int64(len(head)) + info.Size + int64(len(tail))
	request.Header.Set("Content-Type", contentType)
	request.Header.Set("Idempotency-Key", c.task)
	// An endpoint that refuses responds before some GiB are sent.
	request.Header.Set("Expect", "100-continue")
	if c.conn.AccessKey != "" || c.secret != "" {
		request.SetBasicAuth(c.conn.AccessKey, c.secret)
	}
	// A redirect of a POST is followed as a GET, which would look like success.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	response, err := client.Do(request)
	if err != nil {
		return "", meter.classify(withoutURL(err))
	}
	_, err = outbound.ReadBody(response.Body, maxResponse)
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return "", statusError("the endpoint", response.StatusCode)
	}
	if err != nil && !errors.Is(err, outbound.ErrTooLarge) {
		return "", meter.classify(fmt.Errorf("answer of the endpoint: %w", err))
	}
	return publicURL(request.URL), nil
}

// requestBody is a body that closes the file it reads from.
type requestBody struct {
	io.Reader
	io.Closer
}

// formEnvelope returns what precedes and what follows the file in the body.
func formEnvelope(name string) (head, tail []byte, contentType string, err error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if err := w.WriteField("name", name); err != nil {
		return nil, nil, "", fmt.Errorf("form: %w", err)
	}
	if _, err := w.CreateFormFile("payload", name); err != nil {
		return nil, nil, "", fmt.Errorf("form: %w", err)
	}
	split := b.Len()
	if err := w.Close(); err != nil {
		return nil, nil, "", fmt.Errorf("form: %w", err)
	}
	return b.Bytes()[:split], b.Bytes()[split:], w.FormDataContentType(), nil
}

// fileName returns a name that is safe in a form: no path, no control characters.
func fileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '/' || r == '\\' {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
	if strings.Trim(name, ".") == "" {
		return "build"
	}
	return name
}

// withoutURL removes the address from a client's error: its query may contain a
// secret.
func withoutURL(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return fmt.Errorf("copy to the endpoint: %w", err)
}

// publicURL returns the address without what may be secret.
func publicURL(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
