package upload

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/gate"
	"github.com/slipway-qa/slipway/tasks"
)

// An upload says that its mail to testers waits for the gate, and so does one that is repeated.
func TestHeldNotification(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, nil)
	send := func(job, version string) map[string]any {
		t.Helper()
		status, out := w.post("/api/v3/builds/upload", map[string]string{"Idempotency-Key": job, "X-API-Key": w.boot.Owner.APIKey},
			textField("notify", "true"), file("file", "a.ipa", ipa("com.example.demo", version)))
		require.Equal(t, 201, status, out)
		return out
	}
	queued := send("job-1", "1")
	require.Equal(t, "queued", queued["notification"])
	require.NotEmpty(t, queued["task_id"])
	again := send("job-1", "1")
	require.Equal(t, []any{"queued", queued["task_id"]}, []any{again["notification"], again["task_id"]})
	w.exec(`update tasks set state = 'succeeded', finished_at = now() where kind = 'build:notify'`)
	require.Equal(t, "none", send("job-1", "1")["notification"], "it went out")

	most := int64(1)
	policy := gate.Policy{HoldNotifications: true, Conditions: []gate.Condition{{Name: "small", Type: gate.Size, MaxBytes: &most}}}
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		var project int64
		if err := tx.GetContext(ctx, &project, `select project_id from builds`); err != nil {
			return err
		}
		return gate.SavePolicy(ctx, tx, account.Writer{OrganizationID: w.boot.Organization.ID, AllTeams: true,
			Actor: account.Actor{Name: "owner"}}, project, &policy)
	})
	for _, attempt := range []string{"first", "repeated"} {
		held := send("job-2", "2")
		require.Equal(t, []any{"held", ""}, []any{held["notification"], held["task_id"]}, attempt)
		require.Contains(t, held["warnings"], warnHeld, attempt)
	}
	require.Equal(t, 1, w.count(`select count(*) from tasks where kind = $1`, tasks.BuildNotify.Name))
	require.Equal(t, 1, w.count(`select count(*) from gates where held_at is not null`))
}
