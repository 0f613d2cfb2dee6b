package tester

import (
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/tester"
)

// legacy are the handlers of version 1.
type legacy struct{ *room }

// whole is the rule of lists that clients of version 1 read without asking for pages:
// the newest thousand, and pages for who asks.
func whole() pagination.Options { return pagination.Options{Default: 1000, Max: 1000} }

// list serves GET /api/1/testers, newest first. Parameter: buildId; of ours: page,
// per_page, search, blocked, group.
func (h legacy) list(c *gin.Context) error {
	found, at, err := h.page(c, whole(), "buildId")
	if err != nil {
		return err
	}
	views := make([]gin.H, 0, len(found.testers))
	for i := range found.testers {
		views = append(views, h.view1(found, &found.testers[i]))
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "testers": views, "pagination": at})
}

// get serves GET /api/1/testers/{id}. Parameter: buildId.
func (h legacy) get(c *gin.Context) error {
	found, err := h.named(c, "buildId")
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "tester": h.view1(found, &found.testers[0])})
}

// ok is the answer of changes.
func ok(c *gin.Context) error { return respond.JSON(c, http.StatusOK, gin.H{"status": "ok"}) }

// addBody1 is the body of an invitation to the organization.
type addBody1 struct {
	Email  body.LongList `json:"email"`
	Group  string        `json:"group"`
	Notify *body.Switch  `json:"notify"`
}

// add serves POST /api/1/testers: email (one or more, by comma), group (created where it
// is missing), notify.
func (h legacy) add(c *gin.Context) error {
	var in addBody1
	if err := body.Read(c, &in, body.IgnoreUnknown); err != nil {
		return err
	}
	request := adding{emails: in.Email, create: true, notify: in.Notify != nil && bool(*in.Notify)}
	if group := strings.TrimSpace(in.Group); group != "" {
		request.groups = []string{group}
	}
	err := h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		_, _, err := h.room.add(ctx, tx, w, request)
		return err
	})
	if err != nil {
		return err
	}
	return ok(c)
}

// remove serves DELETE /api/1/testers/{id}.
func (h legacy) remove(c *gin.Context) error {
	if err := h.act(c, tester.Remove); err != nil {
		return err
	}
	return ok(c)
}

// block serves POST /api/1/testers/{id}/block.
func (h legacy) block(c *gin.Context) error {
	if err := h.act(c, tester.Block); err != nil {
		return err
	}
	return ok(c)
}

// unblock serves DELETE /api/1/testers/{id}/block.
func (h legacy) unblock(c *gin.Context) error {
	if err := h.act(c, tester.Unblock); err != nil {
		return err
	}
	return ok(c)
}

// invite serves POST /api/1/projects/{id}/builds/{build}/invites: groups, comment,
// notify.
func (h legacy) invite(c *gin.Context) error {
	project, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	build, err := pagination.ID(c.Param("build"))
	if err != nil {
		return err
	}
	done, err := h.inviteTo(c, project, build, body.IgnoreUnknown)
	if err != nil {
		return legacyProblem(err)
	}
	members := done.members()
	members["status"] = "ok"
	return respond.JSON(c, http.StatusOK, members)
}
