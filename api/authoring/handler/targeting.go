package handler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// The codes of a run that cannot be started.
const (
	codeNoTargets = "NO_RUN_TARGETS"
	codeApp       = "APP_NOT_FOUND"
)

// appScheme begins the names of uploaded apps; other apps are those of a device cloud,
// and addresses, which the hub fetches.
const appScheme = "storage:"

// Targeting resolves what the runs of one organization execute on, and refuses what
// the organization does not have: tunnels and apps.
type Targeting struct {
	*Base
	Organization int64
}

// TunnelPath is where a target of the member names its tunnel.
func (h *Base) TunnelPath(member string, target int) string {
	return fmt.Sprintf("%s[%d].%s", member, target, capability.TunnelPath(h.Vendor))
}

// DifferentTunnels refuses targets of the member that name different tunnels. A run
// has one.
func (h *Base) DifferentTunnels(path string, resolved capability.Resolved) error {
	return problem.Member(h.TunnelPath(path, resolved.At), "must be the same for all targets: they share one tunnel")
}

// CheckTunnel refuses a tunnel that is not registered; path is what names it.
func (t Targeting) CheckTunnel(ctx context.Context, path, name string) error {
	if name == "" {
		return nil
	}
	_, err := authoring.TunnelByName(ctx, t.DB, t.Organization, name)
	if errors.Is(err, storage.ErrNotFound) {
		return problem.Refused(http.StatusBadRequest, problem.CodeTunnelNotFound, path+": no tunnel of that name is registered")
	}
	return err
}

// CheckApps refuses targets whose app is said to be a build of the organization
// and is none, or an address that no test may open. The job looks again: the build may be deleted meanwhile.
func (t Targeting) CheckApps(ctx context.Context, targets []capability.Target) error {
	seen := map[string]bool{}
	for i := range targets {
		app := capability.App(targets[i].Capabilities)
		if address := capability.AppAddress(targets[i].Capabilities); address != "" && !seen[app] {
			seen[app] = true
			if err := t.CheckURL(ctx, address); err != nil {
				return problem.Member("capabilities.appium:app", err.Error())
			}
			continue
		}
		if !strings.HasPrefix(app, appScheme) || seen[app] {
			continue
		}
		seen[app] = true
		err := t.checkApp(ctx, app)
		if errors.Is(err, storage.ErrNotFound) {
			return problem.Refused(http.StatusBadRequest, codeApp,
				"appium:app must name a build of the organization, as storage:BUILD_ID or storage:filename=NAME")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t Targeting) checkApp(ctx context.Context, app string) error {
	id, fileName, ok := capability.AppReference(app)
	if !ok {
		return storage.ErrNotFound
	}
	if fileName != "" {
		_, err := distribution.NewestBuildOfFile(ctx, t.DB, t.Organization, fileName)
		return err
	}
	_, err := distribution.BuildByID(ctx, t.DB, t.Organization, 0, id)
	return err
}

// TargetsOf are those of a case; without any it cannot be run.
func TargetsOf(s *capability.RunSettings) ([]capability.Target, error) {
	if targets := s.Targets(); len(targets) > 0 {
		return targets, nil
	}
	return nil, problem.Refused(http.StatusBadRequest, codeNoTargets, "neither the request nor the test case names a target to run on")
}
