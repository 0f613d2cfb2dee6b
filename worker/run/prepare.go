package run

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/object"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser"
)

// refusal is a reason not to begin a test, for the one who runs it.
type refusal struct{ code, text string }

func (e *refusal) Error() string { return e.code + ": " + e.text }

// lookup is that of replay.Config.
type lookup func(step.Reference) (value string, secret, ok bool)

// prepare gathers what a test needs besides its steps. From then on the redactor
// knows what must not be read anywhere.
func (p *execution) prepare(ctx context.Context) (browser.Request, lookup, error) {
	var secrets []string
	request := browser.Request{Target: p.work.Job.Target}
	values, err := p.values(ctx)
	if err != nil {
		return request, nil, err
	}
	for _, v := range values {
		if v.Secret {
			secrets = append(secrets, v.Text)
		}
	}
	if request.Proxy, err = p.tunnel(ctx); err != nil {
		return request, nil, err
	}
	secrets = append(secrets, secretsOf(request.Proxy)...)
	link, err := p.app(ctx, &request.Target)
	if err != nil {
		return request, nil, err
	}
	p.redactor = step.NewRedactor(append(secrets, link))
	return request, func(r step.Reference) (string, bool, bool) {
		v, ok := values[r]
		return v.Text, v.Secret, ok
	}, nil
}

// values returns the variables of the test.
func (p *execution) values(ctx context.Context) (map[step.Reference]authoring.Value, error) {
	references := step.References(p.work.Steps, p.work.Run.TestURL)
	if len(references) == 0 {
		return nil, nil
	}
	values, err := authoring.Values(ctx, p.DB, p.Key, p.work.VariablesOf(), references)
	if errors.Is(err, seal.ErrUnseal) {
		p.Log.ErrorContext(ctx, "variable cannot be decrypted", "error", err)
		return nil, &refusal{store.CodeInternal, "a secret variable of the test cannot be decrypted; store its value again"}
	}
	return values, err
}

// tunnel returns the address of the run's tunnel, "" without one.
func (p *execution) tunnel(ctx context.Context) (string, error) {
	name := p.work.Run.Tunnel
	if name == "" {
		return "", nil
	}
	address, err := authoring.TunnelURL(ctx, p.DB, p.Key, p.work.Run.OrganizationID, name)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return "", &refusal{store.CodeTunnel, fmt.Sprintf("the tunnel %q does not exist", name)}
	case errors.Is(err, seal.ErrUnseal):
		p.Log.ErrorContext(ctx, "tunnel cannot be decrypted", "tunnel", name, "error", err)
		return "", &refusal{store.CodeInternal, fmt.Sprintf("the address of the tunnel %q cannot be decrypted; create it again", name)}
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
func (p *execution) app(ctx context.Context, target *step.Target) (string, error) {
	app := step.App(target.Capabilities)
	id, fileName, ok := step.AppReference(app)
	if !ok {
		return "", nil
	}
	missing := &refusal{store.CodeApp, fmt.Sprintf("the app %q does not exist", app)}
	organization := p.work.Run.OrganizationID
	if fileName != "" {
		var err error
		id, err = distribution.NewestBuildOfFile(ctx, p.DB, organization, fileName)
		if errors.Is(err, storage.ErrNotFound) {
			return "", missing
		}
		if err != nil {
			return "", err
		}
	}
	build, err := distribution.BuildByID(ctx, p.DB, organization, 0, id)
	if errors.Is(err, storage.ErrNotFound) {
		return "", missing
	}
	if err != nil {
		return "", err
	}
	link, err := p.Objects.SignGet(ctx, build.File.Key, appLinkAge, object.SignOptions{FileName: build.FileName})
	if err != nil {
		return "", fmt.Errorf("link to the app: %w", err)
	}
	target.Capabilities = withApp(target.Capabilities, app, link)
	return link, nil
}

// withApp replaces the app wherever capabilities may name it (see step.App).
func withApp(c step.Capabilities, app, link string) step.Capabilities {
	out := step.Merge(c, nil)
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
