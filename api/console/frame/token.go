package frame

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"net/textproto"
	"strings"

	"github.com/slipway-qa/slipway/api/respond"
)

const (
	// tokenField is the name of a form's token.
	tokenField = "csrf"
	// maxToken bounds the token as a part of a form; ours has 32 bytes.
	maxToken = 200
	// maxTokenPart bounds what is read of a form before its token was checked: a boundary
	// (200 bytes at most), the head of the part, the token, and the boundary behind it.
	maxTokenPart = 1 << 10
)

// takeToken reads the token that begins a form with files, and leaves the rest of the form in
// the request's body as it comes: a form of its own, which was not looked at.
func takeToken(r *http.Request) (string, error) {
	kind, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	boundary := "--" + parameters["boundary"]
	if err != nil || kind != "multipart/form-data" || len(boundary) <= len("--") || r.Body == nil {
		return "", unreadable(err)
	}
	begin, end := []byte(boundary+"\r\n"), []byte("\r\n"+boundary)
	head := make([]byte, 0, maxTokenPart)
	for !bytes.Contains(head, end) {
		if len(head) == cap(head) {
			return "", noToken()
		}
		n, err := r.Body.Read(head[len(head):cap(head)])
		head = head[:len(head)+n]
		if err == io.EOF && !bytes.Contains(head, end) {
			return "", unreadable(err)
		}
		if err != nil && err != io.EOF {
			return "", err
		}
	}
	part, rest, _ := bytes.Cut(head, end)
	part, ok := bytes.CutPrefix(part, begin)
	if !ok {
		return "", noToken()
	}
	lines, token, found := strings.Cut(string(part), "\r\n\r\n")
	if !found || !namesToken(lines) || len(token) > maxToken {
		return "", noToken()
	}
	rest = append([]byte(boundary), rest...)
	if r.ContentLength > 0 {
		r.ContentLength -= int64(len(head) - len(rest))
	}
	r.Body = remainder{io.MultiReader(bytes.NewReader(rest), r.Body), r.Body}
	return token, nil
}

// namesToken reports whether the head of a part is that of the token.
func namesToken(lines string) bool {
	for _, line := range strings.Split(lines, "\r\n") {
		name, value, _ := strings.Cut(line, ":")
		if textproto.CanonicalMIMEHeaderKey(name) != "Content-Disposition" {
			continue
		}
		kind, parameters, err := mime.ParseMediaType(value)
		_, file := parameters["filename"]
		return err == nil && kind == "form-data" && parameters["name"] == tokenField && !file
	}
	return false
}

// remainder is a body whose beginning was read.
type remainder struct {
	io.Reader
	io.Closer
}

func noToken() error {
	return &respond.Problem{Status: http.StatusForbidden,
		Text: "the first part of this form must be its token: go back, load the page again, and repeat it"}
}

func unreadable(err error) error {
	return &respond.Problem{Status: http.StatusBadRequest, Text: "the form cannot be read, or is too large", Err: err}
}
