package model

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/slipway-qa/slipway/tasks/outbound"
)

// errStreamEnded means that a stream ended before its message was complete.
var errStreamEnded = errors.New("the stream ended early")

// streamFailure is an error that came as an event of a stream.
type streamFailure struct{ text string }

func (e *streamFailure) Error() string { return e.text }

// read reads a response: one document, or a stream of events, which some servers send
// though none was asked for, and some with another content type.
func (c *Client) read(response *http.Response) (*Reply, string, error) {
	limited := &boundedReader{r: response.Body, left: maxResponse}
	in := bufio.NewReader(limited)
	if isStream(response.Header.Get("Content-Type"), in) {
		var kept strings.Builder
		reply, err := readStream(in, c.format.stream(), &kept)
		return reply, kept.String(), err
	}
	body, err := io.ReadAll(in)
	if err != nil {
		return nil, string(body), err
	}
	reply, err := c.format.decode(body)
	return reply, string(body), err
}

// isStream reports whether events follow.
func isStream(contentType string, in *bufio.Reader) bool {
	if kind, _, err := mime.ParseMediaType(contentType); err == nil && kind == "text/event-stream" {
		return true
	}
	start, _ := in.Peek(6) // shorter ones are no stream
	return bytes.HasPrefix(start, []byte(":")) || bytes.HasPrefix(start, []byte("data:")) || bytes.HasPrefix(start, []byte("event:"))
}

// readStream reads events up to the last one. What follows it is left unread: the
// message is complete.
func readStream(in *bufio.Reader, message streamReader, kept *strings.Builder) (*Reply, error) {
	var data []byte
	for {
		line, err := in.ReadBytes('\n')
		if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0 && len(data) == 0) {
			if errors.Is(err, io.EOF) {
				return message.reply()
			}
			return nil, err
		}
		ended := err != nil
		kept.Write(line)
		line = bytes.TrimRight(line, "\r\n")
		if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(append(data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
		}
		if (len(line) > 0 && !ended) || len(data) == 0 {
			continue
		}
		done, err := message.event(bytes.TrimSpace(data))
		if err != nil {
			return nil, err
		}
		if done || ended {
			return message.reply()
		}
		data = data[:0]
	}
}

// boundedReader fails with outbound.ErrTooLarge past its bound.
type boundedReader struct {
	r    io.Reader
	left int
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, outbound.ErrTooLarge
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
