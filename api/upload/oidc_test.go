package upload

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/auth/issuer/issuertest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/oidc"
	"github.com/slipway-qa/slipway/tasks/outbound"
)

// newOIDCWorld is a world that trusts the tokens of acme/app.
func newOIDCWorld(t *testing.T) (w *world, provider *issuertest.Issuer, configKey string) {
	t.Helper()
	guard, err := outbound.New(outbound.Config{AllowPrivate: true})
	require.NoError(t, err)
	w = newWorld(t, false, func(c *Config) {
		c.Auth, err = auth.New(auth.Config{DB: c.DB, Region: "local", Guard: guard})
		require.NoError(t, err)
	})
	provider = issuertest.New()
	t.Cleanup(provider.Close)
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		_, secret, err := oidc.Save(ctx, tx, account.CLI(), w.keys, w.boot.Organization.ID, func(c *oidc.Change) error {
			c.IssuerURL, c.Audience = provider.URL, "slipway"
			c.RequiredClaims = map[string][]string{"repository": {"acme/app"}}
			return nil
		})
		configKey = secret.Text
		return err
	})
	return w, provider, configKey
}

func oidcHeaders(key, token string) map[string]string {
	return map[string]string{"X-OIDC-Config-Key": key, "Authorization": "Bearer " + token}
}

func TestUploadByOIDC(t *testing.T) {
	t.Parallel()
	w, provider, key := newOIDCWorld(t)
	app := file("file", "app.ipa", ipa("com.example.demo", "1.0", noise(1000, 1)))
	status, out := w.post("/api/upload/", oidcHeaders(key, provider.Token(nil)), app)
	require.Equal(t, 200, status, out)
	status, out = w.post("/api/v3/builds/upload", oidcHeaders(key, provider.Token(nil)), app)
	require.Equal(t, 201, status, out)
	require.Equal(t, 2, w.count(`select count(*) from builds b join oidc_configurations c on c.user_id = b.uploaded_by
		where b.uploaded_by_name = 'oidc:repo:acme/app:ref:refs/heads/main'`))
	require.Equal(t, 2, w.count(`select count(*) from audit_events where type = $1 and detail->'oidc'->>'repository' = 'acme/app'`,
		account.BuildUploaded))
	// A key in the form opens nothing for a token that is refused.
	for name, token := range map[string]string{"another repository": provider.Token(map[string]any{"repository": "evil/app"}),
		"expired": provider.Token(map[string]any{"exp": 1000}), "no token": "x"} {
		for _, path := range []string{"/api/upload/", "/api/v3/builds/upload", "/upload/dsym/", "/api/v3/symbols"} {
			status, out = w.post(path, oidcHeaders(key, token), w.key(), app)
			require.Equal(t, 401, status, "%s %s: %v", name, path, out)
		}
	}
	status, out = w.post("/api/upload/", map[string]string{"Authorization": "Bearer " + provider.Token(nil)}, w.key(), app)
	require.Equal(t, 401, status)
	require.Equal(t, "X-OIDC-Config-Key header required", out["message"])
	// Where only tokens are accepted, the key in the form is not.
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		_, _, err := oidc.Save(ctx, tx, account.CLI(), w.keys, w.boot.Organization.ID, func(c *oidc.Change) error {
			c.Mode = oidc.Only
			return nil
		})
		return err
	})
	status, out = w.post("/api/upload/", nil, app, w.key())
	require.Equal(t, 401, status, out)
	require.EqualValues(t, 5, out["code"])
	status, out = w.post("/api/upload/", oidcHeaders(key, provider.Token(nil)), app)
	require.Equal(t, 200, status, out)
	require.Equal(t, 3, w.count(`select count(*) from builds`))
}

// script returns the shell lines behind a line of the document about CI, without their
// indentation.
func script(t *testing.T, chapter, line string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/oidc.md")
	require.NoError(t, err)
	_, document, found := strings.Cut(string(text), "\n## "+chapter+"\n")
	require.True(t, found)
	_, lines, found := strings.Cut(document, line+"\n")
	require.True(t, found)
	indent := lines[:len(lines)-len(strings.TrimLeft(lines, " "))]
	var b strings.Builder
	for text := range strings.Lines(lines) {
		text, inside := strings.CutPrefix(text, indent)
		if !inside {
			break
		}
		b.WriteString(text)
	}
	return b.String()
}

// TestCIJobs runs the steps of the document as the CI services do.
func TestCIJobs(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("needs " + tool)
		}
	}
	w, provider, key := newOIDCWorld(t)
	// The address at which a job of GitHub Actions asks for its token.
	provider.Serve("/token", func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer of-the-job" {
			rw.WriteHeader(401)
			return
		}
		token := provider.Token(map[string]any{"aud": r.URL.Query().Get("audience")})
		require.NoError(t, json.NewEncoder(rw).Encode(map[string]any{"count": 1, "value": token}))
	})
	app := filepath.Join(t.TempDir(), "app-release.apk")
	require.NoError(t, os.WriteFile(app, ipa("com.example.demo", "1.0", noise(1000, 1)), 0o600))
	for name, c := range map[string]struct {
		lines string
		env   []string
	}{
		"GitHub Actions": {script(t, "GitHub Actions", "run: |"), []string{"ACTIONS_ID_TOKEN_REQUEST_URL=" + provider.URL +
			"/token?api-version=2.0",
			"ACTIONS_ID_TOKEN_REQUEST_TOKEN=of-the-job", "GITHUB_RUN_ID=1", "GITHUB_SHA=abc"}},
		"GitLab": {script(t, "GitLab", "- |"), []string{"QA_TOKEN=" + provider.Token(nil), "CI_PIPELINE_ID=2", "CI_COMMIT_SHA=abc"}},
	} {
		job := exec.CommandContext(t.Context(), "bash", "-e", "-o", "pipefail", "-c", c.lines)
		job.Env = append([]string{"PATH=" + os.Getenv("PATH"), "QA_URL=" + w.url, "QA_CONFIG_KEY=" + key, "APP=" + app}, c.env...)
		out, err := job.CombinedOutput()
		require.NoError(t, err, "%s: %s\n%s", name, c.lines, out)
		require.Contains(t, string(out), `"status":"ok"`, name)
	}
	require.Equal(t, 2, w.count(`select count(*) from builds where release_notes = 'abc' and uploaded_by_name like 'oidc:repo:acme/app%'`))
}
