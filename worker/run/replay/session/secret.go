package session

import (
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/redaction"
)

// Secrets knows the variables of a test, and which secrets were typed where.
type Secrets struct {
	lookup func(step.Reference) (value string, secret, ok bool)

	mu       sync.Mutex // of the next two: captures redact while steps look variables up
	secrets  []string   // those that steps have used
	redactor *redaction.Redactor

	// typed are the secrets that were typed into pages, by their origin: only
	// pages of the same origin are searched for them.
	typed        map[string][]string
	TypedInFrame bool // one was typed in a frame
	// saved are the texts that steps have saved, by their names.
	saved map[string]string
}

// Value returns the value of a variable; false when it has none.
func (s *Secrets) Value(r step.Reference) (string, bool) {
	if r.Scope == step.ScopeSaved {
		text, ok := s.saved[r.Name]
		return text, ok
	}
	if s.lookup == nil {
		return "", false
	}
	value, secret, ok := s.lookup(r)
	if ok && secret && value != "" {
		s.Add(value)
	}
	return value, ok
}

// Add adds the value of a secret that a step uses.
func (s *Secrets) Add(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.secrets, secret) {
		return
	}
	s.secrets = append(s.secrets, secret)
	s.redactor = redaction.New(s.secrets)
}

// KeepSaved keeps what a step has saved under a name.
func (s *Secrets) KeepSaved(name, text string) {
	if s.saved == nil {
		s.saved = map[string]string{}
	}
	s.saved[name] = text
}

// AddAll adds secrets that no variable has.
func (s *Secrets) AddAll(secrets []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secrets = append(s.secrets, secrets...)
	s.redactor = redaction.New(s.secrets)
}

// Redact replaces the secrets in a text.
func (s *Secrets) Redact(text string) string { return s.Current().Text(text) }

// shortestCut is where page/surroundings.js cuts texts, which page/fingerprint.js cuts
// later: a text of fewer bytes is whole.
const shortestCut = 120

// leftIn reports whether a secret is in a text of a page, or what a cut left of one at
// its end. A cut may have halved a character there.
func (s *Secrets) leftIn(text string) bool {
	redactor := s.Current()
	return redactor.Text(text) != text ||
		len(text) >= shortestCut && redactor.EndsInPart(strings.TrimSuffix(text, "\ufffd"))
}

// Current returns what replaces the secrets that are known so far.
func (s *Secrets) Current() *redaction.Redactor {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.redactor
}

// In returns the secrets that a text contains.
func (s *Secrets) In(text string) []string {
	var found []string
	for _, secret := range s.secrets {
		if strings.Contains(text, secret) {
			found = append(found, secret)
		}
	}
	return found
}

// NoteTyped stores that a text was typed into a page.
func (s *Secrets) NoteTyped(address, text string) {
	found := s.In(text)
	if len(found) == 0 {
		return
	}
	if s.typed == nil {
		s.typed = map[string][]string{}
	}
	at := origin(address)
	for _, secret := range found {
		if !slices.Contains(s.typed[at], secret) {
			s.typed[at] = append(s.typed[at], secret)
		}
	}
}

// longest returns the length of the longest secret in its longest spelling, in
// bytes.
func (s *Secrets) longest() int {
	most := 0
	for _, secret := range s.secrets {
		most = max(most, 6*len(secret))
	}
	return most
}

// origin returns scheme, host and port of an address.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}
