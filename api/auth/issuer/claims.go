package issuer

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-jose/go-jose/v4/json"

	"github.com/slipway-qa/slipway/storage/oidc"
)

// maxShown bounds a claim in characters where it is stored or shown.
const maxShown = 200

// Claims are what a token says.
type Claims struct {
	Issuer  string
	Subject string

	all map[string]any
}

// readClaims reads a payload. Members that stand twice are refused, for which of them
// counts is a matter of taste (RFC 7519, part 4).
func readClaims(payload []byte) (Claims, error) {
	var c Claims
	if err := json.Unmarshal(payload, &c.all); err != nil || c.all == nil {
		return c, &Refusal{Text: textMalformed + "its claims cannot be read", Err: err}
	}
	for name, into := range map[string]*string{"iss": &c.Issuer, "sub": &c.Subject} {
		text, ok := c.all[name].(string)
		if _, given := c.all[name]; given && !ok {
			return c, refuse(textMalformed + name + " must be a text")
		}
		*into = text
	}
	return c, nil
}

// check holds the claims against the configuration.
func (c *Claims) check(by *oidc.Configuration, now time.Time) error {
	if err := c.checkTimes(time.Duration(by.ClockSkewSeconds)*time.Second, now); err != nil {
		return err
	}
	if by.Audience != "" && !slices.Contains(texts(c.all["aud"]), by.Audience) {
		return refuse(textAudience)
	}
	if len(by.RequiredScopes) > 0 && !slices.ContainsFunc(c.scopes(), func(s string) bool { return slices.Contains(by.RequiredScopes, s) }) {
		return refuse(textScope)
	}
	for name, patterns := range by.RequiredClaims {
		if !slices.ContainsFunc(texts(c.all[name]), func(text string) bool {
			return slices.ContainsFunc(patterns, func(pattern string) bool { return match(pattern, text) })
		}) {
			return refuse(textClaim + name)
		}
	}
	return nil
}

func (c *Claims) checkTimes(skew time.Duration, now time.Time) error {
	at := map[string]time.Time{}
	for _, name := range []string{"exp", "nbf", "iat"} {
		value, given := c.all[name]
		if !given {
			continue
		}
		seconds, ok := value.(float64)
		// The bound keeps the conversion exact; it is the year 9999.
		if !ok || math.IsNaN(seconds) || seconds < 0 || seconds > 253_402_300_799 {
			return refuse(textMalformed + name + " must be a number of seconds")
		}
		whole, part := math.Modf(seconds)
		at[name] = time.Unix(int64(whole), int64(part*1e9))
	}
	end, given := at["exp"]
	switch {
	case !given:
		return refuse(textMalformed + "it has no exp")
	case !now.Before(end.Add(skew)):
		return refuse(textExpired)
	case at["nbf"].After(now.Add(skew)), at["iat"].After(now.Add(skew)):
		return refuse(textEarly)
	}
	return nil
}

// scopes are the elements of the claim scope, separated by spaces (RFC 8693, part 4.2),
// and of scp, which some issuers write in its place.
func (c *Claims) scopes() []string {
	var scopes []string
	for _, name := range []string{"scope", "scp"} {
		for _, text := range texts(c.all[name]) {
			scopes = append(scopes, strings.Fields(text)...)
		}
	}
	return scopes
}

// texts are the values of a claim as texts: one, or those of an array. Numbers are
// written as issuers write ids, without exponent.
func texts(value any) []string {
	switch v := value.(type) {
	case string:
		return []string{v}
	case bool:
		if v {
			return []string{"true"}
		}
		return []string{"false"}
	case float64:
		return []string{strconv.FormatFloat(v, 'f', -1, 64)}
	case []any:
		var all []string
		for _, element := range v {
			if _, nested := element.([]any); !nested {
				all = append(all, texts(element)...)
			}
		}
		return all
	}
	return nil
}

// match reports whether a text is as the pattern has it, in which * stands for any
// text, also none.
func match(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return strings.HasSuffix(text, last)
}

// Shown are the claims that say where a token comes from, as the audit log keeps them.
func (c *Claims) Shown() map[string]string {
	shown := map[string]string{}
	for _, name := range []string{"iss", "sub", "jti", "azp", "client_id",
		"repository", "ref", "sha", "workflow", "run_id", "actor", "environment", // GitHub Actions
		"project_path", "pipeline_id", "job_id", "user_login"} { // GitLab
		if all := texts(c.all[name]); len(all) > 0 && all[0] != "" {
			shown[name] = clean(all[0])
		}
	}
	return shown
}

// Label is the subject as lists and the audit log show it: what an issuer wrote must not
// break a line or be without end.
func (c *Claims) Label() string {
	if c.Subject == "" {
		return "oidc"
	}
	return "oidc:" + clean(c.Subject)
}

func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(text, "_"))
	if runes := []rune(text); len(runes) > maxShown {
		return string(runes[:maxShown]) + "..."
	}
	return text
}
