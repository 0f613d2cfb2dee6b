package agent

import (
	"mime"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/respond"
)

// mostRefusal bounds what is kept of a refusal, in bytes: it quotes what was sent.
const mostRefusal = 1 << 10

// plainRefusals holds back the refusals that the protocol's package writes as plain text, such
// as of a method that it does not know: the api has a shape for them.
type plainRefusals struct {
	gin.ResponseWriter
	status int // of a refusal that is held back; 0: none
	text   strings.Builder
}

// WriteHeader writes the status, unless it is that of a plain text.
func (w *plainRefusals) WriteHeader(status int) {
	kind, _, _ := mime.ParseMediaType(w.Header().Get("Content-Type"))
	if status >= http.StatusBadRequest && kind == "text/plain" {
		w.status = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write writes a part of the answer.
func (w *plainRefusals) Write(p []byte) (int, error) {
	if w.status == 0 {
		return w.ResponseWriter.Write(p)
	}
	w.text.Write(p[:min(len(p), mostRefusal-w.text.Len())])
	return len(p), nil
}

// refusal returns what was held back; nil for none.
func (w *plainRefusals) refusal() error {
	if w.status == 0 {
		return nil
	}
	w.Header().Del("Content-Type")
	w.Header().Del("X-Content-Type-Options")
	text := strings.TrimSpace(strings.ToValidUTF8(w.text.String(), ""))
	if text == "" {
		text = http.StatusText(w.status)
	}
	return &respond.Problem{Status: w.status, Text: text}
}
