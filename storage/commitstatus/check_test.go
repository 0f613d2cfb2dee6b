package commitstatus

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
)

func TestSettingsAreCompleted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		given, url, context string
		provider            Provider
		repository          string
	}{
		{"", "https://api.github.com", "", GitHub, "acme/app"},
		{"https://ghe.example.com/api/v3/", "https://ghe.example.com/api/v3", "", GitHub, "acme/app.x_y-z"},
		{"", "https://gitlab.com", "", GitLab, "acme/mobile/shop/app"},
		{"https://git.example.com/gitlab/api/v4/", "https://git.example.com/gitlab", "qa", GitLab, "acme/app"},
		{"https://git.example.com:3000/api/v1", "https://git.example.com:3000", "qa", Gitea, "acme/app"},
	} {
		s := Setting{Provider: c.provider, URL: c.given, Repository: c.repository, Context: c.context}
		require.NoError(t, s.Complete(), c.given)
		require.Equal(t, []string{c.url, c.context}, []string{s.URL, s.Context})
	}
}

func TestSettingsAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		setting Setting
		field   string
	}{
		"no provider":           {Setting{Repository: "acme/app"}, "provider"},
		"another provider":      {Setting{Provider: "bitbucket", Repository: "acme/app"}, "provider"},
		"Gitea without address": {Setting{Provider: Gitea, Repository: "acme/app"}, "url"},
		"another scheme":        {Setting{Provider: GitHub, URL: "ftp://example.com", Repository: "acme/app"}, "url"},
		"no host":               {Setting{Provider: GitHub, URL: "https://", Repository: "acme/app"}, "url"},
		"a password":            {Setting{Provider: GitHub, URL: "https://a:b@example.com", Repository: "acme/app"}, "url"},
		"a query":               {Setting{Provider: GitHub, URL: "https://example.com/?a=b", Repository: "acme/app"}, "url"},
		"an empty query":        {Setting{Provider: GitHub, URL: "https://example.com/?", Repository: "acme/app"}, "url"},
		"a fragment":            {Setting{Provider: GitHub, URL: "https://example.com/#a", Repository: "acme/app"}, "url"},
		"a long address": {Setting{Provider: GitHub, URL: "https://example.com/" + strings.Repeat("a", maxURL),
			Repository: "acme/app"}, "url"},
		"no repository":           {Setting{Provider: GitHub}, "repository"},
		"no owner":                {Setting{Provider: GitHub, Repository: "app"}, "repository"},
		"groups at GitHub":        {Setting{Provider: GitHub, Repository: "acme/mobile/app"}, "repository"},
		"no group at GitLab":      {Setting{Provider: GitLab, Repository: "app"}, "repository"},
		"a path that climbs":      {Setting{Provider: GitHub, Repository: "../app"}, "repository"},
		"a path that climbs more": {Setting{Provider: GitLab, Repository: "acme/../../user"}, "repository"},
		"an empty part":           {Setting{Provider: GitLab, Repository: "acme//app"}, "repository"},
		"a query in a name":       {Setting{Provider: GitHub, Repository: "acme/app?x"}, "repository"},
		"an escape in a name":     {Setting{Provider: GitHub, Repository: "acme/%2e%2e"}, "repository"},
		"a long path":             {Setting{Provider: GitLab, Repository: "a/" + strings.Repeat("b", maxRepository)}, "repository"},
		"a context of two lines":  {Setting{Provider: GitHub, Repository: "acme/app", Context: "a\nb"}, "context"},
		"a long context":          {Setting{Provider: GitHub, Repository: "acme/app", Context: strings.Repeat("ä", maxContext+1)}, "context"},
	} {
		var invalid *storage.InvalidError
		require.ErrorAs(t, c.setting.Complete(), &invalid, name)
		require.Equal(t, c.field, invalid.Field, name)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	require.NoError(t, CheckToken("ghp_0123456789abcdefABCDEF.-_~+/="))
	for _, token := range []string{"", "with space", "line\nbreak", "tab\t", "ümlaut", "nul\x00", strings.Repeat("x", maxToken+1)} {
		err := CheckToken(token)
		require.Error(t, err, token)
		if token != "" {
			require.NotContains(t, err.Error(), token)
		}
	}
}

func TestFullCommits(t *testing.T) {
	t.Parallel()
	for text, full := range map[string]bool{
		strings.Repeat("0a", 20): true, strings.Repeat("F9", 32): true, strings.Repeat("a", 39): false, strings.Repeat("a", 41): false,
		strings.Repeat("g", 40): false, "abc1234": false, "": false, strings.Repeat("../", 13) + "a": false,
	} {
		require.Equal(t, full, FullCommit(text), text)
	}
}

func TestDescriptionsAreCut(t *testing.T) {
	t.Parallel()
	whole := strings.Repeat("ä", maxDescription)
	require.Equal(t, whole, shorten(whole))
	require.Equal(t, strings.Repeat("ä", maxDescription-1)+"…", shorten(whole+"b"))
}
