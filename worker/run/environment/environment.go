// Package environment gathers what a test needs besides its steps: the values of its
// variables, the address of its tunnel, and a link to its app. Runs and generations both
// take it.
//
// What cannot be had is a Refusal, which whoever asked for the test can mend; other
// errors are those of the service. The values of secret variables, the passwords of
// tunnels and signed links are known to the Redactor, through which everything goes
// that is kept or logged.
package environment

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/distribution"
	values "github.com/slipway-qa/slipway/storage/environment"
	"github.com/slipway-qa/slipway/storage/object"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/redaction"
	"github.com/slipway-qa/slipway/worker/browser"
)

// Refusal is a reason not to begin a test, for the one who asked for it. The code is one
// of package run's.
type Refusal struct{ Code, Text string }

func (e *Refusal) Error() string { return e.Code + ": " + e.Text }

// Config is what Prepare needs.
type Config struct {
	DB      *storage.DB
	Objects object.Store
	// Keys are what secrets are sealed with.
	Keys seal.Ring
	// CheckURL refuses the addresses of apps that no test may open; nil: none.
	CheckURL func(ctx context.Context, address string) error
	Log      *slog.Logger
}

// Test is what a test asks for.
type Test struct {
	Variables  authoring.VariableScope // whose variables it may use
	References []step.Reference        // to variables
	// Given are values that stand over all variables for a bare name. They are secret, but
	// for those that are too short to be masked.
	Given map[string]string
	// Row are the values of the data row, by its columns; nil without one.
	Row map[string]authoring.Value
	// Values are those of the environment that the run is in, which stand over stored
	// variables; nil for none.
	Values *values.Values
	Target capability.Target // with effective capabilities
	Tunnel string            // "" without one
	Hidden []string          // further texts that nobody may read
	// TestURL is where the test begins, whose site asks for what Access has.
	TestURL string
	Access  capability.Access
}

// Environment is what a test needs.
type Environment struct {
	Request browser.Request
	// Lookup returns the value of a variable and whether it is a secret.
	Lookup func(step.Reference) (value string, secret, ok bool)
	// Secrets are the values of secret variables, by their references.
	Secrets map[step.Reference]string
	// Redactor knows what must not be read anywhere; nil when there is nothing.
	Redactor *redaction.Redactor
}

// Prepare gathers what a test needs besides its steps.
func (c Config) Prepare(ctx context.Context, t Test) (*Environment, error) {
	secrets := slices.Clone(t.Hidden)
	env := &Environment{Secrets: map[step.Reference]string{}}
	request := browser.Request{Target: t.Target}
	if err := t.ofItsTeam(); err != nil {
		return nil, err
	}
	t.References = append(append(t.References, t.headerReferences()...), t.accessReferences()...)
	known, err := c.values(ctx, t)
	if err != nil {
		return nil, err
	}
	for reference, v := range known {
		if v.Secret {
			env.Secrets[reference] = v.Text
			secrets = append(secrets, v.Text)
		}
	}
	for _, v := range t.Row {
		if v.Secret {
			secrets = append(secrets, v.Text)
		}
	}
	for _, text := range t.Given {
		secrets = append(secrets, text)
	}
	hidden, err := t.addHeaders(&request, known)
	if err != nil {
		return nil, err
	}
	secrets = append(secrets, hidden...)
	if hidden, err = t.addAccess(&request, known); err != nil {
		return nil, err
	}
	secrets = append(secrets, hidden...)
	if request.Proxy, err = c.tunnel(ctx, t); err != nil {
		return nil, err
	}
	secrets = append(secrets, secretsOf(request.Proxy)...)
	link, err := c.app(ctx, t.Variables.OrganizationID, &request.Target)
	if err != nil {
		return nil, err
	}
	env.Request, env.Redactor = request, redaction.New(append(secrets, link))
	env.Lookup = func(r step.Reference) (string, bool, bool) {
		v, ok := known[r]
		return v.Text, v.Secret, ok
	}
	return env, nil
}

// values returns the variables of the test.
func (c Config) values(ctx context.Context, t Test) (map[step.Reference]authoring.Value, error) {
	given, stored := map[step.Reference]authoring.Value{}, []step.Reference{}
	for _, r := range t.References {
		if r.Scope == step.ScopeRow {
			if v, ok := t.Row[r.Name]; ok {
				v.Secret = v.Secret && utf8.RuneCountInString(v.Text) >= redaction.MinSecret
				given[r] = v
			}
			continue
		}
		if text, ok := t.Given[r.Name]; ok && r.Scope == "" {
			given[r] = authoring.Value{Text: text, Secret: utf8.RuneCountInString(text) >= redaction.MinSecret}
			continue
		}
		if v, ok := t.ofEnvironment(r); ok {
			given[r] = v
			continue
		}
		stored = append(stored, r)
	}
	if len(stored) == 0 {
		return given, nil
	}
	found, err := authoring.Values(ctx, c.DB, c.Keys, t.Variables, stored)
	if errors.Is(err, seal.ErrUnseal) {
		c.Log.ErrorContext(ctx, "variable cannot be decrypted", "error", err)
		return nil, &Refusal{store.CodeInternal, "a secret variable of the test cannot be decrypted; store its value again"}
	}
	if err != nil {
		return nil, err
	}
	maps.Copy(found, given)
	return found, nil
}

// tunnel returns the address of the test's tunnel, "" without one.
func (c Config) tunnel(ctx context.Context, t Test) (string, error) {
	if t.Tunnel == "" {
		return "", nil
	}
	address, err := authoring.TunnelURL(ctx, c.DB, c.Keys, t.Variables.OrganizationID, t.Tunnel)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return "", &Refusal{store.CodeTunnel, fmt.Sprintf("the tunnel %q does not exist", t.Tunnel)}
	case errors.Is(err, seal.ErrUnseal):
		c.Log.ErrorContext(ctx, "tunnel cannot be decrypted", "tunnel", t.Tunnel, "error", err)
		return "", &Refusal{store.CodeInternal, fmt.Sprintf("the address of the tunnel %q cannot be decrypted; create it again", t.Tunnel)}
	}
	return address, err
}

// secretsOf are the parts of a tunnel's address that nobody may read.
func secretsOf(address string) []string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return nil
	}
	password, ok := u.User.Password()
	if !ok {
		return nil
	}
	return []string{address, password}
}

// appLinkAge is how long a device farm may take until it fetches an app: sessions
// may wait for a device.
const appLinkAge = 4 * time.Hour

// app puts a signed link in the place of a reference to an uploaded build, in a
// copy of the target's capabilities, and returns the link.
func (c Config) app(ctx context.Context, organization int64, target *capability.Target) (string, error) {
	app := capability.App(target.Capabilities)
	if address := capability.AppAddress(target.Capabilities); address != "" && c.CheckURL != nil {
		if err := c.CheckURL(ctx, address); err != nil {
			return "", &Refusal{store.CodeApp, "the app's address is not permitted: " + err.Error()}
		}
	}
	id, fileName, ok := capability.AppReference(app)
	if !ok {
		return "", nil
	}
	missing := &Refusal{store.CodeApp, fmt.Sprintf("the app %q does not exist", app)}
	if fileName != "" {
		var err error
		id, err = distribution.NewestBuildOfFile(ctx, c.DB, organization, fileName)
		if errors.Is(err, storage.ErrNotFound) {
			return "", missing
		}
		if err != nil {
			return "", err
		}
	}
	build, err := distribution.BuildByID(ctx, c.DB, organization, 0, id)
	if errors.Is(err, storage.ErrNotFound) {
		return "", missing
	}
	if err != nil {
		return "", err
	}
	link, err := c.Objects.SignGet(ctx, build.File.Key, appLinkAge, object.SignOptions{FileName: build.FileName})
	if err != nil {
		return "", fmt.Errorf("link to the app: %w", err)
	}
	target.Capabilities = withApp(target.Capabilities, app, link)
	return link, nil
}

// withApp replaces the app wherever capabilities may name it (see step.App).
func withApp(c capability.Capabilities, app, link string) capability.Capabilities {
	out := capability.Merge(c, nil)
	replace := func(members map[string]any, names ...string) {
		for _, name := range names {
			if members[name] == app {
				members[name] = link
			}
		}
	}
	replace(out, "appium:app")
	for name, value := range out {
		if options, ok := value.(map[string]any); ok && strings.HasSuffix(name, ":options") {
			replace(options, "app", "appium:app")
		}
	}
	return out
}
