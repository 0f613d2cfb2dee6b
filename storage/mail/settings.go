package mail

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// OrganizationName returns the name of an organization, as mail shows it.
func OrganizationName(ctx context.Context, q storage.Querier, organizationID int64) (string, error) {
	var name string
	err := q.GetContext(ctx, &name, `select name from organizations where id = $1`, organizationID)
	return name, storage.Wrap(err, "name of the organization")
}

// Settings are how an organization's mail is sent.
type Settings struct {
	// SenderName stands before the installation's sender address; "" for its own name.
	SenderName string `db:"sender_name"`
	ReplyTo    string `db:"reply_to"` // a mail address, or ""
	// RatePerMinute bounds the mails that are handed over; 0 for no limit of its own.
	RatePerMinute int `db:"rate_per_minute"`
	// The weekly digest, in UTC. Weekday 0 is Sunday. Without recipients it goes to
	// owners and admins.
	DigestEnabled    bool           `db:"digest_enabled"`
	DigestWeekday    int            `db:"digest_weekday"`
	DigestHour       int            `db:"digest_hour"`
	DigestRecipients pq.StringArray `db:"digest_recipients"`
}

const (
	maxRate             = 100_000
	maxSenderName       = 100
	maxDigestRecipients = 20
)

func defaultSettings() Settings { return Settings{DigestWeekday: 1, DigestHour: 8} }

const settingsOf = `
select sender_name, reply_to, rate_per_minute, digest_enabled, digest_weekday, digest_hour, digest_recipients
from mail_settings where organization_id = $1`

// SettingsOf reads the settings of an organization: the defaults where it has none.
func SettingsOf(ctx context.Context, q storage.Querier, organizationID int64) (Settings, error) {
	var s Settings
	err := storage.Wrap(q.GetContext(ctx, &s, settingsOf, organizationID), "mail settings")
	if errors.Is(err, storage.ErrNotFound) {
		return defaultSettings(), nil
	}
	return s, err
}

func (s *Settings) check() error {
	invalid := func(field, msg string) error { return &storage.InvalidError{Field: field, Msg: msg} }
	switch {
	case !printable(s.SenderName, maxSenderName):
		return invalid("sender_name", "must be one line of at most 100 characters")
	case s.ReplyTo != "" && account.CheckEmail(s.ReplyTo) != nil:
		return invalid("reply_to", "must be one mail address")
	case s.RatePerMinute < 0 || s.RatePerMinute > maxRate:
		return invalid("rate_per_minute", "must be 0 to 100000")
	case s.DigestWeekday < 0 || s.DigestWeekday > 6:
		return invalid("digest.weekday", "must be a day of the week")
	case s.DigestHour < 0 || s.DigestHour > 23:
		return invalid("digest.hour", "must be 0 to 23")
	case len(s.DigestRecipients) > maxDigestRecipients:
		return invalid("digest.recipients", "must be at most 20 mail addresses")
	}
	for _, email := range s.DigestRecipients {
		if account.CheckEmail(email) != nil {
			return invalid("digest.recipients", "must be mail addresses")
		}
	}
	return nil
}

const setSettings = `
insert into mail_settings (organization_id, sender_name, reply_to, rate_per_minute, digest_enabled, digest_weekday, digest_hour,
	digest_recipients, digest_due)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
on conflict (organization_id) do update set sender_name = excluded.sender_name, reply_to = excluded.reply_to,
	rate_per_minute = excluded.rate_per_minute, digest_enabled = excluded.digest_enabled, digest_weekday = excluded.digest_weekday,
	digest_hour = excluded.digest_hour, digest_recipients = excluded.digest_recipients, digest_due = excluded.digest_due, updated_at = now()`

// SetSettings stores the settings of an organization; *storage.InvalidError. The next
// digest is due at the first hour of the settings after now.
func SetSettings(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID int64, s Settings, now time.Time) error {
	s.SenderName = strings.TrimSpace(s.SenderName)
	if err := s.check(); err != nil {
		return err
	}
	s.DigestRecipients = once(s.DigestRecipients)
	var due *time.Time
	if s.DigestEnabled {
		next := NextDigest(s, now)
		due = &next
	}
	recipients := s.DigestRecipients
	if recipients == nil {
		recipients = pq.StringArray{}
	}
	_, err := tx.ExecContext(ctx, setSettings, organizationID, s.SenderName, s.ReplyTo, s.RatePerMinute, s.DigestEnabled, s.DigestWeekday,
		s.DigestHour, recipients, due)
	if err != nil {
		return storage.Wrap(err, "store mail settings")
	}
	return account.Audit(ctx, tx, account.Event{OrganizationID: organizationID, Type: account.MailSettingsChanged, Actor: actor,
		Subject: "mail settings", Detail: map[string]any{"sender_name": s.SenderName, "reply_to": s.ReplyTo,
			"rate_per_minute": s.RatePerMinute, "digest": map[string]any{"enabled": s.DigestEnabled, "weekday": s.DigestWeekday,
				"hour": s.DigestHour, "recipients": []string(recipients)}}})
}

// once returns addresses in their order, each once in whatever case.
func once(emails []string) []string {
	var list []string
	for _, email := range emails {
		if !slices.ContainsFunc(list, func(known string) bool { return strings.EqualFold(known, email) }) {
			list = append(list, email)
		}
	}
	return list
}

// NextDigest returns the first time after now at which a digest is due.
func NextDigest(s Settings, now time.Time) time.Time {
	now = now.UTC()
	at := time.Date(now.Year(), now.Month(), now.Day(), s.DigestHour, 0, 0, 0, time.UTC)
	at = at.AddDate(0, 0, (s.DigestWeekday-int(at.Weekday())+7)%7)
	if !at.After(now) {
		at = at.AddDate(0, 0, 7)
	}
	return at
}
