package build

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/mail"
	"github.com/slipway-qa/slipway/storage/tester"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/letter"
	"github.com/slipway-qa/slipway/tasks/link"
)

func (w *world) mailer() *Mailing {
	links := link.New("https://qa.example.com/")
	return &Mailing{DB: w.db, Links: links, Letters: letter.New(letter.Config{Links: links})}
}

// mailing stores a mailing to all testers, who are invited to its build where it has one.
func (w *world) mailing(m tester.Mailing) (id int64) {
	w.t.Helper()
	require.NoError(w.t, w.db.SelectContext(w.t.Context(), &m.UserIDs, `select user_id from memberships
		where organization_id = $1 and role = 'tester' order by user_id desc`, w.org))
	m.OrganizationID = w.org
	require.NoError(w.t, w.db.InTx(w.t.Context(), func(tx *storage.Tx) (err error) {
		if m.BuildID != 0 {
			if err := tester.InviteAll(w.t.Context(), tx, w.org, m.BuildID, m.UserIDs, "owner"); err != nil {
				return err
			}
		}
		id, err = tester.InsertMailing(w.t.Context(), tx, m)
		return err
	}))
	return id
}

func TestInvitationMails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file, _ := w.newFile("apk")
	build := w.newBuild(w.project, file)
	w.testers(5)
	w.exec(`insert into mail_suppressions (organization_id, email, source)
		select m.organization_id, lower(u.email), 'smtp' from memberships m join users u on u.id = m.user_id order by u.id desc limit 1`)
	mailing := w.mailing(tester.Mailing{BuildID: build, Comment: "Please look at the camera."})
	// One has an address that bounced. Since the request one was blocked, one was removed,
	// and one's invitation revoked.
	w.exec(`update memberships set blocked_at = now() where user_id = (select min(user_id) from memberships)`)
	w.exec(`delete from memberships where user_id = (select min(user_id) + 1 from memberships)`)
	w.exec(`update build_invites set status = 'revoked' where user_id = (select min(user_id) + 2 from memberships)`)
	id := w.insert(tasks.NewBuildInvite(w.org, "request-1", mailing))
	claim := w.claim(tasks.BuildInvite, id)
	require.NoError(t, w.mailer().Handle(t.Context(), claim))
	require.Equal(t, NotifyResult{Mails: 1, Bounced: 1}, result[NotifyResult](w, id))
	require.EqualValues(t, 1, w.number(`select count(*) from build_invites where status = 'sent'`), "who got no mail was sent none")
	require.ErrorIs(t, w.mailer().Handle(t.Context(), claim), storage.ErrStale)

	mails, total, err := mail.List(t.Context(), w.db, 10, 0)
	require.NoError(t, err)
	require.Equal(t, 1, total)
	require.Equal(t, "invitation", mails[0].Kind)
	require.Contains(t, mails[0].TextBody, "Please look at the camera.")
	_, rest, found := strings.Cut(mails[0].TextBody, "https://qa.example.com/invite/")
	require.True(t, found, mails[0].TextBody)
	invite, err := tester.InviteBySecret(t.Context(), w.db, strings.Fields(rest)[0])
	require.NoError(t, err)
	require.Equal(t, mails[0].Recipient, invite.Email)
	require.Equal(t, tester.Sent, invite.Status)
	require.Zero(t, w.number(`select count(*) from tester_mailings`))
}

func TestInvitationMailsOfWhatCannotBeInstalled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.testers(2)
	for change, reason := range map[string]string{
		`update builds set state = 'disabled' where id = $1`: "the build is disabled",
		`update builds set deleted_at = now() where id = $1`: reasonDeleted,
		`delete from builds where id = $1`:                   reasonEnded,
	} {
		file, _ := w.newFile("apk")
		build := w.newBuild(w.project, file)
		mailing := w.mailing(tester.Mailing{BuildID: build})
		w.exec(change, build)
		id := w.insert(tasks.NewBuildInvite(w.org, "", mailing))
		require.NoError(t, w.mailer().Handle(t.Context(), w.claim(tasks.BuildInvite, id)))
		require.Equal(t, NotifyResult{Reason: reason}, result[NotifyResult](w, id), change)
	}
	require.Zero(t, w.number(`select count(*) from mails`))
}

// Killed after a step, and taken by another worker: everybody gets one mail.
func TestWelcomeResumes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.testers(notifyStep + 3)
	mailing := w.mailing(tester.Mailing{Groups: []string{"QA"}})
	id := w.insert(tasks.NewTesterWelcome(w.org, "request-1", mailing))
	first := w.claim(tasks.TesterWelcome, id)
	m := w.mailer()
	stored, err := tester.MailingByID(t.Context(), w.db, mailing)
	require.NoError(t, err)
	people := stored.After(0, notifyStep)
	sum, err := m.step(t.Context(), first, stored, m.welcome(stored), people, NotifyResult{})
	require.NoError(t, err)
	require.Equal(t, NotifyResult{Mails: notifyStep, After: people[notifyStep-1]}, sum)

	second := w.reclaim(tasks.TesterWelcome, id)
	require.ErrorIs(t, m.Handle(t.Context(), first), storage.ErrStale)
	require.NoError(t, m.Handle(t.Context(), second))
	require.Equal(t, NotifyResult{Mails: notifyStep + 3}, result[NotifyResult](w, id))
	require.EqualValues(t, notifyStep+3, w.number(`select count(distinct recipient) from mails where kind = 'welcome'`))
	require.EqualValues(t, notifyStep+3, w.number(`select count(*) from mails`))
	require.EqualValues(t, notifyStep+3, w.number(`select count(*) from tasks where kind = 'mail:send'`))
}

// Another organization's task does not reach a mailing, and nonsense is no retry.
func TestMailingStaysInItsOrganization(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.testers(1)
	mailing := w.mailing(tester.Mailing{})
	other := w.number(`insert into organizations (uuid, slug, name) values ($1, 'two', 'Two') returning id`, uuid.New())
	id := w.insert(tasks.NewTesterWelcome(other, "", mailing))
	require.NoError(t, w.mailer().Handle(t.Context(), w.claim(tasks.TesterWelcome, id)))
	require.Equal(t, NotifyResult{Reason: reasonEnded}, result[NotifyResult](w, id))
	id = w.insert(tasks.NewTesterWelcome(w.org, "", 0))
	require.True(t, tasks.IsPermanent(w.mailer().Handle(t.Context(), w.claim(tasks.TesterWelcome, id))))
	require.Zero(t, w.number(`select count(*) from mails`))
}
