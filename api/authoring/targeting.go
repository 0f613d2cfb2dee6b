package authoring

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/environment"
	"github.com/slipway-qa/slipway/storage/step"
)

// The codes of a run that cannot be started.
const (
	codeNoTargets = "NO_RUN_TARGETS"
	codeApp       = "APP_NOT_FOUND"
)

// appScheme begins the names of uploaded apps; other apps are those of a device cloud,
// and addresses, which the hub fetches.
const appScheme = "storage:"

// targeting resolves what the runs of one organization execute on, and refuses what
// the organization does not have: tunnels and apps.
type targeting struct {
	*room
	organization int64
}

// resolve returns the name of the build, the targets and the tunnel of a run of a
// case: those of the request, else those of the environment, nil for none, else those of the case.
func (t targeting) resolve(ctx context.Context, in *runBody, of *authoring.Case, env *environment.Environment) (build string,
	resolved step.Resolved, err error) {
	if build, err = in.build(of.Name); err != nil {
		return "", resolved, err
	}
	settings := t.within(env, &of.Settings)
	targets, err := in.targets(settings, env, t.checkTarget)
	if err != nil {
		return "", resolved, err
	}
	tunnel, err := in.tunnel(settings)
	if err != nil {
		return "", resolved, err
	}
	resolved = step.Resolver{Vendor: t.cfg.Vendor, Case: of.Name, Build: build, Primary: settings.PrimaryTarget}.
		Resolve(targets, tunnel)
	if resolved.Conflict {
		return build, resolved, t.differentTunnels("targets", resolved)
	}
	path := "scTunnelName"
	if tunnel == nil {
		path = t.tunnelPath("targets", resolved.At)
	}
	if err := t.checkTunnel(ctx, path, resolved.Tunnel); err != nil {
		return build, resolved, err
	}
	return build, resolved, t.checkApps(ctx, resolved.Targets)
}

// ofSuite returns the targets that replace those of the cases of a suite; none leaves
// them to the cases.
func (t targeting) ofSuite(ctx context.Context, in *suiteRunBody) ([]step.Target, error) {
	if !in.Targets.given() {
		return nil, nil
	}
	targets, err := readTargets("targets", in.Targets, t.checkTarget)
	if err != nil {
		return nil, err
	}
	tunnel, at, ok := step.SharedTunnel(targets, t.cfg.Vendor)
	if !ok {
		return nil, t.differentTunnels("targets", step.Resolved{At: at})
	}
	if err := t.checkTunnel(ctx, t.tunnelPath("targets", at), tunnel); err != nil {
		return nil, err
	}
	return targets, t.checkApps(ctx, targets)
}

// tunnelPath is where a target of the member names its tunnel.
func (h *room) tunnelPath(member string, target int) string {
	return fmt.Sprintf("%s[%d].%s", member, target, step.TunnelPath(h.cfg.Vendor))
}

// differentTunnels refuses targets of the member that name different tunnels. A run
// has one.
func (h *room) differentTunnels(path string, resolved step.Resolved) error {
	return member(h.tunnelPath(path, resolved.At), "must be the same for all targets: they share one tunnel")
}

// checkTunnel refuses a tunnel that is not registered; path is what names it.
func (t targeting) checkTunnel(ctx context.Context, path, name string) error {
	if name == "" {
		return nil
	}
	_, err := authoring.TunnelByName(ctx, t.cfg.DB, t.organization, name)
	if errors.Is(err, storage.ErrNotFound) {
		return refused(http.StatusBadRequest, codeTunnelNotFound, path+": no tunnel of that name is registered")
	}
	return err
}

// checkApps refuses targets whose app is said to be a build of the organization
// and is none, or an address that no test may open. The job looks again: the build may be deleted meanwhile.
func (t targeting) checkApps(ctx context.Context, targets []step.Target) error {
	seen := map[string]bool{}
	for i := range targets {
		app := step.App(targets[i].Capabilities)
		if address := step.AppAddress(targets[i].Capabilities); address != "" && !seen[app] {
			seen[app] = true
			if err := t.cfg.CheckURL(ctx, address); err != nil {
				return member("capabilities.appium:app", err.Error())
			}
			continue
		}
		if !strings.HasPrefix(app, appScheme) || seen[app] {
			continue
		}
		seen[app] = true
		err := t.checkApp(ctx, app)
		if errors.Is(err, storage.ErrNotFound) {
			return refused(http.StatusBadRequest, codeApp,
				"appium:app must name a build of the organization, as storage:BUILD_ID or storage:filename=NAME")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t targeting) checkApp(ctx context.Context, app string) error {
	id, fileName, ok := step.AppReference(app)
	if !ok {
		return storage.ErrNotFound
	}
	if fileName != "" {
		_, err := distribution.NewestBuildOfFile(ctx, t.cfg.DB, t.organization, fileName)
		return err
	}
	_, err := distribution.BuildByID(ctx, t.cfg.DB, t.organization, 0, id)
	return err
}
