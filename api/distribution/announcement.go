package distribution

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/device"
	"github.com/slipway-qa/slipway/storage/distribution/announcement"
	"github.com/slipway-qa/slipway/storage/mail"
	"github.com/slipway-qa/slipway/tasks/mailtemplate"
)

// shownRecipients is how many people a preview names.
const shownRecipients = 100

// announcementView is what notify-testers would send.
type announcementView struct {
	Refusal string `json:"refusal"` // why nothing would be sent; "" as a rule
	// Recipients is the number of people with a mail address who have the build. Of more than
	// distribution.MaxCounted it is that number, and RecipientsExact is false.
	Recipients      int             `json:"recipients"`
	RecipientsExact bool            `json:"recipients_exact"`
	People          []recipientView `json:"people"` // the first hundred
	Subject         string          `json:"subject"`
	Text            string          `json:"text"`
}

// recipientView is a person who has the build.
type recipientView struct {
	UserID int64  `json:"user_id"`
	Email  string `json:"email"`
	Name   string `json:"name"`
	// Outcome is new-build or udid-needed, the mail that the person gets; or why there is
	// none: unsubscribed, bounced.
	Outcome string `json:"outcome"`
}

// announcement serves GET /api/v3/builds/{id}/notify-testers: whom the mail would reach, and
// what it would say. Nothing is sent.
func (h builds) announcement(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	a, err := announcement.Of(ctx, h.db, auth.Writer(c), id, shownRecipients)
	if err != nil {
		return problem(err)
	}
	view := announcementView{Refusal: a.Refusal, Recipients: a.Recipients, RecipientsExact: a.Exact}
	if view.People, err = recipients(ctx, h.db, a); err != nil {
		return err
	}
	mail, err := h.announce(ctx, a)
	if err != nil {
		return err
	}
	view.Subject, view.Text = mail.Subject, mail.Text
	return respond.JSON(c, http.StatusOK, gin.H{"preview": view})
}

// recipients says of people what they would get.
func recipients(ctx context.Context, q storage.Querier, a *announcement.Announcement) ([]recipientView, error) {
	people, ids := make([]mail.Person, len(a.People)), make([]int64, len(a.People))
	for i, p := range a.People {
		people[i], ids[i] = mail.Person{UserID: p.UserID, Email: p.Email}, p.UserID
	}
	silent, err := mail.Silent(ctx, q, a.Build.OrganizationID, people, false)
	if err != nil {
		return nil, err
	}
	devices := map[int64][]device.Device{}
	bound := device.Bound(a.Build.Provisioning)
	if bound {
		if devices, err = device.ForUsers(ctx, q, a.Build.OrganizationID, ids); err != nil {
			return nil, err
		}
	}
	views := make([]recipientView, len(a.People))
	for i, p := range a.People {
		views[i] = recipientView{UserID: p.UserID, Email: p.Email, Name: p.Name, Outcome: mailtemplate.KindNewBuild}
		switch {
		case silent[i] != "":
			views[i].Outcome = silent[i]
		case bound && len(devices[p.UserID]) == 0:
			views[i].Outcome = mailtemplate.KindUDIDNeeded
		}
	}
	return views, nil
}

// announce writes the mail as the first of the people gets it, save for the links that are
// each person's own.
func (h builds) announce(ctx context.Context, a *announcement.Announcement) (mailtemplate.Rendered, error) {
	var own *mailtemplate.Template
	stored, err := mail.TemplateOf(ctx, h.db, a.Build.OrganizationID, mailtemplate.KindNewBuild)
	switch {
	case err == nil:
		own = &mailtemplate.Template{Subject: stored.Subject, Text: stored.Text}
	case !errors.Is(err, storage.ErrNotFound):
		return mailtemplate.Rendered{}, err
	}
	render, err := mailtemplate.NewRender(mailtemplate.KindNewBuild, own)
	if err != nil {
		return mailtemplate.Rendered{}, err
	}
	to := mailtemplate.To{Recipient: "tester@example.com", Unsubscribe: h.links.Unsubscribe("sample")}
	if len(a.People) > 0 {
		to.Recipient = a.People[0].Email
	}
	if to.Organization, err = mail.OrganizationName(ctx, h.db, a.Build.OrganizationID); err != nil {
		return mailtemplate.Rendered{}, err
	}
	b := a.Build
	return render.Mail(mailtemplate.NewBuild{App: b.AppName, Version: b.Version, VersionCode: b.VersionCode, Platform: string(b.Platform),
		Notes: mailtemplate.NewNotes(b.ReleaseNotes), Link: h.links.Page(b.Token), Icon: b.IconKey}, to), nil
}
