package distribution

import (
	"time"

	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/storage/distribution/landing"
)

// PageLimitsView are what closes a landing page. The password is never shown.
type PageLimitsView struct {
	LandingPageExpiresAt   *time.Time `json:"landing_page_expires_at"`   // null: never
	LandingPageMaxInstalls *int       `json:"landing_page_max_installs"` // null: any number
	// LandingPageInstalls counts the installs since a number of them was set.
	LandingPageInstalls    int  `json:"landing_page_installs"`
	LandingPageHasPassword bool `json:"landing_page_has_password"`
}

func pageLimits(l *landing.Limits) PageLimitsView {
	return PageLimitsView{LandingPageExpiresAt: utc(l.PageExpiresAt), LandingPageMaxInstalls: l.PageMaxInstalls,
		LandingPageInstalls: l.PageInstalls, LandingPageHasPassword: l.PagePassword != ""}
}

// pageBody are the members of a request for what closes a page; null removes one.
type pageBody struct {
	LandingPageExpiresAt   body.Nullable `json:"landing_page_expires_at"`
	LandingPageMaxInstalls body.Nullable `json:"landing_page_max_installs"`
	LandingPagePassword    body.Nullable `json:"landing_page_password"`
}

// change reads the members. A password is digested here, which takes a while, and not
// while a transaction waits.
func (p *pageBody) change() (landing.Change, error) {
	return landing.NewChange(p.LandingPageExpiresAt.Text(), p.LandingPageMaxInstalls.Text(), p.LandingPagePassword.Text())
}
