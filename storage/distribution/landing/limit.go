// Package landing has the rows of the limits of landing pages: until when a page is open, for
// how many installs, and with which password.
//
// An app has limits and each of its builds may have its own; what is installed through the
// page of a build keeps to both (CountInstall). A copy has the limits of what it was copied
// from, so that a page with a password has no copy without. An Owner is what has limits; the
// caller holds its row's lock. A password is kept as a digest (CheckPassword).
//
// A page that lets no more through is a *ClosedError, and then nothing may be committed.
package landing

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/change"
)

// Mode of a landing page.
const (
	Open   = "open"
	Closed = "closed"
)

// Limits close a landing page: that of an app with all its builds, or that of a build.
// What is installed through the page of a build keeps to both.
type Limits struct {
	PageExpiresAt   *time.Time `db:"page_expires_at"`   // nil: never
	PageMaxInstalls *int       `db:"page_max_installs"` // nil: any number
	// PageInstalls counts installs since PageMaxInstalls was set.
	PageInstalls int `db:"page_installs"`
	// PagePassword is the digest of the password, "" without one (see CheckPassword).
	PagePassword string `db:"page_password"`
}

// PageClosed is why a page is closed, as people read it; "" while it is open.
func (l *Limits) PageClosed(now time.Time) string {
	switch {
	case l.PageExpiresAt != nil && !now.Before(*l.PageExpiresAt):
		return "this page was open until " + l.PageExpiresAt.UTC().Format("2 January 2006, 15:04") + " UTC"
	case l.PageMaxInstalls != nil && l.PageInstalls >= *l.PageMaxInstalls:
		return "this page was open for a number of installs, and they have been made"
	}
	return ""
}

// ClosedError is an install through a page that is closed.
type ClosedError struct{ Reason string }

func (e *ClosedError) Error() string { return e.Reason }

// Change is a change of limits that was checked; the zero value changes nothing.
type Change struct {
	expiresAt   **time.Time
	maxInstalls **int
	password    *string // digest
}

// NewChange checks what a request has of the limits: a time (RFC 3339), a number, a
// password; "" removes one, nil leaves it. It takes a while when there is a password.
func NewChange(expiresAt, maxInstalls, password *string) (c Change, err error) {
	if expiresAt != nil {
		c.expiresAt = new(*time.Time)
		if *expiresAt != "" {
			at, err := time.Parse(time.RFC3339, *expiresAt)
			if err != nil || at.Year() < 2000 || at.Year() > 9999 {
				return c, storage.Invalid("landing_page_expires_at", "must be a time such as 2026-12-31T18:00:00Z, or null")
			}
			at = at.UTC().Truncate(time.Second)
			*c.expiresAt = &at
		}
	}
	if maxInstalls != nil {
		c.maxInstalls = new(*int)
		if *maxInstalls != "" {
			n, err := strconv.Atoi(*maxInstalls)
			if err != nil || n < 1 || n > maxPageInstalls {
				return c, storage.Invalid("landing_page_max_installs", "must be a whole number from 1, or null")
			}
			*c.maxInstalls = &n
		}
	}
	if password != nil {
		digest, err := pagePassword(*password)
		if err != nil {
			return c, err
		}
		c.password = &digest
	}
	return c, nil
}

// maxPageInstalls bounds the number of installs; more is no bound.
const maxPageInstalls = 1_000_000_000

// over returns the limits after the change.
func (c *Change) over(l Limits) Limits {
	change.Set(&l.PageExpiresAt, c.expiresAt)
	change.Set(&l.PageMaxInstalls, c.maxInstalls)
	change.Set(&l.PagePassword, c.password)
	return l
}

// differences are what an audit row contains; of a password that there is one, and that it
// is another.
func (l *Limits) differences(from *Limits) change.Diff {
	var c change.Diff
	c.Note("landing_page_expires_at", from.PageExpiresAt, l.PageExpiresAt)
	c.Note("landing_page_max_installs", from.PageMaxInstalls, l.PageMaxInstalls)
	state := func(l *Limits) string {
		if l.PagePassword == "" {
			return "none"
		}
		return "set"
	}
	if from.PagePassword != l.PagePassword {
		before, after := state(from), state(l)
		if before == after {
			after = "changed"
		}
		c.Note("landing_page_password", before, after)
	}
	return c
}

// Owner is what has limits: an app or a build.
type Owner struct {
	OrganizationID     int64
	ProjectID, BuildID *int64
	Event              account.AuditType
	Subject            string
}

func (o Owner) column() (name string, id int64) {
	if o.ProjectID != nil {
		return "project_id", *o.ProjectID
	}
	return "build_id", *o.BuildID
}

// Change writes what a change makes of limits, with its audit row; the app or build is
// locked, and its limits are as from has them, save the installs.
func (o Owner) Change(ctx context.Context, tx *storage.Tx, actor account.Actor, from Limits, change Change) error {
	to := change.over(from)
	d := to.differences(&from)
	if !d.Any() {
		return nil
	}
	column, id := o.column()
	// Installs that are being counted wait for the row, or are counted before.
	_, err := tx.ExecContext(ctx, `
insert into page_limits (project_id, build_id, expires_at, max_installs, password_hash) values ($1, $2, $3, $4, $5)
on conflict (`+column+`) where `+column+` is not null do update set expires_at = excluded.expires_at,
	max_installs = excluded.max_installs, password_hash = excluded.password_hash, updated_at = now(),
	installs = case when page_limits.max_installs is null or excluded.max_installs is null then 0 else page_limits.installs end`,
		o.ProjectID, o.BuildID, to.PageExpiresAt, to.PageMaxInstalls, to.PagePassword)
	if err != nil {
		return storage.Wrap(err, fmt.Sprintf("limits of the page of %s %d", column, id))
	}
	return account.Audit(ctx, tx, account.Event{OrganizationID: o.OrganizationID, Type: o.Event, Actor: actor,
		Subject: o.Subject, Detail: d})
}

// Copy gives a copy the limits of what it was copied from: a page with a password must
// not have a copy without. Its installs begin anew.
func Copy(ctx context.Context, tx *storage.Tx, column string, from, to int64) error {
	_, err := tx.ExecContext(ctx, `insert into page_limits (`+column+`, expires_at, max_installs, password_hash)
		select $2, expires_at, max_installs, password_hash from page_limits where `+column+` = $1`, from, to)
	return storage.Wrap(err, "copy the limits of a page")
}

// countPageInstall reads its condition again when the row was locked by another install, so
// that of many at once no more than the bound are counted.
const countPageInstall = `
update page_limits set installs = installs + 1
where %s = $1 and max_installs is not null and installs < max_installs and (expires_at is null or expires_at > $2)
returning id`

const pageBound = `
select exists (select from page_limits
where %s = $1 and (max_installs is not null and installs >= max_installs or expires_at <= $2))`

// CountInstall counts an install through a page of the build: of its app first, then its
// own. *ClosedError when one of them lets no more through; the caller's transaction must
// then end without effect.
func CountInstall(ctx context.Context, tx *storage.Tx, projectID, buildID int64, now time.Time) error {
	for _, owner := range []Owner{{ProjectID: &projectID}, {BuildID: &buildID}} {
		column, id := owner.column()
		var counted int64
		err := tx.GetContext(ctx, &counted, fmt.Sprintf(countPageInstall, column), id, now)
		err = storage.Wrap(err, "count an install")
		if err == nil {
			continue
		}
		if !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		var closed bool
		if err := tx.GetContext(ctx, &closed, fmt.Sprintf(pageBound, column), id, now); err != nil {
			return storage.Wrap(err, "read the limits of a page")
		}
		if closed {
			return &ClosedError{Reason: "this page lets no more installs through"}
		}
	}
	return nil
}
