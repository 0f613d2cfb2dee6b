package install

import (
	"context"
	"errors"
	"net/http"
	"regexp"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/installpage"
	"github.com/slipway-qa/slipway/storage/distribution/landing"
	"github.com/slipway-qa/slipway/storage/distribution/visitor"
)

// standing is what a visitor may do with a page.
type standing int

const (
	welcome   standing = iota
	unknown            // a closed page, and nobody has signed in
	notShared          // signed in, and the app was not shared with the person
	blocked            // signed in, and the membership is blocked
	locked             // the page has a password that the visitor has not shown
	ended              // the page is closed: its time or its installs are over
)

// visit is who comes, and to which page. Behind open, Build is the one that the
// visitor is shown.
type visit struct {
	*installpage.Landing
	name     string               // the page's own name, whichever was asked for
	others   []distribution.Build // a project's page: what else the visitor may have
	visitor  *visitor.Visitor
	standing standing
	reason   string // why the page has ended
	granted  bool   // the visitor was given the build, whatever the page's mode
}

func (v *visit) userID() int64 {
	if v.visitor == nil {
		return 0
	}
	return v.visitor.UserID
}

// closed says that only people with whom the app was shared may see it.
func (v *visit) closed() bool {
	return v.LoginRequired || v.Project.LandingPageMode != landing.Open
}

// pageName is the form of slugs and tokens; anything else names no page and need
// not be looked for.
var pageName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// visitReader reads who comes, and to which page.
type visitReader struct {
	*site
	passwords *passwords
}

// find reads the page of a request, for what is shown to everybody.
func (r *visitReader) find(c *gin.Context) (*visit, error) {
	name := c.Param("name")
	if !pageName.MatchString(name) {
		return nil, storage.ErrNotFound
	}
	l, err := installpage.ByName(c.Request.Context(), r.cfg.DB, name)
	if err != nil {
		return nil, err
	}
	v := &visit{Landing: l, name: l.Project.PageName()}
	if l.OfBuild {
		v.name = l.Build.Token
	}
	return v, nil
}

// open reads the page, who asks for it and, for the page of a project, at most so
// many builds that this visitor may have; and what the page's limits make of that.
func (r *visitReader) open(c *gin.Context, builds int) (*visit, error) {
	v, err := r.arrive(c, builds)
	if err != nil {
		return nil, err
	}
	return v, r.limit(c, v)
}

func (r *visitReader) arrive(c *gin.Context, builds int) (*visit, error) {
	v, err := r.find(c)
	if err != nil {
		return nil, err
	}
	if v.visitor, err = r.visitor(c); err != nil {
		return nil, err
	}
	if v.visitor != nil && v.visitor.Via == visitor.ByInvite && v.visitor.OrganizationID != v.Project.OrganizationID {
		v.visitor = nil // another organization knows the link that began this session
	}
	if v.visitor == nil && v.closed() {
		v.standing = unknown
		return v, nil
	}
	if err := r.choose(c.Request.Context(), v, builds); err != nil || v.visitor == nil {
		return v, err
	}
	v.standing, err = r.judge(c.Request.Context(), v, v.visitor.UserID)
	return v, err
}

// choose makes the newest build that the visitor may have the one that the page of
// a project shows: each upload is shared anew, so it need not be the latest one.
// For who may have none that stays, and judge refuses it.
func (r *visitReader) choose(ctx context.Context, v *visit, builds int) error {
	if v.OfBuild || v.Build == nil {
		return nil
	}
	list, err := installpage.LatestBuildsFor(ctx, r.cfg.DB, v.Project.ID, v.userID(), !v.closed(), builds)
	if err != nil || len(list) == 0 {
		return err
	}
	v.Build, v.others = &list[0], list[1:]
	return nil
}

// judge asks what a person may do with the page. A block counts on open pages
// too: who is signed in is known to be the one who was blocked.
func (r *visitReader) judge(ctx context.Context, v *visit, userID int64) (standing, error) {
	if v.Build == nil {
		// There is nothing to install; whoever belongs here may see that.
		if v.closed() && (v.visitor == nil || v.visitor.OrganizationID != v.Project.OrganizationID) {
			return notShared, nil
		}
		return welcome, nil
	}
	access, err := installpage.BuildAccess(ctx, r.cfg.DB, v.Build.ID, userID)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		access = installpage.Access{} // no member
	case err != nil:
		return notShared, err
	}
	v.granted = access.Allowed
	switch {
	case access.Blocked:
		return blocked, nil
	case v.closed() && !access.Allowed:
		return notShared, nil
	}
	return welcome, nil
}

// sessionAge is how long a phone stays signed in: testers come back with each
// build, and a mail each time would be a burden.
const sessionAge = 30 * 24 * 60 * 60 // seconds

// cookieName is bound to the host by its prefix where browsers allow it (https).
func (r *visitReader) cookieName() string {
	if r.https {
		return "__Host-slipway_session"
	}
	return "slipway_session"
}

// session is the digest of the request's cookie.
func (r *visitReader) session(c *gin.Context) (account.Digest, bool) {
	cookie, err := c.Request.Cookie(r.cookieName())
	if err != nil || cookie.Value == "" || len(cookie.Value) > maxSecret {
		return account.Digest{}, false
	}
	return account.DigestOf(cookie.Value), true
}

// maxSecret bounds a secret that a stranger shows, in bytes.
const maxSecret = 128

// visitor is who is signed in; nil when nobody is.
func (r *visitReader) visitor(c *gin.Context) (*visitor.Visitor, error) {
	session, ok := r.session(c)
	if !ok {
		return nil, nil
	}
	v, err := visitor.BySession(c.Request.Context(), r.cfg.DB, session, r.cfg.Now())
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	return v, err
}

// setSession gives the browser its session; "" takes it away.
func (r *visitReader) setSession(c *gin.Context, secret string) {
	cookie := &http.Cookie{Name: r.cookieName(), Value: secret, Path: "/", MaxAge: sessionAge,
		HttpOnly: true, Secure: r.https, SameSite: http.SameSiteLaxMode}
	if secret == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(c.Writer, cookie)
}
