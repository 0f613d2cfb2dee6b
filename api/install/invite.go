package install

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/installpage"
	"github.com/slipway-qa/slipway/storage/distribution/visitor"
	"github.com/slipway-qa/slipway/storage/tester"
)

// errInvitation is for a link that was revoked or invented, and for one whose person is
// blocked or was removed: it does not say which.
var errInvitation = &respond.Problem{Status: http.StatusGone,
	Text: "this invitation is not valid any more. Ask the people who distribute the app for a new one"}

type invitationView struct {
	head
	App     appView
	Version string
	Email   string
	Action  string
}

// invitation reads the invitation of the path's link, and the build that it is for.
func (h *personHandlers) invitation(c *gin.Context) (*tester.Invite, *distribution.Build, error) {
	secret := c.Param("secret")
	if len(secret) > maxSecret {
		return nil, nil, errInvitation
	}
	ctx := c.Request.Context()
	i, err := tester.InviteBySecret(ctx, h.cfg.DB, secret)
	if err != nil {
		return nil, nil, expiredInvitation(err)
	}
	if slug := h.organization(c); slug != "" {
		o, err := account.OrganizationBySlug(ctx, h.cfg.DB, slug)
		if err != nil || o.ID != i.OrganizationID {
			return nil, nil, expiredInvitation(errors.Join(err, storage.ErrNotFound))
		}
	}
	// A grant that was taken back does not come back with the link.
	access, err := installpage.BuildAccess(ctx, h.cfg.DB, i.BuildID, i.UserID)
	if err != nil {
		return nil, nil, expiredInvitation(err)
	}
	if !access.Allowed {
		return nil, nil, errInvitation
	}
	b, err := distribution.BuildByID(ctx, h.cfg.DB, i.OrganizationID, 0, i.BuildID)
	return i, b, expiredInvitation(err)
}

func expiredInvitation(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return errInvitation
	}
	return err
}

// Invitation serves GET /invite/{secret} with a button. Looking at a link begins
// nothing: programs that check mail for harm look at all of them.
func (h *personHandlers) Invitation(c *gin.Context) error {
	i, b, err := h.invitation(c)
	if err != nil {
		return err
	}
	return h.render(c, http.StatusOK, "invitation", invitationView{head: h.head("Invitation to " + printable(b.AppName, 80)),
		App: appView{Name: b.AppName, Icon: h.path(b.Token) + "/icon"}, Version: versionOf(b), Email: i.Email,
		Action: h.base + "/invite/" + c.Param("secret")})
}

// AcceptInvitation serves POST /invite/{secret}: it begins a session for the invited
// person and leads to the build. The link is the person's own and works until it is
// revoked, which ends its sessions too. Who is signed in as that person already keeps that session, which may be
// good for more.
func (h *personHandlers) AcceptInvitation(c *gin.Context) error {
	if err := h.ownOrigin(c); err != nil {
		return err
	}
	if err := slowDown(c, h.invitations); err != nil {
		return err
	}
	i, b, err := h.invitation(c)
	if err != nil {
		return err
	}
	v, err := h.visitor(c)
	if err != nil {
		return err
	}
	isSignedIn := v != nil && v.UserID == i.UserID && v.OrganizationID == i.OrganizationID
	secret, err := h.random()
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	err = h.cfg.DB.InTx(ctx, func(tx *storage.Tx) error {
		if !isSignedIn {
			if err := h.begin(ctx, tx, c, i, secret); err != nil {
				return err
			}
		}
		return tester.MarkInvite(ctx, tx, i.BuildID, i.UserID, tester.Opened)
	})
	if err != nil {
		return expiredInvitation(err)
	}
	if !isSignedIn {
		h.setSession(c, secret)
	}
	h.leadTo(c, "/install/"+b.Token)
	return nil
}

// begin begins the session of an invited person. The membership is locked before the
// invitation, as a removal does it.
func (h *personHandlers) begin(ctx context.Context, tx *storage.Tx, c *gin.Context, i *tester.Invite, secret string) error {
	if err := tester.SignedIn(ctx, tx, auth.Actor(c), i.OrganizationID, i.UserID); err != nil {
		return err
	}
	if err := tester.HoldInvite(ctx, tx, i.ID); err != nil {
		return err
	}
	return visitor.BeginSession(ctx, tx, account.DigestOf(secret), visitor.NewSession{OrganizationID: i.OrganizationID,
		UserID: i.UserID, Via: visitor.ByInvite, Expires: h.cfg.Now().Add(sessionAge * time.Second)})
}
