package authoring

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/step"
)

// appScheme begins the names of uploaded apps; other apps are addresses, which the
// hub fetches.
const appScheme = "storage:"

// checkApps refuses targets whose app is said to be a build of the organization
// and is none. The job looks again: the build may be deleted meanwhile.
func (h *Handlers) checkApps(ctx context.Context, organizationID int64, targets []step.Target) error {
	seen := map[string]bool{}
	for i := range targets {
		app := step.App(targets[i].Capabilities)
		if !strings.HasPrefix(app, appScheme) || seen[app] {
			continue
		}
		seen[app] = true
		err := h.checkApp(ctx, organizationID, app)
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

func (h *Handlers) checkApp(ctx context.Context, organizationID int64, app string) error {
	id, fileName, ok := step.AppReference(app)
	if !ok {
		return storage.ErrNotFound
	}
	if fileName != "" {
		_, err := distribution.NewestBuildOfFile(ctx, h.cfg.DB, organizationID, fileName)
		return err
	}
	_, err := distribution.BuildByID(ctx, h.cfg.DB, organizationID, 0, id)
	return err
}
