// Package login reads and gives what a login leaves in a browser: its cookies, and the local
// and session storage of all origins whose pages it has loaded, also in frames.
//
// A State is kept as JSON of at most MaxBytes, which the caller seals: whoever has it is
// signed in. Its Secrets are what must not be read in messages, traces and files of the tests
// that it is given to. Both ways go over WebDriver BiDi; the pages of the origins are made in
// the browser, so that no request leaves it.
package login

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/state"
)

// MaxBytes bounds a State as it is kept: every job of a suite run reads it.
const MaxBytes = 4 << 20

// maxOrigins bounds the origins whose storage is read: each is a page of its own.
const maxOrigins = 50

// State is what a login leaves.
type State struct {
	Cookies state.Jar      `json:"cookies"`
	Stored  []state.Stored `json:"stored"`
}

// Capture reads the state of a window's browser. origins are those whose pages it has loaded (Watch);
// left reports that the window does not show its page any more.
func Capture(ctx context.Context, conn *webdriver.BiDi, window string, origins []string) (s *State, left bool, err error) {
	s = &State{}
	if s.Cookies, err = state.ReadJar(ctx, conn, window); err != nil {
		return nil, false, err
	}
	here, err := state.ReadStored(ctx, conn, window)
	if err != nil {
		return nil, false, err
	}
	s.add(here)
	var others []string
	for _, origin := range origins {
		if origin != here.Origin && isSite(origin) && !slices.Contains(others, origin) {
			others = append(others, origin)
		}
	}
	if len(others) > maxOrigins {
		return nil, false, fmt.Errorf("the login has shown more than %d origins", maxOrigins)
	}
	err = state.Visit(ctx, conn, window, others, func(string) error {
		stored, err := state.ReadStored(ctx, conn, window)
		s.add(stored)
		return err
	})
	return s, len(others) > 0, err
}

func (s *State) add(stored state.Stored) {
	if isSite(stored.Origin) && !stored.Empty() {
		s.Stored = append(s.Stored, stored)
	}
}

// isSite reports whether an origin is one of http or https, which keeps something.
func isSite(origin string) bool {
	return strings.HasPrefix(origin, "http://") || strings.HasPrefix(origin, "https://")
}

// Origins collects the origins that pages are loaded from, also those that redirect at once.
type Origins struct {
	mu   sync.Mutex
	list []string
	stop func()
}

const requestEvent = "network.beforeRequestSent"

// Watch begins to collect in all windows of a browser. Close ends it.
func Watch(ctx context.Context, conn *webdriver.BiDi) (*Origins, error) {
	var subscribed struct {
		Subscription string `json:"subscription"`
	}
	o := &Origins{}
	unhandle := conn.On(requestEvent, func(text json.RawMessage) {
		var event struct {
			Navigation *string `json:"navigation"`
			Request    struct {
				URL string `json:"url"`
			} `json:"request"`
		}
		if json.Unmarshal(text, &event) == nil && event.Navigation != nil {
			o.add(originOf(event.Request.URL))
		}
	})
	if err := conn.Command(ctx, "session.subscribe", map[string]any{"events": []string{requestEvent}}, &subscribed); err != nil {
		unhandle()
		return nil, err
	}
	o.stop = func() {
		unhandle()
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer cancel()
		// One that cannot be taken back ends with the connection.
		_ = conn.Command(end, "session.unsubscribe", map[string]any{"subscriptions": []string{subscribed.Subscription}}, nil)
	}
	return o, nil
}

// endTimeout bounds what is taken back.
const endTimeout = 5 * time.Second

func (o *Origins) add(origin string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if isSite(origin) && len(o.list) <= maxOrigins && !slices.Contains(o.list, origin) {
		o.list = append(o.list, origin)
	}
}

// List returns those so far.
func (o *Origins) List() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.list)
}

// Close ends the collecting; nil is closed.
func (o *Origins) Close() {
	if o != nil {
		o.stop()
	}
}

// originOf returns scheme, host and port of an address; "" where it has none.
func originOf(address string) string {
	scheme, behind, ok := strings.Cut(address, "://")
	if !ok {
		return ""
	}
	host, _, _ := strings.Cut(behind, "/")
	host, _, _ = strings.Cut(host, "?")
	host, _, _ = strings.Cut(host, "#")
	return scheme + "://" + host[strings.LastIndexByte(host, '@')+1:]
}

// Restore gives the state to a window's browser. The window shows an empty page then.
func (s *State) Restore(ctx context.Context, conn *webdriver.BiDi, window string) error {
	if err := s.Cookies.Set(ctx, conn, window, time.Now()); err != nil {
		return err
	}
	if len(s.Stored) == 0 {
		return nil
	}
	if err := state.WriteStored(ctx, conn, window, s.Stored); err != nil {
		return err
	}
	return conn.Command(ctx, "browsingContext.navigate", map[string]any{"context": window, "url": "about:blank", "wait": "complete"}, nil)
}

// TooLargeError means that a login leaves more than is kept.
type TooLargeError struct{ Bytes int }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the login leaves %d bytes of cookies and storage: at most %d are kept", e.Bytes, MaxBytes)
}

// Text returns the state as it is kept; *TooLargeError.
func (s *State) Text() (string, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("state of a login: %w", err)
	}
	if len(text) > MaxBytes {
		return "", &TooLargeError{len(text)}
	}
	return string(text), nil
}

// Read returns the state of a text that Text returned.
func Read(text string) (*State, error) {
	var s State
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return nil, fmt.Errorf("state of a login: %w", err)
	}
	return &s, nil
}

const (
	// minCookie and minToken are the shortest values, in bytes, that are taken for secrets:
	// shorter ones ("1", "dark") are settings, which occur everywhere.
	minCookie, minToken = 8, 16
	// maxSecrets and maxSecret bound what texts are searched for.
	maxSecrets, maxSecret = 500, 8 << 10
)

// Secrets returns the values that sign in: those of cookies, and what looks like a token in
// storages, also inside of JSON there.
func (s *State) Secrets() []string {
	var list []string
	add := func(text string, least int) {
		if len(text) >= least && len(text) <= maxSecret && len(list) < maxSecrets && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	for _, value := range s.Cookies.Values() {
		add(value, minCookie)
	}
	for _, stored := range s.Stored {
		for _, area := range []map[string]string{stored.Local, stored.Session} {
			for _, value := range area {
				for _, token := range tokens(value) {
					add(token, minToken)
				}
			}
		}
	}
	return list
}

// tokens returns the texts in a stored value that have no space: itself, or in its JSON.
func tokens(value string) (list []string) {
	var doc any
	if json.Unmarshal([]byte(value), &doc) != nil {
		doc = value
	}
	for open := []any{doc}; len(open) > 0; open = open[1:] {
		switch v := open[0].(type) {
		case string:
			if !strings.ContainsAny(v, " \t\n") {
				list = append(list, v)
			}
		case []any:
			open = append(open, v...)
		case map[string]any:
			for _, member := range v {
				open = append(open, member)
			}
		}
	}
	return list
}
