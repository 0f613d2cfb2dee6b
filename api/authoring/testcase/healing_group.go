package testcase

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/stepgroup"
)

// warnOfGroup says who else runs the step that was healed, where it is one of a step group.
func (h Healings) warnOfGroup(c *gin.Context, row *authoring.Case, healing *authoring.Healing) error {
	ctx := c.Request.Context()
	path := healing.StepID
	phase, rest, ok := strings.Cut(path, ":")
	if ok {
		path = rest
	}
	ids := strings.Split(path, "/")
	if len(ids) < 2 {
		return nil
	}
	latest, err := authoring.RevisionByID(ctx, h.DB, row.ID, "")
	if err != nil {
		return err
	}
	steps := latest.Steps
	switch {
	case ok && phase == step.SetUp:
		steps = latest.SetUp
	case ok && phase == step.TearDown:
		steps = latest.TearDown
	}
	text, err := h.usersOf(ctx, row.OrganizationID, steps, ids)
	if errors.Is(err, storage.ErrNotFound) {
		return nil // changed meanwhile
	}
	if err == nil {
		answer.Warn(c, "%s", text)
	}
	return err
}

// usersOf says who runs the step group that the ids of steps lead to.
func (h Healings) usersOf(ctx context.Context, organization int64, steps []step.Step, ids []string) (string, error) {
	id, err := stepgroup.Find(ctx, h.DB, organization, steps, ids)
	if err != nil {
		return "", err
	}
	g, err := stepgroup.ByID(ctx, h.DB, organization, id)
	if err != nil {
		return "", err
	}
	users, err := stepgroup.UsersOf(ctx, h.DB, id)
	if err != nil {
		return "", err
	}
	var names []string
	const most = 10
	for _, list := range [][]stepgroup.User{users.Cases, users.Suites, users.Groups} {
		for _, u := range list {
			names = append(names, fmt.Sprintf("%q", u.Name))
		}
	}
	more := ""
	if len(names) > most {
		names, more = names[:most], " and more"
	}
	return fmt.Sprintf("the step is one of the step group %q, of which this made revision %d; it is used by %s: %s%s",
		g.Name, g.Revision.Number,
		users, strings.Join(names, ", "), more), nil
}
