package mail_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/mail"
)

// room is a database with two organizations.
type room struct {
	*testing.T
	db         *storage.DB
	org, other int64
}

func newRoom(t *testing.T) *room {
	r := &room{T: t, db: servicetest.DB(t)}
	for slug, id := range map[string]*int64{"acme": &r.org, "other": &r.other} {
		require.NoError(t, r.db.GetContext(testContext(t), id,
			`insert into organizations (uuid, slug, name) values ($1, $2, $2) returning id`, uuid.New(), slug))
	}
	return r
}

func (r *room) inTx(fn func(tx *storage.Tx) error) error { return r.db.InTx(testContext(r.T), fn) }

// sent stores a mail in a state.
func (r *room) sent(organization int64, recipient string, state mail.State) *mail.Mail {
	r.Helper()
	n := letter()
	n.OrganizationID, n.Recipient = organization, recipient
	id, err := mail.Insert(testContext(r.T), r.db, n)
	require.NoError(r, err)
	require.NoError(r, mail.SetState(testContext(r.T), r.db, id, state, ""))
	m, err := mail.ByID(testContext(r.T), r.db, id)
	require.NoError(r, err)
	return m
}

func (r *room) bounce(m *mail.Mail, recipient, status, detail string) (marked bool, err error) {
	err = r.inTx(func(tx *storage.Tx) (err error) {
		marked, err = mail.RecordBounce(testContext(r.T), tx, somebody(), mail.Bounce{MailID: m.ID, Recipient: recipient, Status: status,
			Detail: detail, Same: func(email string) bool { return strings.EqualFold(email, recipient) }})
		return err
	})
	return marked, err
}

func (r *room) audits(of account.AuditType) (n int) {
	r.Helper()
	require.NoError(r, r.db.GetContext(testContext(r.T), &n, `select count(*) from audit_events where type = $1`, of))
	return n
}

func (r *room) state(m *mail.Mail) mail.State {
	r.Helper()
	now, err := mail.ByID(testContext(r.T), r.db, m.ID)
	require.NoError(r, err)
	return now.State
}

func somebody() account.Actor { return account.Actor{Name: "somebody"} }

func TestBounceMarksTheAddress(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	m := r.sent(r.org, "Ann@example.org", mail.Sent)
	marked, err := r.bounce(m, "ann@EXAMPLE.org", "5.1.1", "no such user")
	require.NoError(t, err)
	require.True(t, marked)
	require.Equal(t, mail.Bounced, r.state(m))
	require.NoError(t, mail.SetStates(testContext(t), r.db, []mail.Change{{ID: m.ID, State: mail.Sent}}))
	require.Equal(t, mail.Bounced, r.state(m), "the sender's record comes later")

	_, err = r.bounce(m, "ann@example.org", "5.1.1", "again")
	require.NoError(t, err)
	require.Equal(t, 1, r.audits(account.MailSuppressionAdded), "marked once")
	people := []mail.Person{{Email: "bob@example.org"}, {Email: "ANN@example.org"}}
	for organization, want := range map[int64]map[int]string{r.org: {1: mail.ReasonBounced}, r.other: {}, 0: {}} {
		silent, err := mail.Silent(testContext(t), r.db, organization, people, true)
		require.NoError(t, err)
		require.Equal(t, want, silent)
	}
}

// What is forged, or says nothing about the address, marks nobody.
func TestBounceThatMarksNobody(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	m := r.sent(r.org, "ann@example.org", mail.Sent)
	_, err := r.bounce(m, "bob@example.org", "5.1.1", "")
	require.ErrorIs(t, err, storage.ErrNotFound, "not who it was sent to")
	_, err = r.bounce(&mail.Mail{ID: uuid.New()}, "ann@example.org", "5.1.1", "")
	require.ErrorIs(t, err, storage.ErrNotFound, "no such mail")
	for _, state := range []mail.State{mail.Kept, mail.Suppressed} {
		_, err = r.bounce(r.sent(r.org, "ann@example.org", state), "ann@example.org", "5.1.1", "")
		require.ErrorIs(t, err, storage.ErrNotFound, "never sent")
	}
	require.Equal(t, mail.Sent, r.state(m))
	for _, row := range [][2]string{{"5.2.2", "mailbox full"}, {"5.7.1", "policy"}, {"5.0.0", "550 relay not permitted"}, {"", ""}} {
		marked, err := r.bounce(r.sent(r.org, "ann@example.org", mail.Sent), "ann@example.org", row[0], row[1])
		require.NoError(t, err)
		require.False(t, marked, row)
	}
	marked, err := r.bounce(r.sent(0, "ann@example.org", mail.Sent), "ann@example.org", "5.1.1", "")
	require.NoError(t, err)
	require.False(t, marked, "mail of the installation")
	require.Zero(t, r.audits(account.MailSuppressionAdded))
	marked, err = r.bounce(r.sent(r.org, "ann@example.org", mail.Sent), "ann@example.org", "5.0.0", "550 Unrouteable address")
	require.NoError(t, err)
	require.True(t, marked)
}

func TestSuppressionsAreListedAndLifted(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	for i := range 3 {
		m := r.sent(r.org, fmt.Sprintf("Tester%d@example.org", i), mail.Failed)
		require.NoError(t, mail.Suppress(testContext(t), r.db, somebody(), mail.Refusal{Mail: m, Source: mail.BySMTP,
			Status: "5.1.1", Detail: "\xffno\x00"}))
	}
	list, total, err := mail.Suppressions(testContext(t), r.db, r.org, "", storage.Page{Limit: 2})
	require.NoError(t, err)
	require.Equal(t, 3, total)
	require.Equal(t, []string{"tester2@example.org", "tester1@example.org"}, []string{list[0].Email, list[1].Email}, "newest first")
	for search, want := range map[string]int{"TESTER1@": 1, "%": 0, "_": 0, "example": 3} {
		_, total, err = mail.Suppressions(testContext(t), r.db, r.org, search, storage.Page{Limit: 2})
		require.NoError(t, err)
		require.Equal(t, want, total, search)
	}
	_, total, err = mail.Suppressions(testContext(t), r.db, r.other, "", storage.Page{Limit: 2})
	require.NoError(t, err)
	require.Zero(t, total)
	lift := func(organization int64) error {
		return r.inTx(func(tx *storage.Tx) error {
			return mail.RemoveSuppression(testContext(t), tx, somebody(), organization, list[0].ID)
		})
	}
	require.ErrorIs(t, lift(r.other), storage.ErrNotFound)
	require.NoError(t, lift(r.org))
	require.ErrorIs(t, lift(r.org), storage.ErrNotFound)
	require.Equal(t, 1, r.audits(account.MailSuppressionRemoved))
	silent, err := mail.Silent(testContext(t), r.db, r.org, []mail.Person{{Email: "tester2@example.org"}}, false)
	require.NoError(t, err)
	require.Empty(t, silent)
}

func TestUnsubscribeIsOfOneOrganization(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	var ann int64
	require.NoError(t, r.db.GetContext(testContext(t), &ann,
		`insert into users (uuid, kind, username, email, name) values ($1, 'person', 'ann', 'ann@example.org', '') returning id`, uuid.New()))
	_, err := r.db.ExecContext(testContext(t), `insert into memberships (organization_id, user_id, role) values ($1, $2, 'tester')`,
		r.org, ann)
	require.NoError(t, err)
	set := func(organization int64, unsubscribed bool) error {
		return r.inTx(func(tx *storage.Tx) error {
			return mail.SetUnsubscribed(testContext(t), tx, somebody(), organization, ann, unsubscribed)
		})
	}
	silent := func(transactional bool) map[int]string {
		found, err := mail.Silent(testContext(t), r.db, r.org, []mail.Person{{UserID: ann, Email: "ann@example.org"},
			{Email: "ann@example.org"}}, transactional)
		require.NoError(t, err)
		return found
	}
	require.ErrorIs(t, set(r.other, true), storage.ErrNotFound, "no member")
	for range 2 {
		require.NoError(t, set(r.org, true))
	}
	require.Equal(t, 1, r.audits(account.TesterUnsubscribed), "what is so already is no change")
	require.Equal(t, map[int]string{0: mail.ReasonUnsubscribed}, silent(false))
	require.Empty(t, silent(true))
	for range 2 {
		require.NoError(t, set(r.org, false))
	}
	require.Equal(t, 1, r.audits(account.TesterSubscribed))
	require.Empty(t, silent(false))
}

func TestRateOfAMinute(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	take := func(scope int64, limit, wanted int) (granted int) {
		require.NoError(t, r.inTx(func(tx *storage.Tx) error {
			// The rest of the test is in one minute, whenever it runs.
			if _, err := tx.ExecContext(testContext(t),
				`update mail_rates set minute = date_trunc('minute', now()) where minute > now() - interval '5 minutes'`); err != nil {
				return err
			}
			n, wait, err := mail.TakeRate(testContext(t), tx, scope, limit, wanted)
			require.Positive(t, wait)
			require.LessOrEqual(t, wait, time.Minute)
			granted = n
			return err
		}))
		return granted
	}
	require.Equal(t, 7, take(r.org, 10, 7))
	require.Equal(t, 3, take(r.org, 10, 7))
	require.Zero(t, take(r.org, 10, 7))
	require.Zero(t, take(r.org, 5, 1), "a limit that was lowered")
	require.Equal(t, 1, take(r.other, 10, 1))
	_, err := r.db.ExecContext(testContext(t), `update mail_rates set minute = minute - interval '1 hour'`)
	require.NoError(t, err)
	require.Equal(t, 10, take(r.org, 10, 11), "another minute")
}

func TestDigestSettings(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	now := time.Date(2026, time.March, 2, 8, 0, 0, 0, time.UTC) // a Monday
	s, err := mail.SettingsOf(testContext(t), r.db, r.org)
	require.NoError(t, err)
	require.False(t, s.DigestEnabled)
	set := func(change func(*mail.Settings)) error {
		s := mail.Settings{DigestEnabled: true, DigestWeekday: 1, DigestHour: 8}
		change(&s)
		return r.inTx(func(tx *storage.Tx) error { return mail.SetSettings(testContext(t), tx, somebody(), r.org, s, now) })
	}
	for field, change := range map[string]func(*mail.Settings){
		"sender_name":       func(s *mail.Settings) { s.SenderName = "Acme\r\nBcc: all@example.org" },
		"reply_to":          func(s *mail.Settings) { s.ReplyTo = "a@example.org\r\nBcc: all@example.org" },
		"rate_per_minute":   func(s *mail.Settings) { s.RatePerMinute = -1 },
		"digest.weekday":    func(s *mail.Settings) { s.DigestWeekday = 7 },
		"digest.hour":       func(s *mail.Settings) { s.DigestHour = 24 },
		"digest.recipients": func(s *mail.Settings) { s.DigestRecipients = []string{"a@example.org, b@example.org"} },
	} {
		var bad *storage.InvalidError
		require.ErrorAs(t, set(change), &bad)
		require.Equal(t, field, bad.Field)
	}
	require.NoError(t, set(func(s *mail.Settings) {
		s.DigestRecipients = []string{"a@example.org", "b@example.org", "A@example.org"}
	}))
	claim := func(at time.Time) (due *mail.DueDigest, err error) {
		err = r.inTx(func(tx *storage.Tx) (err error) { due, err = mail.ClaimDigest(testContext(t), tx, at); return err })
		return due, err
	}
	next := now.AddDate(0, 0, 7)
	_, err = claim(next.Add(-time.Second))
	require.ErrorIs(t, err, storage.ErrNotFound)
	due, err := claim(next)
	require.NoError(t, err)
	require.Equal(t, r.org, due.OrganizationID)
	require.True(t, next.Equal(due.Due))
	require.Equal(t, []string{"a@example.org", "b@example.org"}, []string(due.DigestRecipients))
	require.NoError(t, set(func(s *mail.Settings) { s.DigestEnabled = false }))
	_, err = claim(next.AddDate(1, 0, 0))
	require.ErrorIs(t, err, storage.ErrNotFound, "off")
}

func TestNextDigest(t *testing.T) {
	t.Parallel()
	monday := time.Date(2026, time.March, 2, 8, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		weekday, hour int
		want          string
	}{{1, 8, "2026-03-09 08"}, {1, 9, "2026-03-02 09"}, {1, 7, "2026-03-09 07"}, {0, 0, "2026-03-08 00"}, {2, 23, "2026-03-03 23"}} {
		got := mail.NextDigest(mail.Settings{DigestWeekday: row.weekday, DigestHour: row.hour}, monday.In(time.FixedZone("far", 14*3600)))
		require.Equal(t, row.want, got.Format("2006-01-02 15"))
		require.Equal(t, time.UTC, got.Location())
	}
}
