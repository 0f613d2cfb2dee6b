package webhook_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/webhook"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

func hook(f *fixture.Fixture, o *fixture.Organization, projects []int64, actions ...string) *webhook.Webhook {
	f.T.Helper()
	name, url, active := "hook", "https://ci.example.invalid/x", webhook.Active
	var made *webhook.Webhook
	f.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		made, err = webhook.Create(ctx, tx, o.Owner.Writer, webhook.V3(), webhook.Change{Name: &name, URL: &url, Status: &active,
			Actions: &actions, ProjectIDs: &projects}, []byte("sealed"))
		return err
	})
	return made
}

func emit(f *fixture.Fixture, events ...webhook.Event) {
	f.T.Helper()
	f.Must(func(ctx context.Context, tx *storage.Tx) error { return webhook.Emit(ctx, tx, events...) })
}

func deliveriesOf(f *fixture.Fixture, w *webhook.Webhook) int {
	f.T.Helper()
	return f.Count(`select count(*) from webhook_deliveries where webhook_id = $1`, w.ID)
}

func TestWhoGetsAnEvent(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	project := f.Upload(f.NewUpload(fixture.APK("com.example.shop", "1.2", "12"))).Project.ID
	other := f.Upload(f.NewUpload(fixture.APK("com.example.other", "1", "1"))).Project.ID
	all := hook(f, f.Org, nil, "upload", "run", "new-udid")
	limited := hook(f, f.Org, []int64{project}, "upload", "run", "new-udid")
	none := hook(f, f.Org, nil)
	rival := hook(f, f.Rival, nil, "upload", "run", "new-udid")
	emit(f, webhook.Event{OrganizationID: f.Org.ID, Action: webhook.Upload, ProjectID: project},
		webhook.Event{OrganizationID: f.Org.ID, Action: webhook.Upload, ProjectID: other},
		webhook.Event{OrganizationID: f.Org.ID, Action: webhook.Run},
		webhook.Event{OrganizationID: f.Org.ID, Action: webhook.NewUDID},
		webhook.Event{OrganizationID: f.Org.ID, Action: webhook.Crash})
	require.Equal(t, []int{4, 2, 0, 0}, []int{deliveriesOf(f, all), deliveriesOf(f, limited), deliveriesOf(f, none), deliveriesOf(f, rival)})
	require.Equal(t, 2, f.Count(`select count(*) from tasks where kind = $1`, webhook.TaskKind), "one for each webhook")
	require.Equal(t, 4, f.Count(`select count(*) from events`), "what nobody wants is not written")
}

func TestKeysAndRollback(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	w := hook(f, f.Org, nil, "run")
	e := webhook.Event{OrganizationID: f.Org.ID, Action: webhook.Run, Key: "run 1", Data: map[string]string{"name": "a\x00b"}}
	emit(f, e)
	emit(f, e)
	require.Equal(t, 1, deliveriesOf(f, w))
	require.ErrorIs(t, f.Do(func(ctx context.Context, tx *storage.Tx) error {
		e.Key = "run 2"
		if err := webhook.Emit(ctx, tx, e); err != nil {
			return err
		}
		return storage.ErrConflict
	}), storage.ErrConflict)
	require.Equal(t, 1, deliveriesOf(f, w), "an event goes with its cause")
	emit(f)
}

// A storm of crashes makes sixty events in a minute; the webhook says how many were left
// out. Minutes may change in the middle of the test, which makes twice as many.
func TestStorm(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	w := hook(f, f.Org, nil, "crash", "run")
	for range 10 {
		events := []webhook.Event{{OrganizationID: f.Org.ID, Action: webhook.Run}}
		for range 50 {
			events = append(events, webhook.Event{OrganizationID: f.Org.ID, Action: webhook.Crash})
		}
		emit(f, events...)
	}
	crashes := f.Count(`select count(*) from webhook_deliveries where action = 'crash'`)
	require.Contains(t, []int{60, 120}, crashes)
	require.Equal(t, 500-crashes, f.Count(`select skipped from webhooks where id = $1`, w.ID))
	require.Equal(t, 10, f.Count(`select count(*) from webhook_deliveries where action = 'run'`))
}

// Downloads from an open page need no account: a script makes no more of them than a
// thousand in a minute, and what an organization does itself is not counted.
func TestVisitorsAreBounded(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	first, second := hook(f, f.Org, nil, "download", "upload"), hook(f, f.Org, nil, "download")
	for range 3 {
		var events []webhook.Event
		for range 700 {
			events = append(events, webhook.Event{OrganizationID: f.Org.ID, Action: webhook.Download},
				webhook.Event{OrganizationID: f.Org.ID, Action: webhook.Upload})
		}
		emit(f, events...)
	}
	require.Equal(t, 2100, f.Count(`select count(*) from webhook_deliveries where action = 'upload'`))
	for _, w := range []*webhook.Webhook{first, second} {
		downloads := f.Count(`select count(*) from webhook_deliveries where action = 'download' and webhook_id = $1`, w.ID)
		require.Contains(t, []int{1000, 1700, 1400}, downloads, "more where the minute changed meanwhile")
		require.Equal(t, 2100-downloads, f.Count(`select skipped from webhooks where id = $1`, w.ID))
	}
}
