package environment

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/slipway-qa/slipway/storage/seal"
)

// secrets are what an environment keeps sealed.
type secrets struct {
	Variables map[string]string `json:"variables,omitempty"`
	Headers   map[string]string `json:"headers,omitempty"`
}

// seal returns the column of the secrets; nil without any.
func (s *secrets) seal(keys seal.Ring) ([]byte, error) {
	if len(s.Variables)+len(s.Headers) == 0 {
		return nil, nil
	}
	doc, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("secrets of an environment: %w", err)
	}
	return seal.Seal(keys, seal.Environment, string(doc))
}

// secrets unseals the secrets; seal.ErrUnseal.
func (e *Environment) secrets(keys seal.Ring) (*secrets, error) {
	s := &secrets{Variables: map[string]string{}, Headers: map[string]string{}}
	if e.sealed == nil {
		return s, nil
	}
	doc, err := seal.Unseal(keys, seal.Environment, e.sealed)
	if err != nil {
		return nil, fmt.Errorf("environment %s: %w", e.Name, err)
	}
	if err := json.Unmarshal([]byte(doc), s); err != nil {
		return nil, fmt.Errorf("environment %s: %w", e.Name, err)
	}
	return s, nil
}

// Values are what a run has of its environment besides the address, the targets and the
// tunnel, which are those of the run. They are kept sealed, as JSON, while the run goes on.
type Values struct {
	Name string `json:"name"`
	// Team is the one whose cases may have the values; 0: all of the organization.
	Team int64 `json:"team,omitempty"`
	// TestURL is the base address: the headers go to its host alone.
	TestURL   string            `json:"testUrl,omitempty"`
	Variables map[string]string `json:"variables,omitempty"`
	Secrets   map[string]string `json:"secrets,omitempty"`
	Headers   []Header          `json:"headers,omitempty"` // by name
}

// Header is a header that requests are sent with. Its value may name variables.
type Header struct {
	Name   string `json:"name"` // in lower case
	Value  string `json:"value"`
	Secret bool   `json:"secret,omitempty"`
}

// Values returns what a run has of the environment; seal.ErrUnseal.
func (e *Environment) Values(keys seal.Ring) (*Values, error) {
	s, err := e.secrets(keys)
	if err != nil {
		return nil, err
	}
	v := &Values{Name: e.Name, Team: e.TeamID, TestURL: e.TestURL, Variables: e.Variables, Secrets: s.Variables}
	all := maps.Clone(e.Headers)
	maps.Copy(all, s.Headers)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		_, secret := s.Headers[name]
		v.Headers = append(v.Headers, Header{name, all[name], secret})
	}
	return v, nil
}
