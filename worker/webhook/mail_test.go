package webhook_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/webhook"
	"github.com/slipway-qa/slipway/tasks/letter"
	"github.com/slipway-qa/slipway/tasks/link"
	workwebhook "github.com/slipway-qa/slipway/worker/webhook"
)

// A suspension is mailed to the owner and the admins, not to members, and the mail has
// no path of the address: chat services have their secret there.
func TestSuspensionIsMailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Org.NewUser("admin", account.Admin)
	links := link.New(fixture.PublicURL)
	w.deliver.Notify = workwebhook.NewMail(letter.New(letter.Config{Links: links}), links)
	to := newReceiver(t, func(rw http.ResponseWriter, _ *http.Request, _ int) { rw.WriteHeader(410) })
	hook := w.hook(to.URL+"/services/T0/s3cr3t", webhook.Change{})
	w.emit(webhook.Event{Action: webhook.Run})
	require.True(t, w.work(hook.ID))
	var recipients []string
	require.NoError(t, w.DB.SelectContext(fixture.Context(t), &recipients,
		`select recipient from mails where kind = 'webhook-suspended' order by recipient`))
	require.Equal(t, []string{"admin@acme.example.com", "owner@acme.example.com"}, recipients)
	require.Equal(t, 2, w.Count(`select count(*) from mails where text_body like '%410 Gone%' and text_body not like '%s3cr3t%'`))
	require.Equal(t, 2, w.Count(`select count(*) from tasks where kind like 'mail:%'`))
}
