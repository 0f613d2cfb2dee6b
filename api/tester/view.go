package tester

import (
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution/testergroup"
	"github.com/slipway-qa/slipway/storage/tester"
)

// testerView is a tester in version 3.
type testerView struct {
	ID        int64              `json:"id"` // of the membership
	UserID    int64              `json:"user_id"`
	Email     string             `json:"email"`
	Name      string             `json:"name"`
	Role      account.Role       `json:"role"`
	Groups    []testergroup.Name `json:"groups"`
	Blocked   bool               `json:"blocked"`
	LastLogin *time.Time         `json:"last_login"` // null: never
	CreatedAt time.Time          `json:"created_at"`
	// Invite is present where the request names a build; null: not invited to it.
	Invite any `json:"invite,omitempty"`
}

// inviteView is an invitation to a build in version 3.
type inviteView struct {
	Status       tester.Status `json:"status"`
	InvitedBy    string        `json:"invited_by"`
	InvitedAt    time.Time     `json:"invited_at"`
	SentAt       *time.Time    `json:"sent_at"`
	OpenedAt     *time.Time    `json:"opened_at"`
	InstalledAt  *time.Time    `json:"installed_at"` // when the download began
	UsedAt       *time.Time    `json:"used_at"`      // when the first session of the build came
	RevokedAt    *time.Time    `json:"revoked_at"`
	DownloadLink string        `json:"download_link"` // "" when it is revoked or the tester is blocked
}

// personInviteView is an invitation in the list of a build.
type personInviteView struct {
	TesterID int64  `json:"tester_id"` // of the membership
	UserID   int64  `json:"user_id"`
	Email    string `json:"email"`
	Name     string `json:"name"`
	Blocked  bool   `json:"blocked"`
	inviteView
}

func inviteViewOf(i *tester.Invite, link func(*tester.Invite) string) inviteView {
	return inviteView{Status: i.Status, InvitedBy: i.InvitedBy, InvitedAt: i.InvitedAt.UTC(), SentAt: i.SentAt, OpenedAt: i.OpenedAt,
		InstalledAt: i.InstalledAt, UsedAt: i.UsedAt, RevokedAt: i.RevokedAt, DownloadLink: link(i)}
}

func personInviteViewOf(i *tester.Invite, link func(*tester.Invite) string) personInviteView {
	return personInviteView{TesterID: i.TesterID, UserID: i.UserID, Email: i.Email, Name: i.Name, Blocked: i.Blocked,
		inviteView: inviteViewOf(i, link)}
}

// listed are testers with what answers show beside their rows.
type listed struct {
	testers []tester.Tester
	groups  map[int64][]testergroup.Name // by user
	// Of the build that the request names: its invitations by user, and how their links
	// are shown. nil when it names none.
	invites map[int64]tester.Invite
	link    func(*tester.Invite) string
}

func (l *listed) groupsOf(t *tester.Tester) []testergroup.Name {
	if groups := l.groups[t.UserID]; groups != nil {
		return groups
	}
	return []testergroup.Name{}
}

// view shows a tester in version 3.
func (r *room) view(l *listed, t *tester.Tester) testerView {
	v := testerView{ID: t.ID, UserID: t.UserID, Email: t.Email, Name: t.Name, Role: t.Role, Groups: l.groupsOf(t), Blocked: t.Blocked(),
		LastLogin: t.LastLoginAt, CreatedAt: t.CreatedAt.UTC()}
	if l.link == nil {
		return v
	}
	var none *inviteView
	v.Invite = none // null, and present
	if i, ok := l.invites[t.UserID]; ok {
		shown := inviteViewOf(&i, l.link)
		v.Invite = &shown
	}
	return v
}

// view1 shows a tester in version 1. Times that are not known are "".
func (r *room) view1(l *listed, t *tester.Tester) gin.H {
	v := gin.H{"id": t.ID, "email": t.Email, "name": t.Name, "groups": l.groupsOf(t), "isBlocked": t.Blocked(),
		"lastLogin": legacyTime(t.LastLoginAt), "createdAt": legacyTime(&t.CreatedAt)}
	if l.link == nil {
		return v
	}
	v["isInvitedToBuild"], v["buildInviteStatus"], v["buildInviteTime"], v["appDownloadLink"] = false, "", "", ""
	if i, ok := l.invites[t.UserID]; ok {
		v["isInvitedToBuild"], v["buildInviteStatus"] = i.Status != tester.Revoked, string(i.Status)
		v["buildInviteTime"], v["appDownloadLink"] = legacyTime(&i.InvitedAt), l.link(&i)
	}
	return v
}

// legacyTime is a time as versions 1 and 2 write it, in UTC.
func legacyTime(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.DateTime)
}
