// Package languagemodel is a service of language models for tests. It speaks the two
// wire formats that Slipway uses, chat completions and messages, and checks each
// request as strictly as the real services do: headers, roles, the pairs of calls and
// results of tools, schemas. A request that a real service would refuse is refused,
// and is an error of the test.
//
// It says what the test's Script says, and misbehaves as services do: it is slow, is
// overloaded, limits rates, breaks off, streams though nobody asked for it, sends
// what is no message, or calls tools that there are not.
package languagemodel

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// The formats.
const (
	OpenAI    = "openai"
	Anthropic = "anthropic"
)

// Formats are all of them, for tests that hold for each.
var Formats = []string{OpenAI, Anthropic}

// What requests must have.
const (
	Key   = "key-of-the-test-5f1c"
	Model = "test-model"
)

// Script returns the answer to the nth request, from 0.
type Script func(n int, r *Request) Answer

// Say is a script of a fixed list, whose last answer is repeated.
func Say(list ...Answer) Script {
	return func(n int, _ *Request) Answer { return list[min(n, len(list)-1)] }
}

// Answer is what the service sends.
type Answer struct {
	Text  string
	Calls []Call
	// Refuse and Cut are the ends of a message other than the usual one.
	Refuse, Cut bool
	NoUsage     bool

	// Status is another than 200, with the format's error body.
	Status int
	Header map[string]string
	// Delay is waited before anything is sent; a client that goes away ends it.
	Delay time.Duration
	// Stream sends events, the first Events of them when that is not 0, and an error
	// as the last one when StreamError is set. Drip waits between them.
	Stream      bool
	Events      int
	StreamError bool
	Drip        time.Duration
	// Raw is sent instead of a message, as ContentType.
	Raw         []byte
	ContentType string
	// HangUp closes the connection without a response.
	HangUp bool
}

// Call is a call of a tool.
type Call struct {
	ID   string // "": the service makes one
	Name string
	// Arguments become JSON; ArgumentText is sent as it is.
	Arguments    map[string]any
	ArgumentText string
}

// Use is an answer that calls one tool.
func Use(name string, arguments map[string]any) Answer {
	return Answer{Calls: []Call{{Name: name, Arguments: arguments}}}
}

// Request is one that came, in the terms of both formats.
type Request struct {
	System   string
	Messages []Message
	Tools    []string
	// Body is the request as it came.
	Body string
}

// Message is one of a request.
type Message struct {
	Role    string // user or assistant; results of tools are of the user
	Text    string
	Calls   []Call
	Results []Result
}

// Result is the result of a call.
type Result struct {
	ID, Text string
	Error    bool
}

// Last returns the last message, which is of the user.
func (r *Request) Last() Message { return r.Messages[len(r.Messages)-1] }

// Server is the service.
type Server struct {
	URL string // the base URL

	t      *testing.T
	format string
	script Script

	mu       sync.Mutex
	requests []*Request
	lenient  map[string]bool
}

// Start starts a service of a format, until the test ends.
func Start(t *testing.T, format string, script Script) *Server {
	t.Helper()
	s := &Server{t: t, format: format, script: script, lenient: map[string]bool{}}
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(server.Close)
	s.URL = server.URL
	if format == OpenAI {
		s.URL += "/v1"
	}
	return s
}

// Refuse lets the service refuse a parameter, as services of older and newer models do.
func (s *Server) Refuse(parameter string) { s.lenient[parameter] = true }

// Requests returns those that came so far.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Request{}, s.requests...)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	request, problem := s.check(r)
	if problem != nil {
		if !problem.expected {
			s.t.Errorf("a request that the service refuses: %s", problem.text)
		}
		s.fail(w, problem.status, problem.text)
		return
	}
	s.mu.Lock()
	n := len(s.requests)
	s.requests = append(s.requests, request)
	s.mu.Unlock()
	s.send(w, r, n, s.script(n, request))
}

func (s *Server) send(w http.ResponseWriter, r *http.Request, n int, a Answer) {
	if !pause(r, a.Delay) {
		return
	}
	for name, value := range a.Header {
		w.Header().Set(name, value)
	}
	a.Calls = slices.Clone(a.Calls) // a script may say them again
	for i := range a.Calls {
		if a.Calls[i].ID == "" {
			a.Calls[i].ID = "call_" + strconv.Itoa(n) + "_" + strconv.Itoa(i)
		}
	}
	switch {
	case a.HangUp:
		panic(http.ErrAbortHandler)
	case a.Status != 0:
		s.fail(w, a.Status, a.Text)
	case a.Raw != nil:
		w.Header().Set("Content-Type", a.ContentType)
		if a.Drip == 0 {
			_, _ = w.Write(a.Raw)
			return
		}
		for i := range a.Raw {
			if _, err := w.Write(a.Raw[i : i+1]); err != nil || !flush(w) || !pause(r, a.Drip) {
				return
			}
		}
	case a.Stream:
		s.stream(w, r, &a)
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.message(&a))
	}
}

func (s *Server) message(a *Answer) any {
	if s.format == OpenAI {
		return openAIMessage(a)
	}
	return anthropicMessage(a)
}

func (s *Server) stream(w http.ResponseWriter, r *http.Request, a *Answer) {
	if a.ContentType == "" {
		a.ContentType = "text/event-stream; charset=utf-8"
	}
	w.Header().Set("Content-Type", a.ContentType)
	events := openAIEvents(a)
	if s.format == Anthropic {
		events = anthropicEvents(a)
	}
	if a.Events > 0 {
		events = events[:min(a.Events, len(events))]
	}
	if a.StreamError {
		events = append(events, s.errorEvent())
	}
	for _, event := range events {
		if _, err := w.Write([]byte(event)); err != nil || !flush(w) || !pause(r, a.Drip) {
			return
		}
	}
	if a.Events > 0 && !a.StreamError {
		panic(http.ErrAbortHandler) // the connection breaks
	}
}

func flush(w http.ResponseWriter) bool { return http.NewResponseController(w).Flush() == nil }

// pause waits, and reports whether the client is still there.
func pause(r *http.Request, d time.Duration) bool {
	if d == 0 {
		return true
	}
	select {
	case <-r.Context().Done():
		return false
	case <-time.After(d):
		return true
	}
}

func (s *Server) fail(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	var body any = map[string]any{"error": map[string]any{"message": text, "type": "invalid_request_error", "param": nil, "code": nil}}
	if s.format == Anthropic {
		body = map[string]any{"type": "error", "error": map[string]any{"type": "api_error", "message": text}}
	}
	_ = json.NewEncoder(w).Encode(body)
}
