package install

import (
	"context"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/artifact"
	devices "github.com/slipway-qa/slipway/storage/device"
	"github.com/slipway-qa/slipway/storage/distribution"
)

// latest is how many builds the page of a project shows, the one at its head
// among them: what fits a phone without a way to turn pages.
const latest = 10

// landingView is what a landing page shows.
type landingView struct {
	head
	App     appView
	Version string
	Size    string
	Summary []string // platform, size
	Actions actions
	Facts   []fact
	Details []fact
	Notes   template.HTML
	About   template.HTML
	Builds  []buildRow
	QR      template.HTML
	Link    string
	Empty   bool // the app has no build
	OfBuild bool
	Project string // page of the project, for a build's page
	Email   string
	SignOut signOutView // when somebody is signed in
	Apps    string      // the list of the person's apps, when somebody is signed in
	// Feedback is the form for feedback on the build, when somebody is signed in who
	// may give it; History the list of the app's builds.
	Feedback, History string
}

// appView is what everybody may see of an app.
type appView struct{ Name, Icon, Organization string }

type buildRow struct {
	Link, Version, Day, Time string
	Notes                    template.HTML
}

// maxOlderNotes bounds the notes of an older build, in characters: its own page has them all.
const maxOlderNotes = 2000

// Landing serves GET /install/{name}.
func (h *Handlers) Landing(c *gin.Context) error {
	v, err := h.open(c, latest)
	if err != nil {
		return err
	}
	if v.standing != welcome {
		return h.turnAway(c, v)
	}
	view, err := h.landing(c, v)
	if err != nil {
		return err
	}
	return h.render(c, http.StatusOK, "landing", view)
}

// turnAway shows the sign-in form, or why a person who is signed in may not see this
// app.
func (h *Handlers) turnAway(c *gin.Context, v *visit) error {
	switch v.standing {
	case ended:
		return h.showClosed(c, v)
	case locked:
		return h.askPassword(c, v, http.StatusOK, "")
	case unknown:
		return h.render(c, http.StatusOK, "signin", h.signInView(v))
	}
	view := refusedView{head: h.head("Not available"), App: h.app(v),
		Email: v.visitor.Email, SignOut: h.signOutView(v), Blocked: v.standing == blocked}
	view.SignOut.Email, view.SignOut.Label = "", "Use another address"
	return h.render(c, http.StatusForbidden, "refused", view)
}

type refusedView struct {
	head
	App     appView
	Email   string
	SignOut signOutView
	Blocked bool
}

func (h *Handlers) landing(c *gin.Context, v *visit) (*landingView, error) {
	view := &landingView{App: h.app(v), Link: h.cfg.Links.Page(v.name), OfBuild: v.OfBuild,
		About: h.notes.html(v.Project.Description), Empty: v.Build == nil}
	view.head = h.head(view.App.Name)
	if v.visitor != nil {
		view.Email, view.SignOut = v.visitor.Email, h.signOutView(v)
		view.Apps = h.base + "/me"
	}
	if v.OfBuild {
		view.Project = h.path(v.Project.PageName())
	}
	var err error
	if view.QR, err = inlineQR(view.Link); err != nil || v.Build == nil {
		return view, err
	}
	if err := h.describe(c, v, view); err != nil {
		return nil, err
	}
	view.Builds = h.rows(v.others)
	return view, nil
}

// describe fills in what there is to say of the build.
func (h *Handlers) describe(c *gin.Context, v *visit, view *landingView) error {
	b := v.Build
	a := asked{build: b, closed: b.PageClosed(h.cfg.Now()), device: deviceOf(c.Request.UserAgent()), now: h.cfg.Now(), https: h.https,
		udid: udid(c.Query("udid")), download: template.URL(h.path(b.Token) + "/download")}
	if v.visitor != nil && v.visitor.OrganizationID == b.OrganizationID && v.granted {
		view.Feedback, view.History = h.feedbackLink(b), h.base+"/me/apps/"+number(b.ProjectID)
	}
	if b.Kind == artifact.IPA && devices.Bound(b.Provisioning) {
		a.register = template.URL(h.base + "/udid/register?build=" + b.Token)
		if v.visitor != nil && v.visitor.OrganizationID == b.OrganizationID {
			var err error
			if a.registered, err = devices.ForUser(c.Request.Context(), h.cfg.DB, b.OrganizationID, v.visitor.UserID); err != nil {
				return err
			}
		}
	}
	if b.Kind == artifact.IPA && h.https {
		link, err := h.itms(c.Request.Context(), v)
		if err != nil {
			return err
		}
		a.manifest = link
	}
	view.Actions = actionsOf(a)
	if view.Actions.Button != nil && view.Actions.Button.Link == a.manifest {
		// The button's ticket ends; a page that stays open gets a new one before.
		view.Refresh = int(ticketAge.Seconds()) * 9 / 10
	}
	view.Version = versionOf(b)
	view.Size = size(b.File.Size)
	for _, s := range []string{string(b.Platform), view.Size} {
		if s != "" {
			view.Summary = append(view.Summary, s)
		}
	}
	view.Title = view.App.Name + " " + view.Version
	view.Notes = h.notes.html(b.ReleaseNotes)
	view.Facts = facts(b)
	view.Details = details(b)
	return nil
}

// rows lists the builds that the page names beside the one it shows.
func (h *Handlers) rows(builds []distribution.Build) []buildRow {
	var rows []buildRow
	for i := range builds {
		b := &builds[i]
		row := buildRow{Link: h.path(b.Token), Version: versionOf(b), Day: shortDay(b.CreatedAt), Time: b.CreatedAt.UTC().Format("2006-01-02")}
		if b.PagePassword == "" && b.PageClosed(h.cfg.Now()) == "" {
			row.Notes = h.notes.html(excerpt(b.ReleaseNotes, maxOlderNotes))
		}
		rows = append(rows, row)
	}
	return rows
}

// excerpt is the beginning of a text, up to the end of a line.
func excerpt(text string, most int) string {
	short := storage.Cut(text, most)
	if short == text {
		return text
	}
	if end := strings.LastIndexByte(short, '\n'); end > most/2 {
		short = short[:end]
	}
	return short + "\n\n…"
}

// app is an app's face; a build may have had another name than the app has now.
func (r *visitReader) app(v *visit) appView {
	a := appView{Name: v.Project.Name, Icon: r.path(v.name) + "/icon", Organization: v.OrganizationName}
	if v.OfBuild && v.Build.AppName != "" {
		a.Name = v.Build.AppName
	}
	return a
}

// path is a page's path, also below a public URL that has one. Pages use paths:
// their policy lets them load from their own origin only, whichever name of the
// server that is.
func (s *site) path(name string) string { return s.base + "/install/" + url.PathEscape(name) }

// udidForm is what Apple's device identifiers look like, old and new.
var udidForm = regexp.MustCompile(`^[0-9A-Fa-f]{8}-?[0-9A-Fa-f]{16}$|^[0-9A-Fa-f]{40}$`)

// udid reads the identifier of the visitor's device; "" for what is none.
func udid(s string) string {
	if !udidForm.MatchString(s) {
		return ""
	}
	return s
}

// itms is the link that makes an iOS device install a build.
func (h *Handlers) itms(ctx context.Context, v *visit) (template.URL, error) {
	b := v.Build
	t, err := h.tickets.newTicket(ctx, b.ID, v.userID(), v.lockText())
	if err != nil {
		return "", err
	}
	return template.URL("itms-services://?action=download-manifest&url=" + url.QueryEscape(h.cfg.Links.Manifest(b.Token, t))), nil
}
