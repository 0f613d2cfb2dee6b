package issuer

import (
	"strings"
	"testing"
	"time"

	"github.com/slipway-qa/slipway/storage/oidc"
)

// FuzzParse: no panic, and what is parsed is of an algorithm that is allowed and within
// the bounds, whatever its claims are.
func FuzzParse(f *testing.F) {
	for _, token := range []string{
		"", "..", "a.b.c", "eyJhbGciOiJub25lIn0.e30.", "eyJhbGciOiJSUzI1NiIsImtpZCI6ImZpcnN0In0.eyJpc3MiOiJodHRwczovL2EiLCJleHAiOjF9.AAAA",
		"eyJhbGciOiJFUzI1NiJ9.eyJleHAiOjFlMzA4LCJhdWQiOltbXV0sInNjcCI6WyJhIl19.AAAA", "eyJhbGciOiJSUzI1NiIsImp3ayI6e319.e30.AA",
	} {
		f.Add(token)
	}
	by := &oidc.Configuration{Settings: oidc.NewSettings().Settings}
	by.AllowedAlgorithms, by.Audience = []string{"RS256", "ES256"}, "slipway"
	by.RequiredScopes, by.RequiredClaims = []string{"a"}, map[string][]string{"ref": {"*a*"}}
	f.Fuzz(func(t *testing.T, token string) {
		p, err := parse(token, by.AllowedAlgorithms)
		if err != nil {
			return
		}
		if len(token) > MaxToken || strings.Count(token, ".") != 2 || p.header.Algorithm != "RS256" && p.header.Algorithm != "ES256" {
			t.Fatalf("%q was parsed", token)
		}
		_ = p.claims.check(by, time.Now())
		for name, text := range p.claims.Shown() {
			if strings.ContainsAny(text, "\x00\r\n") || len([]rune(text)) > maxShown+3 {
				t.Fatalf("%s is %q", name, text)
			}
		}
	})
}

func FuzzMatch(f *testing.F) {
	for _, c := range [][2]string{{"a*", "abc"}, {"*", ""}, {"a*a", "a"}, {"repo:*:ref:*", "repo:a/b:ref:x"}, {"", ""}} {
		f.Add(c[0], c[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		got := match(pattern, text)
		if !strings.Contains(pattern, "*") && got != (pattern == text) {
			t.Fatalf("%q and %q: %v", pattern, text, got)
		}
		if got && !match("*"+pattern+"*", "x"+text+"y") {
			t.Fatalf("%q matches %q, but not within more text", pattern, text)
		}
	})
}
