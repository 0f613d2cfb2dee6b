package tester

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/grant"
	"github.com/slipway-qa/slipway/storage/tester"
)

// invites are the handlers of invitations to builds in version 3.
type invites struct{ *room }

// statusOf reads the parameter status; "" when absent.
func statusOf(c *gin.Context) (tester.Status, error) {
	status := tester.Status(c.Query("status"))
	known := []tester.Status{"", tester.Created, tester.Sent, tester.Opened, tester.Installed, tester.Revoked}
	if !slices.Contains(known, status) {
		return "", storage.Invalid("status", "must be created, sent, opened, installed or revoked")
	}
	return status, nil
}

// list serves GET /api/v3/builds/{id}/invites. Parameters: page, per_page, status.
func (h invites) list(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	at, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	status, err := statusOf(c)
	if err != nil {
		return err
	}
	ctx, organization := c.Request.Context(), auth.Organization(c)
	b, err := distribution.BuildByID(ctx, h.db, organization, 0, id)
	if err != nil {
		return err
	}
	found, err := tester.Invites(ctx, h.db, organization, id, status, at.Rows())
	if err != nil {
		return err
	}
	views, link := make([]personInviteView, 0, len(found.Invites)), h.linksTo(c, b)
	for i := range found.Invites {
		views = append(views, personInviteViewOf(&found.Invites[i], link))
	}
	envelope := at.Envelope(found.Total)
	if !found.Exact {
		envelope = at.AtLeast(found.Total, found.Next)
	}
	respond.Private(c)
	return respond.JSON(c, http.StatusOK, gin.H{"invites": views, "pagination": envelope})
}

// inviteBody is the body of invitations to a build.
type inviteBody struct {
	Groups  body.List    `json:"groups"`
	Comment string       `json:"comment"`
	Notify  *body.Switch `json:"notify"`
}

// readInvite returns the request of a body, without the build. The word all stands for
// every tester of the organization.
func readInvite(c *gin.Context, unknown body.Unknown) (in inviting, err error) {
	var sent inviteBody
	if err = body.Read(c, &sent, unknown); err != nil {
		return in, err
	}
	in.groups = grant.Groups{Given: true}
	for _, name := range sent.Groups {
		if strings.EqualFold(name, "all") {
			in.groups.All = true
			continue
		}
		in.groups.Names = append(in.groups.Names, name)
	}
	in.comment, in.notify = strings.TrimSpace(sent.Comment), sent.Notify != nil && bool(*sent.Notify)
	return in, nil
}

// members are what answers in both versions say of invitations.
func (i *invited) members() gin.H {
	invalid := i.Invalid
	if invalid == nil {
		invalid = []string{}
	}
	m := gin.H{"build_id": i.Build.ID, "invited": len(i.UserIDs), "groups": i.names(), "invalid_groups": invalid}
	if i.task != "" {
		m["task_id"] = i.task
	}
	return m
}

// inviteTo makes the invitations to a build that the body asks for.
func (r *room) inviteTo(c *gin.Context, project, build int64, unknown body.Unknown) (*invited, error) {
	in, err := readInvite(c, unknown)
	if err != nil {
		return nil, err
	}
	in.project, in.build = project, build
	var done *invited
	err = r.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		done, err = r.invite(ctx, tx, w, in)
		return err
	})
	return done, err
}

// add serves POST /api/v3/builds/{id}/invites: groups, comment, notify.
func (h invites) add(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	done, err := h.inviteTo(c, 0, id, body.Refuse)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusCreated, done.members())
}

// revoke serves DELETE /api/v3/builds/{id}/invites/{user}.
func (h invites) revoke(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	user, err := pagination.ID(c.Param("user"))
	if err != nil {
		return err
	}
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		b, err := distribution.BuildByID(ctx, tx, w.OrganizationID, 0, id)
		if err != nil {
			return err
		}
		if !w.May(b.TeamID) {
			return distribution.ErrNotTeamAdmin
		}
		return tester.RevokeInvite(ctx, tx, w.Actor, w.OrganizationID, id, user)
	})
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}
