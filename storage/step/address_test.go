package step_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
)

func TestStartURL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ given, recorded, want string }{
		{"https://pr-7.example.com", "https://staging.example.com/shop?a=b#top", "https://pr-7.example.com/shop?a=b#top"},
		{"https://ann:pw@pr-7.example.com:8443", "http://staging.example.com/shop", "https://ann:pw@pr-7.example.com:8443/shop"},
		{"https://pr-7.example.com", "https://staging.example.com/u/{{name}}", "https://pr-7.example.com/u/{{name}}"},
		{"https://pr-7.example.com", "https://{{host}}/shop", "https://pr-7.example.com/shop"},
		{"https://pr-7.example.com", "https://staging.example.com?a=b", "https://pr-7.example.com?a=b"},
		{"https://pr-7.example.com", "https://staging.example.com/", "https://pr-7.example.com"},
		{"https://pr-7.example.com", "https://staging.example.com", "https://pr-7.example.com"},
		{"https://pr-7.example.com", "{{base}}/shop", "https://pr-7.example.com"},
		{"https://pr-7.example.com", "", "https://pr-7.example.com"},
		{"https://pr-7.example.com/", "https://staging.example.com/shop", "https://pr-7.example.com/"},
		{"https://pr-7.example.com/other", "https://staging.example.com/shop", "https://pr-7.example.com/other"},
		{"https://pr-7.example.com?x", "https://staging.example.com/shop", "https://pr-7.example.com?x"},
		{"{{preview}}", "https://staging.example.com/shop", "{{preview}}"},
	} {
		require.Equal(t, c.want, step.StartURL(c.given, c.recorded), c)
	}
}

func TestMove(t *testing.T) {
	t.Parallel()
	move := step.NewMove("https://Staging.example.com/shop", "http://ann:pw@pr-7.example.com:8080/start")
	for address, want := range map[string]string{
		"https://staging.example.com/cart?a=b#c": "http://ann:pw@pr-7.example.com:8080/cart?a=b#c",
		"https://STAGING.example.com:443/cart":   "http://ann:pw@pr-7.example.com:8080/cart",
		"https://bob:x@staging.example.com/a%2F": "http://ann:pw@pr-7.example.com:8080/a%2F",
		"https://staging.example.com":            "http://ann:pw@pr-7.example.com:8080",
		"http://staging.example.com/cart":        "http://staging.example.com/cart",
		"https://staging.example.com:444/":       "https://staging.example.com:444/",
		"https://staging.example.com.evil.test/": "https://staging.example.com.evil.test/",
		"https://pay.example.com/":               "https://pay.example.com/",
		"/cart":                                  "/cart",
		"about:blank":                            "about:blank",
		"https://[bad":                           "https://[bad",
		"":                                       "",
	} {
		require.Equal(t, want, move.Tool(step.Tool{Type: step.GoToURL, Args: step.Args{URL: address}}).Args.URL, address)
	}
	for name, none := range map[string]step.Move{
		"zero": {}, "same origin": step.NewMove("https://a.example.com/x", "https://A.example.com:443/y"),
		"nowhere from": step.NewMove("", "https://a.example.com"), "no address": step.NewMove("about:blank", "https://a.example.com"),
		"nowhere to": step.NewMove("https://a.example.com", "ftp://b.example.com"), "broken": step.NewMove("https://a.example.com",
			"https://[bad"),
	} {
		tool := step.Tool{Type: step.GoToURL, Args: step.Args{URL: "https://a.example.com/x"}}
		require.Equal(t, tool, none.Tool(tool), name)
	}
}

// Assertions and windows follow, patterns and texts of the page do not; the tool that is
// given stays as it is.
func TestMoveOfMatchers(t *testing.T) {
	t.Parallel()
	move := step.NewMove("https://staging.example.com", "https://ann:pw@pr-7.example.com")
	const before, after = "https://staging.example.com/cart", "https://pr-7.example.com/cart"
	for _, c := range []struct {
		matcher step.Matcher
		want    string
	}{
		{step.Matcher{Name: step.URLIs, Args: step.MatcherArgs{Value: before}}, after},
		{step.Matcher{Name: step.URLIs, Args: step.MatcherArgs{Value: before, Mode: step.Contains}}, after},
		{step.Matcher{Name: step.URLIs, Args: step.MatcherArgs{Value: before, Mode: step.Matches}}, before},
		{step.Matcher{Name: step.URLIs, Args: step.MatcherArgs{Value: "/cart", Mode: step.Contains}}, "/cart"},
		{step.Matcher{Name: step.WindowURL, Args: step.MatcherArgs{Value: before}}, after},
		{step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: before}}, before},
	} {
		given := c.matcher
		tool := step.Tool{Type: step.InFrame, Args: step.Args{Tool: &step.Tool{Type: step.Assert, Args: step.Args{Matcher: &given}}}}
		require.Equal(t, c.want, move.Tool(tool).Args.Tool.Args.Matcher.Args.Value, c)
		require.Equal(t, c.matcher, given, "the given matcher")
	}
	require.Nil(t, move.Matcher(nil))
}

func TestCheckTestURL(t *testing.T) {
	t.Parallel()
	for address, ok := range map[string]bool{"https://a.example.com": true, "http://127.0.0.1:8080/x": true, "{{base}}/x": true,
		"": false, "a.example.com": false, "/x": false, "ftp://a.example.com": false, "javascript:alert(1)": false, "https://": false,
		"https://a.example.com/" + strings.Repeat("x", 2048): false, " https://a.example.com": false, "https://a\n.example.com": false} {
		err := step.CheckTestURL("testUrl", address)
		require.Equal(t, ok, err == nil, "%q: %v", address, err)
		var wrong *step.InvalidError
		if !ok {
			require.True(t, errors.As(err, &wrong))
			require.Equal(t, "testUrl", wrong.Path)
		}
	}
}

func TestShownURL(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://ann:pw@pr-7.example.com/a?b=c@d": "https://ann:***@pr-7.example.com/a?b=c@d",
		"https://ann:p@w@{{host}}:8443":           "https://ann:***@{{host}}:8443",
		"https://ann@pr-7.example.com":            "https://ann@pr-7.example.com",
		"https://pr-7.example.com/ann:pw@x":       "https://pr-7.example.com/ann:pw@x",
		"{{address}}":                             "{{address}}",
		"":                                        "",
	} {
		require.Equal(t, want, step.ShownURL(address))
	}
}
