package letter_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/mail"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/letter"
	"github.com/slipway-qa/slipway/tasks/link"
	"github.com/slipway-qa/slipway/tasks/mailtemplate"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

// world is a database with two organizations and a tester, ann, of both.
type world struct {
	t          *testing.T
	ctx        context.Context
	db         *storage.DB
	writer     *letter.Writer
	org, other int64
	ann        int64
}

func newWorld(t *testing.T) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	t.Cleanup(cancel)
	w := &world{t: t, ctx: ctx, db: servicetest.DB(t), writer: letter.New(letter.Config{Links: link.New("https://qa.example.com")})}
	get := func(into *int64, query string, args ...any) {
		require.NoError(t, w.db.GetContext(ctx, into, query, args...))
	}
	get(&w.org, `insert into organizations (uuid, slug, name) values ($1, 'acme', 'Acme QA') returning id`, uuid.New())
	get(&w.other, `insert into organizations (uuid, slug, name) values ($1, 'other', 'Other') returning id`, uuid.New())
	get(&w.ann, `insert into users (uuid, kind, username, email, name) values ($1, 'person', 'ann', 'ann@example.org', '')
		returning id`, uuid.New())
	w.exec(`insert into memberships (organization_id, user_id, role) select id, $1, 'tester' from organizations`, w.ann)
	return w
}

func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	_, err := w.db.ExecContext(w.ctx, query, args...)
	require.NoError(w.t, err)
}

func (w *world) write(letters ...letter.Letter) []letter.Outcome {
	w.t.Helper()
	var outcomes []letter.Outcome
	require.NoError(w.t, w.db.InTx(w.ctx, func(tx *storage.Tx) (err error) {
		outcomes, err = w.writer.WriteAll(w.ctx, tx, letters)
		return err
	}))
	return outcomes
}

func (w *world) read(id uuid.UUID) *mail.Mail {
	w.t.Helper()
	m, err := mail.ByID(w.ctx, w.db, id)
	require.NoError(w.t, err)
	return m
}

func (w *world) count(query string, args ...any) (n int) {
	w.t.Helper()
	require.NoError(w.t, w.db.GetContext(w.ctx, &n, query, args...))
	return n
}

func (w *world) newBuild(recipient string) letter.Letter {
	return letter.Letter{OrganizationID: w.org, UserID: w.ann, Recipient: recipient, RequestID: "r",
		Content: mailtemplate.NewBuild{App: "Groupshot", Version: "1.0", Link: "https://qa.example.com/install/x"}}
}

func TestLettersBecomeMailsWithTasks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := w.newBuild("ann@example.org")
	one.DedupeKey = "build 1 to ann"
	broken := w.newBuild("ann@example.org\r\nBcc: all@example.org")
	outcomes := w.write(one, broken, one, w.newBuild("x+y@bücher.example"))
	require.Equal(t, letter.Outcome{Reason: letter.Invalid}, outcomes[1])
	require.Equal(t, letter.Outcome{Reason: letter.Duplicate}, outcomes[2])
	require.Empty(t, outcomes[0].Reason+outcomes[3].Reason)
	require.Equal(t, []letter.Outcome{{Reason: letter.Duplicate}}, w.write(one), "an event is written of once")
	for _, i := range []int{0, 3} {
		require.Equal(t, 1, w.count(`select count(*) from tasks where kind = $1 and state = 'queued' and organization_id = $2
			and payload->>'mail_id' = $3`, tasks.MailSend.Name, w.org, outcomes[i].ID.String()))
	}
	require.Equal(t, 2, w.count(`select count(*) from tasks`))
	m := w.read(outcomes[0].ID)
	require.Equal(t, []any{w.org, w.ann, mail.Queued}, []any{*m.OrganizationID, *m.UserID, m.State})
	require.Contains(t, m.Subject, "Groupshot")

	urgent := letter.Letter{OrganizationID: w.org, Recipient: "ann@example.org", Urgent: true,
		Content: mailtemplate.SignIn{Link: "https://qa.example.com/s", Minutes: 15}}
	id := w.write(urgent)[0].ID
	require.Equal(t, 1, w.count(`select count(*) from tasks where kind = $1 and payload->>'mail_id' = $2`, tasks.MailUrgent.Name, id.String()))
}

// The cause is rolled back: neither mail nor task is left.
func TestLettersBelongToTheirCause(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.ErrorIs(t, w.db.InTx(w.ctx, func(tx *storage.Tx) error {
		id, err := w.writer.Write(w.ctx, tx, w.newBuild("ann@example.org"))
		require.NoError(t, err)
		require.NotEqual(t, uuid.Nil, id)
		return context.Canceled
	}), context.Canceled)
	require.Zero(t, w.count(`select (select count(*) from mails) + (select count(*) from tasks)`))
}

func TestLettersOfSeveralKindsAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	foreign, second := w.newBuild("ann@example.org"), w.newBuild("ann@example.org")
	foreign.OrganizationID = w.other
	second.Content = mailtemplate.Welcome{Link: "https://qa.example.com"}
	for _, other := range []letter.Letter{foreign, second} {
		require.Error(t, w.db.InTx(w.ctx, func(tx *storage.Tx) error {
			_, err := w.writer.WriteAll(w.ctx, tx, []letter.Letter{w.newBuild("ann@example.org"), other})
			return err
		}))
	}
	require.Empty(t, w.write())
}

// Who unsubscribed gets what they need to sign in; a marked address gets nothing. Both
// hold in their organization alone.
func TestLettersLeavePeopleOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	set := func(unsubscribed bool) {
		require.NoError(t, w.db.InTx(w.ctx, func(tx *storage.Tx) error {
			return mail.SetUnsubscribed(w.ctx, tx, account.Actor{Name: "ann"}, w.org, w.ann, unsubscribed)
		}))
	}
	signIn := w.newBuild("ann@example.org")
	signIn.Content = mailtemplate.SignIn{App: "Groupshot", Link: "https://qa.example.com/s", Minutes: 15}
	elsewhere := w.newBuild("ann@example.org")
	elsewhere.OrganizationID = w.other

	set(true)
	require.Equal(t, letter.Unsubscribed, w.write(w.newBuild("ann@example.org"))[0].Reason)
	require.Empty(t, w.write(signIn)[0].Reason)
	require.Empty(t, w.write(elsewhere)[0].Reason)
	set(false)
	require.Empty(t, w.write(w.newBuild("ann@example.org"))[0].Reason)

	w.exec(`insert into mail_suppressions (organization_id, email, source) values ($1, 'ann@example.org', 'smtp')`, w.org)
	require.Equal(t, letter.Bounced, w.write(w.newBuild("Ann@Example.ORG"))[0].Reason)
	require.Equal(t, letter.Bounced, w.write(signIn)[0].Reason)
	require.Empty(t, w.write(elsewhere)[0].Reason)
}

func TestUnsubscribeLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.read(w.write(w.newBuild("ann@example.org"))[0].ID)
	token, found := strings.CutPrefix(m.Unsubscribe, "https://qa.example.com/mail/unsubscribe/")
	require.True(t, found, m.Unsubscribe)
	require.Contains(t, m.TextBody, m.Unsubscribe)
	secret, err := account.InstallationSecret(w.ctx, w.db)
	require.NoError(t, err)
	organization, user, err := letter.ReadUnsubscribeToken(secret, token)
	require.NoError(t, err)
	require.Equal(t, []int64{w.org, w.ann}, []int64{organization, user})

	signIn := w.newBuild("ann@example.org")
	signIn.Content = mailtemplate.SignIn{Link: "https://qa.example.com/s", Minutes: 15}
	require.Empty(t, w.read(w.write(signIn)[0].ID).Unsubscribe, "transactional")
	nobody := w.newBuild("list@example.org")
	nobody.UserID = 0
	require.Empty(t, w.read(w.write(nobody)[0].ID).Unsubscribe, "an address without a person")
}

func TestUnsubscribeTokens(t *testing.T) {
	t.Parallel()
	secret := []byte("secret of the installation")
	token := letter.UnsubscribeToken(secret, 7, 19)
	organization, user, err := letter.ReadUnsubscribeToken(secret, token)
	require.NoError(t, err)
	require.Equal(t, []int64{7, 19}, []int64{organization, user})
	require.NotEqual(t, token, letter.UnsubscribeToken(secret, 19, 7))
	_, _, err = letter.ReadUnsubscribeToken([]byte("another secret"), token)
	require.ErrorIs(t, err, storage.ErrNotFound)
	prefix := len("slp_mail_")
	for i := prefix; i < len(token)-1; i++ { // the last character has bits that are not used
		other := byte('A')
		if token[i] == other {
			other = 'B'
		}
		_, _, err := letter.ReadUnsubscribeToken(secret, token[:i]+string(other)+token[i+1:])
		require.ErrorIs(t, err, storage.ErrNotFound, i)
	}
	for _, bad := range []string{"", "slp_mail_", token[prefix:], token + "A", token + "\n", token[:len(token)-1],
		strings.Repeat("A", 1<<20)} {
		_, _, err := letter.ReadUnsubscribeToken(secret, bad)
		require.ErrorIs(t, err, storage.ErrNotFound, "%.60q", bad)
	}
}

// An organization's template is used, unless it is broken or makes too much of long notes.
func TestOwnTemplate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := func(subject, text string) {
		require.NoError(t, w.db.InTx(w.ctx, func(tx *storage.Tx) error {
			return mail.SetTemplate(w.ctx, tx, account.Actor{Name: "test"}, w.org, &mail.Template{Kind: mailtemplate.KindNewBuild,
				Subject: subject, Text: text})
		}))
	}
	subject := func(notes string) string {
		l := w.newBuild("ann@example.org")
		l.Content = mailtemplate.NewBuild{App: "Groupshot", Version: "1.0", Link: "https://qa.example.com/install/x",
			Notes: mailtemplate.NewNotes(notes)}
		outcome := w.write(l)[0]
		require.Empty(t, outcome.Reason)
		return w.read(outcome.ID).Subject
	}
	builtIn := subject("")
	own("Ours: {{app}}", "{{link}}\n"+strings.Repeat("{{notes}}\n\n", 100))
	require.Equal(t, "Ours: Groupshot", subject("short"))
	require.Equal(t, builtIn, subject(strings.Repeat("long <notes> ", 2000)))
	own("Ours: {{app}} {{nothing}}", "{{link}}")
	require.Equal(t, builtIn, subject(""))
}
