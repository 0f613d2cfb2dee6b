package environment

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/redaction"
)

// Limits of environments.
const (
	// Most is how many an organization has at most: people choose among them.
	Most = 100
	// MaxVariables bounds variables and secrets together, and MaxHeaders the headers: all of
	// them are copied into each run.
	MaxVariables = 100
	MaxHeaders   = 20
	// MaxValue bounds a value, in bytes.
	MaxValue = 4 << 10
	// MaxHeaderName bounds the name of a header, in bytes.
	MaxHeaderName = 100
)

var (
	namePattern     = regexp.MustCompile(`^[a-z0-9-]{1,60}$`)
	variablePattern = regexp.MustCompile(`^[a-z0-9_]{1,64}$`)
	headerPattern   = regexp.MustCompile("^[a-z0-9!#$%&'*+.^_`|~-]+$") // RFC 9110, token
)

// IsName reports whether an environment may have the name.
func IsName(name string) bool { return namePattern.MatchString(name) }

func checkName(name string) error {
	if !IsName(name) {
		return storage.Invalid("name", "must have 1 to 60 lower-case letters, digits and hyphens")
	}
	return nil
}

// checkValue never repeats the value, which may be a secret.
func checkValue(path, value string) error {
	if len(value) > MaxValue {
		return storage.Invalid(path, "must have at most %d KiB", MaxValue>>10)
	}
	if !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
		return storage.Invalid(path, "must be UTF-8 text without the character U+0000")
	}
	return nil
}

// checkTestURL refuses an address with a password in it, which lists would show; a variable
// may stand in its place.
func checkTestURL(address string) error {
	if address == "" {
		return nil
	}
	if err := step.CheckTestURL("testUrl", address); err != nil {
		return err
	}
	if shown := step.ShownURL(address); shown != address && !strings.Contains(shownHost(address), "{{") {
		return storage.Invalid("testUrl", "must have no password: name a secret of the environment in its place, as {{password}}")
	}
	return nil
}

// shownHost returns scheme and host of an address, with what stands before the host.
func shownHost(address string) string {
	scheme, behind, ok := strings.Cut(address, "://")
	if !ok {
		return ""
	}
	if end := strings.IndexAny(behind, "/?#"); end >= 0 {
		behind = behind[:end]
	}
	return scheme + "://" + behind
}

func checkVariable(member, name, value string) error {
	if !variablePattern.MatchString(name) {
		return storage.Invalid(member, "has a name that is not 1 to 64 lower-case letters, digits and underscores")
	}
	return checkValue(member+"."+name, value)
}

func checkSecret(name, value string) error {
	if err := checkVariable("secrets", name, value); err != nil {
		return err
	}
	if utf8.RuneCountInString(value) < redaction.MinSecret {
		return storage.Invalid("secrets."+name, "must have at least %d characters: a shorter one could not be masked", redaction.MinSecret)
	}
	return nil
}

// ownHeaders are headers that a browser makes itself for each request: with others, the
// request would not be understood, or would be taken for another site's.
var ownHeaders = []string{"connection", "content-length", "cookie", "cookie2", "date", "expect", "host", "keep-alive", "origin", "te",
	"trailer", "transfer-encoding", "upgrade", "via"}

// checkHeader takes the name in lower case.
func checkHeader(name, value string) error {
	if len(name) > MaxHeaderName || !headerPattern.MatchString(name) {
		return storage.Invalid("headers", "has a name that is no header's: 1 to %d letters, digits and any of !#$%%&'*+.^_`|~-", MaxHeaderName)
	}
	path := "headers." + name
	if slices.Contains(ownHeaders, name) || strings.HasPrefix(name, "proxy-") || strings.HasPrefix(name, "sec-") {
		return storage.Invalid(path, "is a header that the browser makes itself")
	}
	if err := checkValue(path, value); err != nil {
		return err
	}
	for _, r := range value {
		if r != '\t' && (r < ' ' || r > '~') {
			return storage.Invalid(path, "must have printable ASCII characters only")
		}
	}
	if strings.TrimSpace(value) != value || value == "" {
		return storage.Invalid(path, "must not be empty, nor begin or end with white space")
	}
	return nil
}

// credentialWords are parts of the names of headers whose values are kept like secrets.
var credentialWords = []string{"auth", "cookie", "credential", "key", "pass", "secret", "session", "signature", "token"}

// isSecretHeader reports whether the value of a header is kept like a secret.
func isSecretHeader(name string) bool {
	return slices.ContainsFunc(credentialWords, func(word string) bool { return strings.Contains(name, word) })
}

// checkTargets refuses too many; what each target may have, the caller checks.
func checkTargets(targets []capability.Target) error {
	if len(targets) > authoring.MaxTargets {
		return storage.Invalid("targets", "must be at most %d", authoring.MaxTargets)
	}
	return nil
}

// check refuses an environment whose parts do not go together.
func (e *Environment) check() error {
	if len(e.Variables)+len(e.SecretNames) > MaxVariables {
		return storage.Invalid("variables", "and secrets must be at most %d together", MaxVariables)
	}
	for _, name := range e.SecretNames {
		if _, twice := e.Variables[name]; twice {
			return storage.Invalid("variables."+name, "is a secret of the environment: remove one of them")
		}
	}
	headers := len(e.Headers) + len(e.SecretHeaders)
	if headers > MaxHeaders {
		return storage.Invalid("headers", "must be at most %d", MaxHeaders)
	}
	if headers > 0 && e.TestURL == "" {
		return storage.Invalid("headers", "go to the host of testUrl, which the environment does not have")
	}
	return nil
}
