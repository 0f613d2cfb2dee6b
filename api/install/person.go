package install

import (
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/remote"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/installpage"
	"github.com/slipway-qa/slipway/storage/distribution/visitor"
	"github.com/slipway-qa/slipway/storage/mail"
	"github.com/slipway-qa/slipway/storage/tester"
)

// personHandlers serve the pages of whoever is signed in, in one organization at a time:
// that of the session.
type personHandlers struct {
	*sessionHandlers
	notes *notes
	// pictures bounds how many pictures are read at a time.
	pictures chan struct{}
	// invitations and feedbacks bound what a remote address stores.
	invitations, feedbacks *remote.Brake
}

const (
	// invitationsPerMinute leaves room for an office whose people are mailed at once.
	invitationsPerMinute = 120
	// feedbacksPerMinute is more than people at one address write.
	feedbacksPerMinute = 30
)

// fail writes a failure, as route.Route has it.
type fail func(c *gin.Context, err error)

func (h *personHandlers) routes(fail fail) []route.Route {
	return []route.Route{
		{Method: http.MethodGet, Path: "/sign-in", Public: publicPage, Handler: h.SignInForm, Fail: fail},
		{Method: http.MethodPost, Path: "/sign-in", Public: publicPage, Handler: h.SignInByMail, Fail: fail},
		{Method: http.MethodGet, Path: "/invite/:secret", Public: publicPage, Handler: h.Invitation, Fail: fail},
		{Method: http.MethodPost, Path: "/invite/:secret", Public: publicPage, Handler: h.AcceptInvitation, Fail: fail},
		{Method: http.MethodGet, Path: "/me", Public: publicPage, Handler: h.signedIn(h.Apps), Fail: fail},
		{Method: http.MethodGet, Path: "/me/apps/:id", Public: publicPage, Handler: h.signedIn(h.History), Fail: fail},
		{Method: http.MethodPost, Path: "/me/organization", Public: publicPage, Handler: h.signedIn(h.SwitchOrganization), Fail: fail},
		{Method: http.MethodPost, Path: "/me/mail", Public: publicPage, Handler: h.signedIn(h.SwitchMail), Fail: fail},
		{Method: http.MethodGet, Path: "/me/feedback", Public: publicPage, Handler: h.signedIn(h.FeedbackForm), Fail: fail},
		{Method: http.MethodPost, Path: "/me/feedback", Public: publicPage, Handler: h.signedIn(h.Feedback), Fail: fail, Body: maxFeedbackBody},
		{Method: http.MethodGet, Path: "/me/leave", Public: publicPage, Handler: h.signedIn(h.LeaveForm), Fail: fail},
		{Method: http.MethodPost, Path: "/me/leave", Public: publicPage, Handler: h.signedIn(h.Leave), Fail: fail},
	}
}

// personal is a handler for a person who is signed in and not blocked.
type personal func(c *gin.Context, v *visitor.Visitor) error

// signedIn runs a handler for who is signed in; others are led to the sign-in, which
// leads back. Posts must come from the service's own pages.
func (h *personHandlers) signedIn(serve personal) route.Handler {
	return func(c *gin.Context) error {
		if c.Request.Method == http.MethodPost {
			if err := h.ownOrigin(c); err != nil {
				return err
			}
		}
		v, err := h.ownVisitor(c)
		if err != nil {
			return err
		}
		switch {
		case v == nil:
			h.leadTo(c, "/sign-in?to="+url.QueryEscape(h.wanted(c)))
			return nil
		case v.Blocked:
			view := refusedView{head: h.head("Not available"), Email: v.Email, Blocked: true, SignOut: h.signOutOf(v, "/me")}
			view.App.Name = v.OrganizationName
			view.SignOut.Email, view.SignOut.Label = "", "Use another address"
			return h.render(c, http.StatusForbidden, "refused", view)
		}
		return serve(c, v)
	}
}

// ownVisitor is who is signed in to the organization that the host selects, if it
// selects one.
func (h *personHandlers) ownVisitor(c *gin.Context) (*visitor.Visitor, error) {
	v, err := h.visitor(c)
	if slug := h.organization(c); v != nil && slug != "" && slug != v.OrganizationSlug {
		return nil, err
	}
	return v, err
}

// organization is the slug that the host of a request selects.
func (s *site) organization(c *gin.Context) string {
	if s.cfg.Organization == nil {
		return ""
	}
	return s.cfg.Organization(c.Request.Host)
}

// wanted is the page that a visitor came for, as far as a sign-in leads there.
func (h *personHandlers) wanted(c *gin.Context) string {
	path := strings.TrimRight(c.Request.URL.Path, "/")
	if build := c.Query("build"); build != "" {
		path += "?build=" + url.QueryEscape(build)
	}
	if c.Request.Method == http.MethodPost || !ownPage.MatchString(path) {
		return "/me"
	}
	return path
}

// signOutOf is the form that ends a session; after is the page to return to.
func (s *site) signOutOf(v *visitor.Visitor, after string) signOutView {
	return signOutView{Action: s.base + "/sign-out", Here: s.base + after, Email: v.Email, Label: "Sign out"}
}

// personView is what the pages of a person share.
type personView struct {
	head
	Base         string
	Organization string
	SignOut      signOutView
}

func (h *personHandlers) view(title string, v *visitor.Visitor) personView {
	return personView{head: h.head(title), Base: h.base, Organization: v.OrganizationName, SignOut: h.signOutOf(v, "/me")}
}

type emailView struct {
	head
	Action, To, Email, Fault string
}

// wantedPage is where a sign-in is to lead.
func wantedPage(to string) string {
	if !ownPage.MatchString(to) {
		return "/me"
	}
	return to
}

// SignInForm serves GET /sign-in?to=.
func (h *personHandlers) SignInForm(c *gin.Context) error {
	to := wantedPage(c.Query("to"))
	v, err := h.ownVisitor(c)
	if err != nil {
		return err
	}
	if v != nil {
		h.leadTo(c, to)
		return nil
	}
	return h.render(c, http.StatusOK, "email", emailView{head: h.head("Sign in"), Action: h.base + "/sign-in", To: to})
}

// SignInByMail serves POST /sign-in. The answer says nothing about the address.
func (h *personHandlers) SignInByMail(c *gin.Context) error {
	if err := h.ownOrigin(c); err != nil {
		return err
	}
	if err := slowDown(c, h.brake); err != nil {
		return err
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxForm)
	email, to := strings.TrimSpace(c.PostForm("email")), wantedPage(c.PostForm("to"))
	if err := account.CheckEmail(email); err != nil {
		return h.render(c, http.StatusBadRequest, "email", emailView{head: h.head("Sign in"), Action: h.base + "/sign-in", To: to,
			Email: printable(email, 254), Fault: "Please enter a mail address, such as name@example.com."})
	}
	if err := h.sendLink(c.Request.Context(), target{slug: h.organization(c), path: to}, email); err != nil {
		return err
	}
	return h.render(c, http.StatusOK, "sent", sentView{head: h.head("Look into your mail"), Email: email,
		Here: h.base + "/sign-in?to=" + url.QueryEscape(to), Hours: int(linkAge.Hours())})
}

// appsPerPage fits a phone.
const appsPerPage = 25

type appsView struct {
	personView
	Apps      []appRow
	Previous  string
	Next      string
	Places    []visitor.Place // further organizations
	HasNoMail bool            // the person wants no mail about builds
}

type appRow struct{ Link, History, Icon, Name, Version, Platform, Day, Time string }

// Apps serves GET /me: the apps of which the person may install a build.
func (h *personHandlers) Apps(c *gin.Context, v *visitor.Visitor) error {
	page, err := pagination.Parse(c.Request.URL.Query(), pagination.Options{Default: appsPerPage, Max: appsPerPage})
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	list, err := installpage.AppsFor(ctx, h.cfg.DB, v.OrganizationID, v.UserID, page.Rows())
	if err != nil {
		return err
	}
	subscription, err := mail.SubscriptionOf(ctx, h.cfg.DB, v.OrganizationID, v.UserID)
	if err != nil {
		return err
	}
	view := appsView{personView: h.view("Your apps", v), HasNoMail: subscription.Unsubscribed}
	if v.Via == visitor.ByMail && h.organization(c) == "" {
		places, err := visitor.PlacesOf(ctx, h.cfg.DB, v.UserID)
		if err != nil {
			return err
		}
		for _, p := range places {
			if p.OrganizationID != v.OrganizationID {
				view.Places = append(view.Places, p)
			}
		}
	}
	for _, a := range list {
		b := distribution.Build{Version: a.Version, VersionCode: a.VersionCode}
		view.Apps = append(view.Apps, appRow{Link: h.path(a.PageName), History: h.base + "/me/apps/" + number(a.ProjectID),
			Icon: h.path(a.PageName) + "/icon", Name: a.Name, Version: versionOf(&b), Platform: string(a.Platform),
			Day: shortDay(a.UploadedAt), Time: a.UploadedAt.UTC().Format("2006-01-02")})
	}
	if page.Page > 1 {
		view.Previous = h.base + "/me?page=" + strconv.Itoa(page.Page-1)
	}
	if len(list) > 0 && list[0].Total > page.Page*page.PerPage {
		view.Next = h.base + "/me?page=" + strconv.Itoa(page.Page+1)
	}
	return h.render(c, http.StatusOK, "apps", view)
}

// historyBuilds is how many builds the history of an app has.
const historyBuilds = 50

type historyView struct {
	personView
	App    appView
	Latest string // the app's page, with the install button
	Builds []historyRow
	Most   int // when there may be older builds
}

type historyRow struct {
	Link, Feedback, Version, Size, Day, Time string
	Notes                                    template.HTML
}

// History serves GET /me/apps/{id}: the builds of an app that the person may install,
// with their notes.
func (h *personHandlers) History(c *gin.Context, v *visitor.Visitor) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	p, err := distribution.ProjectByID(ctx, h.cfg.DB, v.OrganizationID, id)
	if err != nil {
		return err
	}
	builds, err := installpage.LatestBuildsFor(ctx, h.cfg.DB, p.ID, v.UserID, false, historyBuilds)
	if err != nil {
		return err
	}
	if len(builds) == 0 {
		return fmt.Errorf("no build of project %d for user %d: %w", p.ID, v.UserID, storage.ErrNotFound)
	}
	view := historyView{personView: h.view(p.Name, v), Latest: h.path(p.PageName()),
		App: appView{Name: p.Name, Icon: h.path(p.PageName()) + "/icon", Organization: v.OrganizationName}}
	if len(builds) == historyBuilds {
		view.Most = historyBuilds
	}
	for i := range builds {
		b := &builds[i]
		view.Builds = append(view.Builds, historyRow{Link: h.path(b.Token), Feedback: h.feedbackLink(b), Version: versionOf(b),
			Size: size(b.File.Size),
			Day:  shortDay(b.CreatedAt), Time: b.CreatedAt.UTC().Format("2006-01-02"), Notes: h.notes.html(b.ReleaseNotes)})
	}
	return h.render(c, http.StatusOK, "history", view)
}

// SwitchOrganization serves POST /me/organization: the form's member organization is the
// id of another organization of the same person.
func (h *personHandlers) SwitchOrganization(c *gin.Context, _ *visitor.Visitor) error {
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxForm)
	id, err := pagination.ID(c.PostForm("organization"))
	if err != nil {
		return err
	}
	session, _ := h.session(c)
	err = h.cfg.DB.InTx(c.Request.Context(), func(tx *storage.Tx) error {
		user, err := visitor.SwitchSession(c.Request.Context(), tx, session, id, h.cfg.Now())
		if err != nil {
			return err
		}
		return tester.SignedIn(c.Request.Context(), tx, auth.Actor(c), id, user)
	})
	if err != nil {
		return err
	}
	h.leadTo(c, "/me")
	return nil
}

// SwitchMail serves POST /me/mail: the form's member mail is off for who wants no mail
// about builds any more, and on for who wants it again.
func (h *personHandlers) SwitchMail(c *gin.Context, v *visitor.Visitor) error {
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxForm)
	wanted := c.PostForm("mail")
	if wanted != "on" && wanted != "off" {
		return storage.Invalid("mail", "must be on or off")
	}
	ctx := c.Request.Context()
	err := h.cfg.DB.InTx(ctx, func(tx *storage.Tx) error {
		return mail.SetUnsubscribed(ctx, tx, h.actor(c, v), v.OrganizationID, v.UserID, wanted == "off")
	})
	if err != nil {
		return err
	}
	h.leadTo(c, "/me")
	return nil
}

type leaveView struct {
	personView
	Staff bool // an administrator takes out who has a role above tester
}

// LeaveForm serves GET /me/leave.
func (h *personHandlers) LeaveForm(c *gin.Context, v *visitor.Visitor) error {
	return h.render(c, http.StatusOK, "leave", leaveView{personView: h.view("Leave "+v.OrganizationName, v), Staff: v.Role != account.Tester})
}

// Leave serves POST /me/leave: the person leaves the organization, with all that hangs
// on the membership.
func (h *personHandlers) Leave(c *gin.Context, v *visitor.Visitor) error {
	ctx := c.Request.Context()
	err := h.cfg.DB.InTx(ctx, func(tx *storage.Tx) error {
		return tester.Leave(ctx, tx, h.actor(c, v), v.OrganizationID, v.UserID)
	})
	if errors.Is(err, storage.ErrNotFound) {
		return &respond.Problem{Status: http.StatusConflict, Text: "only testers leave by themselves: an administrator can remove you"}
	}
	if err != nil {
		return err
	}
	h.setSession(c, "")
	return h.render(c, http.StatusOK, problemPage, problemView{head: h.head("You left"), Heading: "You left " +
		printable(v.OrganizationName, 80),
		Text: "Your invitations, devices and sign-ins there are gone, and no more mail will come."})
}

// actor is the person as the audit log names them.
func (h *personHandlers) actor(c *gin.Context, v *visitor.Visitor) account.Actor {
	actor := auth.Actor(c)
	actor.UserID, actor.Name = v.UserID, v.Email
	return actor
}
