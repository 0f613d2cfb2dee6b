package build

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/announcement"
	"github.com/slipway-qa/slipway/storage/mail"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/letter"
	"github.com/slipway-qa/slipway/tasks/link"
)

func (w *world) notifier() *Notify {
	links := link.New("https://qa.example.com/")
	return &Notify{DB: w.db, Links: links, Letters: letter.New(letter.Config{Links: links})}
}

func (w *world) notify(build int64) uuid.UUID {
	return w.insert(tasks.NewBuildNotify(w.org, "request-1", build))
}

func TestNotify(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file, _ := w.newFile("apk")
	build := w.newBuild(w.project, file)
	w.testers(3)
	w.testers(2)
	w.exec(`update memberships set blocked_at = now() where user_id = (select min(user_id) from memberships)`)
	id := w.notify(build)
	n := w.notifier()
	claim := w.claim(tasks.BuildNotify, id)
	require.NoError(t, n.Handle(t.Context(), claim))
	require.Equal(t, NotifyResult{Mails: 4}, result[NotifyResult](w, id))
	require.ErrorIs(t, n.Handle(t.Context(), claim), storage.ErrStale)

	mails, total, err := mail.List(t.Context(), w.db, 100, 0)
	require.NoError(t, err)
	require.Equal(t, 4, total)
	people := map[string]bool{}
	for _, m := range mails {
		people[m.Recipient] = true
		require.Equal(t, "new-build", m.Kind)
		require.Equal(t, w.org, *m.OrganizationID)
		require.Equal(t, "Groupshot 2.1 (21) is ready to install", m.Subject)
		require.Contains(t, m.TextBody, "https://qa.example.com/invite/")
		require.Contains(t, m.TextBody, "Unsubscribe: https://qa.example.com/mail/unsubscribe/slp_mail_")
		whole, err := mail.ByID(t.Context(), w.db, m.ID)
		require.NoError(t, err)
		require.Contains(t, whole.HTMLBody, "<em>new</em>")
		require.EqualValues(t, 1, w.number(`select count(*) from tasks where kind = 'mail:send' and state = 'queued'
			and organization_id = $1 and request_id = 'request-1' and payload->>'mail_id' = $2`, w.org, m.ID.String()))
	}
	require.Len(t, people, 4)
	require.EqualValues(t, 4, w.number(`select count(*) from build_invites where status = 'sent' and build_id = $1`, build))

	// A second request sends again.
	second := w.notify(build)
	require.NoError(t, w.notifier().Handle(t.Context(), w.claim(tasks.BuildNotify, second)))
	require.EqualValues(t, 8, w.number(`select count(*) from mails`))
}

// Killed after a step, and taken by another worker: everybody gets one mail.
func TestNotifyResumes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file, _ := w.newFile("apk")
	build := w.newBuild(w.project, file)
	w.testers(notifyStep + 7)
	id := w.notify(build)
	n := w.notifier()
	first := w.claim(tasks.BuildNotify, id)

	// One step of the first attempt; then the row of its progress is lost, as if
	// the step had been done by a program that keeps none.
	b, err := distribution.BuildByID(t.Context(), w.db, w.org, 0, build)
	require.NoError(t, err)
	people, err := announcement.Recipients(t.Context(), w.db, build, 0, notifyStep)
	require.NoError(t, err)
	sum, err := n.step(t.Context(), first, b, people, NotifyResult{})
	require.NoError(t, err)
	require.Equal(t, NotifyResult{Mails: notifyStep, After: people[len(people)-1].UserID}, sum)

	second := w.reclaim(tasks.BuildNotify, id)
	require.NotNil(t, second.Tasks[0].Result, "the progress of the first attempt")
	_, err = n.step(t.Context(), first, b, people, sum)
	require.ErrorIs(t, err, storage.ErrStale)
	require.ErrorIs(t, n.Handle(t.Context(), first), storage.ErrStale)
	require.EqualValues(t, notifyStep, w.number(`select count(*) from mails`), "the lost claim wrote nothing")
	require.NoError(t, n.Handle(t.Context(), second))
	require.Equal(t, NotifyResult{Mails: notifyStep + 7}, result[NotifyResult](w, id))
	require.EqualValues(t, notifyStep+7, w.number(`select count(distinct recipient) from mails`))
	require.EqualValues(t, notifyStep+7, w.number(`select count(*) from mails`))
	require.EqualValues(t, notifyStep+7, w.number(`select count(*) from tasks where kind = 'mail:send'`))
}

// Without the progress, the keys of the mails keep them from being written twice.
func TestNotifyKnowsItsMails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file, _ := w.newFile("apk")
	build := w.newBuild(w.project, file)
	w.testers(5)
	id := w.notify(build)
	require.NoError(t, w.notifier().Handle(t.Context(), w.claim(tasks.BuildNotify, id)))
	w.exec(`update tasks set state = 'queued', result = null, finished_at = null where id = $1`, id)
	require.NoError(t, w.notifier().Handle(t.Context(), w.claim(tasks.BuildNotify, id)))
	require.EqualValues(t, 5, w.number(`select count(*) from mails`))
	require.EqualValues(t, 5, w.number(`select count(*) from tasks where kind = 'mail:send'`))
}

func TestNotifyOfWhatCannotBeInstalled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.testers(2)
	for change, reason := range map[string]string{
		`update builds set state = 'disabled' where id = $1`:                               "the build is disabled",
		`update builds set state = 'invalid', state_reason = 'no signature' where id = $1`: "no signature",
		`update builds set deleted_at = now() where id = $1`:                               reasonDeleted,
		`delete from builds where id = $1`:                                                 reasonDeleted,
	} {
		file, _ := w.newFile("apk")
		build := w.newBuild(w.project, file)
		w.exec(change, build)
		id := w.notify(build)
		require.NoError(t, w.notifier().Handle(t.Context(), w.claim(tasks.BuildNotify, id)))
		require.Equal(t, NotifyResult{Reason: reason}, result[NotifyResult](w, id), change)
	}
	require.Zero(t, w.number(`select count(*) from mails`))
}

// Another organization's task does not reach the build.
func TestNotifyStaysInItsOrganization(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file, _ := w.newFile("apk")
	build := w.newBuild(w.project, file)
	w.testers(1)
	other := w.number(`insert into organizations (uuid, slug, name) values ($1, 'two', 'Two') returning id`, uuid.New())
	id := w.insert(tasks.NewBuildNotify(other, "", build))
	require.NoError(t, w.notifier().Handle(t.Context(), w.claim(tasks.BuildNotify, id)))
	require.Equal(t, NotifyResult{Reason: reasonDeleted}, result[NotifyResult](w, id))
}

// One address that no mail can go to does not keep the others from theirs.
func TestNotifySkipsBrokenAddresses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file, _ := w.newFile("apk")
	build := w.newBuild(w.project, file)
	w.testers(3)
	w.exec(`update users set email = 'broken' || chr(10) || 'Bcc: x@example.org' where id = (select min(id) from users)`)
	id := w.notify(build)
	require.NoError(t, w.notifier().Handle(t.Context(), w.claim(tasks.BuildNotify, id)))
	require.Equal(t, NotifyResult{Mails: 2, Skipped: 1}, result[NotifyResult](w, id))
}

func TestNotifyRefusesNonsense(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.notify(0)
	require.True(t, tasks.IsPermanent(w.notifier().Handle(t.Context(), w.claim(tasks.BuildNotify, id))), fmt.Sprint(id))
}

// Who wants no mail, or cannot get any, is left out and counted.
func TestNotifyLeavesOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file, _ := w.newFile("apk")
	build := w.newBuild(w.project, file)
	w.testers(4)
	w.exec(`insert into mail_unsubscribes (organization_id, user_id) select organization_id, min(user_id) from memberships
		where role = 'tester' group by organization_id`)
	w.exec(`insert into mail_suppressions (organization_id, email, source) select $1, lower(email), 'smtp' from users
		where id = (select max(user_id) from memberships where role = 'tester')`, w.org)
	id := w.notify(build)
	require.NoError(t, w.notifier().Handle(t.Context(), w.claim(tasks.BuildNotify, id)))
	require.Equal(t, NotifyResult{Mails: 2, Unsubscribed: 1, Bounced: 1}, result[NotifyResult](w, id))
	require.EqualValues(t, 2, w.number(`select count(*) from build_invites where status = 'sent'`))
}

// A build that installs on registered devices alone: who has none is asked for one.
func TestNotifyAsksForDevices(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file, _ := w.newFile("ipa")
	build := w.newBuild(w.project, file)
	w.exec(`update builds set provisioning = '{"type": "ad-hoc", "devices": ["00008030-001A2B3C4D5E6F70"]}' where id = $1`, build)
	w.testers(3)
	w.exec(`insert into tester_devices (organization_id, user_id, udid, platform, source, verified)
		select organization_id, min(user_id), '00008030-001A2B3C4D5E6F70', 'ios', 'admin', 'none'
		from memberships where role = 'tester' group by organization_id`)
	id := w.notify(build)
	require.NoError(t, w.notifier().Handle(t.Context(), w.claim(tasks.BuildNotify, id)))
	require.Equal(t, NotifyResult{Mails: 1, Devices: 2}, result[NotifyResult](w, id))
	require.EqualValues(t, 2, w.number(`select count(*) from mails where kind = 'udid-needed' and text_body like '%/udid/register?build=%'`))
}
