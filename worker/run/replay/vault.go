package replay

import (
	"net/url"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

// vault knows the variables of a test, and which secrets went where.
type vault struct {
	lookup   func(step.Reference) (value string, secret, ok bool)
	secrets  []string // those that a step has asked for
	redactor *step.Redactor
	// typed are the secrets that were typed into pages, by their origin: only
	// pages of the same origin are searched for them.
	typed  map[string][]string
	framed bool // one was typed in a frame
}

func (v *vault) get(r step.Reference) (string, bool) {
	if v.lookup == nil {
		return "", false
	}
	value, secret, ok := v.lookup(r)
	if ok && secret && value != "" && !slices.Contains(v.secrets, value) {
		v.secrets = append(v.secrets, value)
		v.redactor = step.NewRedactor(v.secrets)
	}
	return value, ok
}

func (v *vault) redact(text string) string { return v.redactor.Text(text) }

// in gives the secrets that a text holds.
func (v *vault) in(text string) []string {
	var held []string
	for _, secret := range v.secrets {
		if strings.Contains(text, secret) {
			held = append(held, secret)
		}
	}
	return held
}

// note remembers that a text was typed into a page.
func (v *vault) note(address, text string) {
	held := v.in(text)
	if len(held) == 0 {
		return
	}
	if v.typed == nil {
		v.typed = map[string][]string{}
	}
	at := origin(address)
	for _, secret := range held {
		if !slices.Contains(v.typed[at], secret) {
			v.typed[at] = append(v.typed[at], secret)
		}
	}
}

// longest is the length of the longest secret in its longest spelling.
func (v *vault) longest() int {
	most := 0
	for _, secret := range v.secrets {
		most = max(most, 6*len(secret))
	}
	return most
}

// origin is scheme, host and port of an address.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}
