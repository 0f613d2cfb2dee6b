package command

import (
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/settings"
)

const (
	// defaultTokenVariable has the OIDC token of the job when no flag names another.
	defaultTokenVariable = "SLIPWAY_ID_TOKEN"
	// defaultAudience is the audience of tokens when nothing names another.
	defaultAudience = "slipway"
	// maxKeyFile bounds a file with a key in bytes.
	maxKeyFile = 4 << 10
)

// Variables are the variables of the environment that the program reads by itself.
func Variables() []string {
	return []string{"SLIPWAY_SERVER", "SLIPWAY_KEY", "SLIPWAY_OIDC", "SLIPWAY_OIDC_AUDIENCE", defaultTokenVariable}
}

// credential is who calls: the key of a file, that of the environment, or the token of the
// job. from says where it comes from, never what it is.
func (g *Global) credential(w World, f *settings.File, transport http.RoundTripper) (of client.Credential, from string, err error) {
	if g.KeyFile != "" {
		key, err := readKey(g.KeyFile)
		return key, "--key-file", err
	}
	if key := strings.TrimSpace(w.Getenv("SLIPWAY_KEY")); key != "" {
		return client.Key(key), "SLIPWAY_KEY", nil
	}
	config, from := w.Getenv("SLIPWAY_OIDC"), "SLIPWAY_OIDC"
	if config == "" {
		config, from = f.OIDC.Key, settings.Name
	}
	if config == "" {
		return nil, "", outcome.Fail(outcome.Refused,
			"no key: set SLIPWAY_KEY, name a file by --key-file, or set SLIPWAY_OIDC for tokens of the job")
	}
	audience := w.Getenv("SLIPWAY_OIDC_AUDIENCE")
	if audience == "" {
		audience = f.OIDC.Audience
	}
	if audience == "" {
		audience = defaultAudience
	}
	source, service := g.tokenSource(w, transport, audience)
	if source == nil {
		return nil, "", outcome.Fail(outcome.Refused,
			"%s is set, but this job has no OIDC token: GitHub Actions needs `permissions: id-token: write`, "+
				"GitLab `id_tokens` with %s; elsewhere put the token into that variable", from, g.tokenVariable())
	}
	return &client.OIDC{ConfigKey: strings.TrimSpace(config), Source: source}, from + ", token of " + service, nil
}

func (g *Global) tokenVariable() string {
	if g.OIDCTokenEnv != "" {
		return g.OIDCTokenEnv
	}
	return defaultTokenVariable
}

// tokenSource is where the job has its token from; nil for none. A variable that somebody
// named wins over what a service offers by itself.
func (g *Global) tokenSource(w World, transport http.RoundTripper, audience string) (client.TokenSource, string) {
	if name := g.tokenVariable(); w.Getenv(name) != "" {
		return client.StaticToken(w.Getenv(name), name), name
	}
	if address, secret := w.Getenv("ACTIONS_ID_TOKEN_REQUEST_URL"), w.Getenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN"); address != "" && secret != "" {
		return client.GitHubToken(transport, address, secret, audience), "GitHub Actions"
	}
	if build, secret := w.Getenv("BITRISE_BUILD_URL"), w.Getenv("BITRISE_BUILD_API_TOKEN"); build != "" && secret != "" {
		return client.BitriseToken(transport, build, secret, audience), "Bitrise"
	}
	if name := "CIRCLE_OIDC_TOKEN_V2"; w.Getenv(name) != "" {
		return client.StaticToken(w.Getenv(name), name), "CircleCI"
	}
	return nil, ""
}

// readKey reads a key from a file.
func readKey(path string) (client.Key, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", outcome.Fail(outcome.Misused, "--key-file: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	if err != nil {
		return "", outcome.Fail(outcome.Misused, "--key-file: %w", err)
	}
	key := strings.TrimSpace(string(text))
	if key == "" || len(text) > maxKeyFile || strings.ContainsAny(key, " \t\r\n") {
		return "", outcome.Fail(outcome.Misused, "--key-file: %s must hold one key and nothing else", path)
	}
	return client.Key(key), nil
}
