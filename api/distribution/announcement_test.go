package distribution_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/mail"
)

// A preview of the mail says whom it reaches and what it says, by the organization's own
// template, and sends nothing.
func TestAnnouncement(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := w.build(func(u *distribution.Upload) { u.ReleaseNotes = "Faster cart." })
	path := p("/api/v3/builds/%d/notify-testers", up.Build.ID)
	preview := func() map[string]any { return w.ok(w.lead, 200, "GET", path, "")["preview"].(map[string]any) }
	got := preview()
	require.EqualValues(t, 0, got["recipients"])
	require.Empty(t, got["people"])
	require.Contains(t, got["text"], "Faster cart.")
	require.Contains(t, got["text"], base+"/install/"+up.Build.Token)

	testers := map[string]int64{}
	for _, name := range []string{"ann", "bo", "cy"} {
		testers[name] = w.person(w.ours, name, account.Tester).UserID
	}
	w.person(w.stranger.OrganizationID, "rival", account.Tester)
	_, err := w.db.ExecContext(t.Context(), `insert into mail_unsubscribes (organization_id, user_id) values ($1, $2)`, w.ours, testers["bo"])
	require.NoError(t, err)
	w.ok(w.owner, 200, "PUT", p("/api/v3/projects/%d", up.Project.ID), `{"all_testers":true}`)
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		return mail.SetTemplate(ctx, tx, account.CLI(), w.ours, &mail.Template{Kind: "new-build",
			Subject: "Try {{app}} {{version}}", Text: "Hello {{recipient}}.\n\n{{link}}"})
	})
	got = preview()
	require.EqualValues(t, 3, got["recipients"])
	require.Equal(t, true, got["recipients_exact"])
	people := got["people"].([]any)
	require.Equal(t, []any{"ann@example.com", "bo@example.com", "cy@example.com"}, names(people, "email"))
	require.Equal(t, []any{"new-build", "unsubscribed", "new-build"}, names(people, "outcome"))
	require.Equal(t, "Try GroupShot 1.2 (20)", got["subject"])
	require.Contains(t, got["text"], "Hello ann@example.com.")

	_, err = w.db.ExecContext(t.Context(),
		`update builds set kind = 'ipa', platform = 'iOS', provisioning = '{"type":"ad-hoc","devices":["00008030-0000000000000001"]}'
			where id = $1`, up.Build.ID)
	require.NoError(t, err)
	require.Equal(t, []any{"udid-needed", "unsubscribed", "udid-needed"}, names(preview()["people"].([]any), "outcome"))
	w.state(up.Build.ID, distribution.Disabled, "")
	require.Equal(t, "the build is disabled", preview()["refusal"])

	require.Equal(t, 0, w.count(`select count(*) from tasks where kind = 'build:notify'`))
	require.Equal(t, 0, w.count(`select count(*) from mails`))
	w.refused(w.stranger, 404, "GET", path, "")
	w.refused(w.member, 403, "GET", path, "")
	generic := w.build(func(u *distribution.Upload) { u.Package.Kind = artifact.AAB })
	require.Contains(t, w.ok(w.owner, 200, "GET", p("/api/v3/builds/%d/notify-testers", generic.Build.ID),
		"")["preview"].(map[string]any)["refusal"], "cannot be installed")
}
