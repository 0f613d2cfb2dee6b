package install

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/distribution/landing"
)

// limits are those that hold for a page: the app's, and on the page of a build, or for the
// build that the page of its app shows, the build's too.
func (v *visit) limits() []*landing.Limits {
	list := []*landing.Limits{&v.Project.Limits}
	if v.Build != nil {
		list = append(list, &v.Build.Limits)
	}
	return list
}

// limit is what the page's limits make of a visit: one that ended shows why, to everybody.
// A password is asked from everybody who was not given the build by name.
func (r *visitReader) limit(c *gin.Context, v *visit) error {
	now := r.cfg.Now()
	for i, l := range v.limits() {
		if i > 0 && !v.OfBuild {
			break // the app's page stays, with the reason in place of its button
		}
		if reason := l.PageClosed(now); reason != "" {
			v.standing, v.reason = ended, reason
			return nil
		}
	}
	if v.standing != welcome {
		return nil
	}
	asks, err := r.passwords.missing(c, v)
	if err == nil && asks != nil {
		v.standing = locked
	}
	return err
}

// closedView is the page of what has ended.
type closedView struct {
	head
	App     appView
	Reason  string
	SignOut *signOutView
	Apps    string
}

// showClosed writes why a page is closed.
func (r *visitReader) showClosed(c *gin.Context, v *visit) error {
	view := closedView{head: r.head("This page is closed"), App: r.app(v), Reason: sentence(v.reason)}
	if v.visitor != nil {
		out := r.signOutView(v)
		view.SignOut, view.Apps = &out, r.base+"/me"
	}
	return r.render(c, http.StatusGone, "closed", view)
}

// errClosed is for devices, and for who asks for the file of a page that is closed.
func errClosed(reason string) error {
	return &respond.Problem{Status: http.StatusGone, Text: strings.TrimSuffix(reason, ".")}
}
