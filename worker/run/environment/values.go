package environment

import (
	"fmt"

	"github.com/slipway-qa/slipway/storage/authoring"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/browser/egress"
)

// ofItsTeam refuses the environment of another team than that of the case: a suite may have
// cases of several.
func (t *Test) ofItsTeam() error {
	if t.Values == nil || t.Values.Team == 0 || t.Values.Team == t.Variables.TeamID {
		return nil
	}
	return &Refusal{store.CodeEnvironment, fmt.Sprintf("the environment %q is for the tests of another team alone", t.Values.Name)}
}

// ofEnvironment returns the value that the environment has for a bare name.
func (t *Test) ofEnvironment(r step.Reference) (v authoring.Value, ok bool) {
	if t.Values == nil || r.Scope != "" {
		return v, false
	}
	if text, ok := t.Values.Secrets[r.Name]; ok {
		return authoring.Value{Text: text, Secret: true}, true
	}
	text, ok := t.Values.Variables[r.Name]
	return authoring.Value{Text: text}, ok
}

// headerReferences are the variables that the headers name, and their site.
func (t *Test) headerReferences() []step.Reference {
	if t.Values == nil || len(t.Values.Headers) == 0 {
		return nil
	}
	texts := []string{t.Values.TestURL}
	for _, h := range t.Values.Headers {
		texts = append(texts, h.Value)
	}
	return step.References(nil, texts...)
}

// addHeaders puts the headers of the environment into the request of a session, and returns
// the values that nobody may read: of secret headers, and of all secrets, which a page may
// show without a step that names them.
func (t *Test) addHeaders(request *browser.Request, known map[step.Reference]authoring.Value) (secrets []string, err error) {
	if t.Values == nil {
		return nil, nil
	}
	for _, text := range t.Values.Secrets {
		secrets = append(secrets, text)
	}
	if len(t.Values.Headers) == 0 {
		return secrets, nil
	}
	lookup := func(r step.Reference) (string, bool) {
		v, ok := known[r]
		return v.Text, ok
	}
	if request.Site, err = step.Expand(t.Values.TestURL, lookup); err != nil {
		return nil, &Refusal{store.CodeVariable, "the environment's testUrl: " + err.Error()}
	}
	for _, h := range t.Values.Headers {
		value, err := step.Expand(h.Value, lookup)
		if err != nil {
			return nil, &Refusal{store.CodeVariable, fmt.Sprintf("the environment's header %s: %s", h.Name, err)}
		}
		if !isHeaderValue(value) {
			return nil, &Refusal{store.CodeEnvironment,
				fmt.Sprintf("the environment's header %s has a line break, or another character that is none of a header", h.Name)}
		}
		request.Headers = append(request.Headers, egress.Header{Name: h.Name, Value: value})
		if h.Secret {
			secrets = append(secrets, value)
		}
	}
	return secrets, nil
}

// isHeaderValue reports whether a text, which variables may have changed, can be sent.
func isHeaderValue(text string) bool {
	for i := range len(text) {
		if c := text[i]; c != '\t' && (c < ' ' || c > '~') {
			return false
		}
	}
	return true
}
