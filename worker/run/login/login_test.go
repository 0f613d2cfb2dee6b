package login

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/run/state"
)

func jarOf(t *testing.T, values ...string) (jar state.Jar) {
	t.Helper()
	for i, value := range values {
		var one state.Jar
		require.NoError(t, json.Unmarshal(fmt.Appendf(nil,
			`[{"name":"c%d","domain":"a","path":"/","value":{"type":"string","value":%q}}]`, i, value), &one))
		jar = append(jar, one...)
	}
	return jar
}

// What signs in is a secret; settings, which occur everywhere, are none.
func TestSecrets(t *testing.T) {
	t.Parallel()
	s := State{Cookies: jarOf(t, "session-of-ann", "dark", "session-of-ann"), Stored: []state.Stored{
		{Origin: "https://a.example.com", Local: map[string]string{"theme": "dark", "token": "0123456789abcdef",
			"text": "a text with spaces in it"},
			Session: map[string]string{"user": `{"name":"ann","tokens":[{"id":"fedcba9876543210"},7,null]}`, "broken": `{"a`}}}}
	got := s.Secrets()
	slices.Sort(got)
	require.Equal(t, []string{"0123456789abcdef", "fedcba9876543210", "session-of-ann"}, got)
	text, err := s.Text()
	require.NoError(t, err)
	again, err := Read(text)
	require.NoError(t, err)
	require.Equal(t, &s, again)

	many := State{Stored: []state.Stored{{Origin: "https://a.example.com", Local: map[string]string{}}}}
	for i := range 2 * maxSecrets {
		many.Stored[0].Local[fmt.Sprint(i)] = fmt.Sprintf("a-token-of-length-%d", i)
	}
	require.Len(t, many.Secrets(), maxSecrets)
}

func TestStateIsBounded(t *testing.T) {
	t.Parallel()
	s := State{Cookies: jarOf(t, strings.Repeat("x", MaxBytes))}
	_, err := s.Text()
	var tooLarge *TooLargeError
	require.ErrorAs(t, err, &tooLarge)
	require.Greater(t, tooLarge.Bytes, MaxBytes)
	_, err = Read("{")
	require.Error(t, err)
}

func TestOriginOf(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{"https://a.example.com/b?c": "https://a.example.com", "http://a:8080?x": "http://a:8080",
		"http://u:p@a#x": "http://a", "about:blank": "", "": "", "data:text/html,x": ""} {
		require.Equal(t, want, originOf(address), address)
	}
}
