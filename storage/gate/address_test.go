package gate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/step"
)

// Values are chosen by whoever uploads: whatever they are, an address names no variable, and
// leads to no host that the policy does not name.
func TestAddress(t *testing.T) {
	t.Parallel()
	allowed := []string{"staging.example.com", "*.preview.example.com"}
	for name, c := range map[string]struct {
		url, value, want, refused string
		allowed                   []string
	}{
		"host": {url: "https://{{metadata.v}}/shop?v={{ version }}", value: "pr-7.preview.example.com",
			want: "https://pr-7.preview.example.com/shop?v=1.2%2B3", allowed: allowed},
		"exact": {url: "https://{{metadata.v}}", value: "Staging.Example.com", want: "https://Staging.Example.com",
			allowed: allowed},
		"with a port": {url: "https://{{metadata.v}}/", value: "staging.example.com:08443",
			want: "https://staging.example.com:8443/", allowed: allowed},
		"port of the policy": {url: "http://{{metadata.v}}:8080/", value: "staging.example.com",
			want: "http://staging.example.com:8080/", allowed: allowed},
		"label": {url: "https://ann:word@pr-{{metadata.v}}.example.com/", value: "7", want: "https://ann:word@pr-7.example.com/"},
		"behind": {url: "https://x.example.com/{{metadata.v}}?a={{metadata.v}}#{{metadata.v}}", value: "a b/ü",
			want: "https://x.example.com/a%20b%2F%C3%BC?a=a%20b%2F%C3%BC#a%20b%2F%C3%BC"},
		"no placeholder": {url: "https://x.example.com:8080/../a?{b}", want: "https://x.example.com:8080/../a?{b}"},
		"number":         {url: "https://x.example.com/{{build_id}}", want: "https://x.example.com/77"},

		"variable": {url: "https://{{metadata.v}}/", value: "evil.example/?p={{org:password}}",
			refused: "whose value has {{", allowed: allowed},
		"variable in a path": {url: "https://x.example.com/{{metadata.v}}", value: "{{ password }}", refused: "whose value has {{"},
		"variable of two values": {url: "https://x.example.com/{{metadata.v}}{{metadata.v}}", value: "{password}}",
			want: "https://x.example.com/%7Bpassword%7D%7D%7Bpassword%7D%7D"},
		"brace of the policy": {url: "https://x.example.com/{{metadata.v}}{password}}", value: "{",
			want: "https://x.example.com/%7B{password}}"},
		"leaves the domain": {url: "https://{{metadata.v}}.example.com/", value: "evil.example/#", refused: "a host that is no name"},
		"query for a host":  {url: "https://{{metadata.v}}.example.com/", value: "evil.example?", refused: "a host that is no name"},
		"backslash":         {url: "https://{{metadata.v}}.example.com/", value: `evil.example\`, refused: "a host that is no name"},
		"credentials":       {url: "https://{{metadata.v}}.example.com/", value: "a@evil.example/", refused: "a host that is no name"},
		"port of a part":    {url: "https://{{metadata.v}}.example.com/", value: "evil.example:80", refused: "a host that is no name"},
		"letters of others": {url: "https://{{metadata.v}}.example.com/", value: "evil.example／", refused: "a host that is no name"},
		"line":              {url: "https://{{metadata.v}}.example.com/", value: "a\nb", refused: "a host that is no name"},
		"empty label":       {url: "https://{{metadata.v}}.example.com/", value: "a.", refused: "a host that is no name"},
		"another host": {url: "https://{{metadata.v}}/", value: "evil.example", refused: "not among the allowed_hosts",
			allowed: allowed},
		"suffix of a name": {url: "https://{{metadata.v}}/", value: "evilpreview.example.com",
			refused: "not among the allowed_hosts", allowed: allowed},
		"the domain itself": {url: "https://{{metadata.v}}/", value: "preview.example.com",
			refused: "not among the allowed_hosts", allowed: allowed},
		"address of a machine": {url: "https://{{metadata.v}}/", value: "169.254.169.254", refused: "not among the allowed_hosts",
			allowed: allowed},
		"letters for a port": {url: "https://{{metadata.v}}/", value: "staging.example.com:80@evil.example",
			refused: "no number for its port", allowed: allowed},
		"port 0": {url: "https://{{metadata.v}}/", value: "staging.example.com:0",
			refused: "no number for its port", allowed: allowed},
		"list beside a domain": {url: "https://{{metadata.v}}.example.com/", value: "admin",
			refused: "not among the allowed_hosts", allowed: allowed},
		"stored without a list":  {url: "https://{{metadata.v}}/", value: "staging.example.com", refused: "not among the allowed_hosts"},
		"domain of everybody":    {url: "https://{{metadata.v}}.vercel.app/", value: "evil", refused: "not among the allowed_hosts"},
		"climbs":                 {url: "https://x.example.com/a/{{metadata.v}}/b", value: "..", refused: ". or .. as a part"},
		"climbs with the policy": {url: "https://x.example.com/a/.{{metadata.v}}?b", value: ".", refused: ". or .. as a part"},
		"no value":               {url: "https://{{metadata.none}}/", refused: "which has no value", allowed: allowed},
		"empty":                  {url: "https://{{metadata.v}}/", value: "", refused: "which has no value", allowed: allowed},
	} {
		p := Policy{AllowedHosts: c.allowed}
		b := &distribution.Build{ID: 77, Version: "1.2+3", Metadata: map[string]string{"v": c.value}}
		got, err := p.address(SuiteToRun{URL: c.url}, b)
		if c.refused != "" {
			require.ErrorContains(t, err, c.refused, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
		require.Empty(t, step.References(nil, got), name)
		require.NoError(t, step.CheckTestURL("url", got), name)
	}
}
