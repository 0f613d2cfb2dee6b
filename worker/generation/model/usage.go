package model

import (
	"strings"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/storage/step/redaction"
)

const (
	// maxKeptCall bounds what is kept of a request or response: two outlines of a page.
	maxKeptCall = 64 << 10
	// maxKept bounds what is kept of all calls of a generation.
	maxKept = 1 << 20
	// maxKeptCalls bounds their number, above what any budget allows.
	maxKeptCalls = 1000
)

// Usage is what a model was asked during a generation. Nothing secret is in it.
type Usage struct {
	Provider     string `json:"provider"`
	Model        string `json:"model"`
	Calls        []Call `json:"calls"`
	InputTokens  int    `json:"inputTokens"`
	OutputTokens int    `json:"outputTokens"`
	// MicroUSD is the cost in millionths of a US dollar, by the prices that are set.
	MicroUSD int64 `json:"microUsd"`
}

// Call is one request.
type Call struct {
	At           time.Time `json:"at"`
	Request      string    `json:"request"`  // the body, as it was sent
	Response     string    `json:"response"` // or the error
	InputTokens  int       `json:"inputTokens"`
	OutputTokens int       `json:"outputTokens"`
	TookMS       int64     `json:"tookMs"`
}

// Recorder keeps the calls of one generation. It is safe for concurrent use.
type Recorder struct {
	redact *redaction.Redactor

	mu    sync.Mutex
	usage Usage
	kept  int
}

// NewRecorder returns a recorder that removes what redact knows.
func NewRecorder(redact *redaction.Redactor) *Recorder { return &Recorder{redact: redact} }

// Usage returns what was recorded; nil without a call.
func (r *Recorder) Usage() *Usage {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.usage.Provider == "" {
		return nil
	}
	out := r.usage
	out.Calls = append([]Call{}, r.usage.Calls...)
	return &out
}

func (r *Recorder) add(cfg *Config, call Call, microUSD int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.usage.Provider, r.usage.Model = cfg.Provider, cfg.Model
	r.usage.InputTokens += call.InputTokens
	r.usage.OutputTokens += call.OutputTokens
	r.usage.MicroUSD += microUSD
	if len(r.usage.Calls) >= maxKeptCalls {
		return
	}
	call.Request, call.Response = r.keep(call.Request), r.keep(call.Response)
	r.usage.Calls = append(r.usage.Calls, call)
}

// keep redacts a text and shortens it to what there is still room for.
func (r *Recorder) keep(text string) string {
	text = shorten(r.redact.Text(text), min(maxKeptCall, maxKept-r.kept))
	r.kept += len(text)
	return text
}

// shorten cuts a text in its middle to at most n bytes: the beginning of a request has
// what was asked, and its end the page.
func shorten(text string, n int) string {
	const gap = "\n[...]\n"
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= n {
		return text
	}
	if n <= len(gap) {
		return ""
	}
	half := (n - len(gap)) / 2
	return strings.ToValidUTF8(text[:half], "") + gap + strings.ToValidUTF8(text[len(text)-half:], "")
}
