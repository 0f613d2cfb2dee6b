package build

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/mail"
	"github.com/slipway-qa/slipway/tasks"
)

func (w *world) maintain(u *Maintenance) (uuid.UUID, error) {
	w.t.Helper()
	id := w.insert(tasks.NewMaintenance(tasks.BuildMaintenance))
	err := u.Handle(w.t.Context(), w.claim(tasks.BuildMaintenance, id))
	if err != nil {
		w.exec(`update tasks set state = 'dead', finished_at = now() where id = $1`, id)
	}
	return id, err
}

func TestMaintenance(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file, _ := w.newFile("ipa")
	ended, valid := w.newBuild(w.project, file), w.newBuild(w.project, file)
	w.exec(`update builds set expires_at = now() - interval '1 minute' where id = $1`, ended)
	w.exec(`update builds set expires_at = now() + interval '1 day' where id = $1`, valid)
	// More than one statement deletes, and what is younger.
	w.exec(`insert into idempotency_keys (organization_id, operation, key, created_at)
		select $1, 'upload', n, now() - interval '25 hours' from generate_series(1, $2) n`, w.org, maintenanceStep+5)
	w.exec(`insert into idempotency_keys (organization_id, operation, key, created_at)
		values ($1, 'upload', 'young', now() - interval '23 hours')`, w.org)
	w.testers(1)
	for _, age := range []string{"1 hour", "-1 hour"} {
		w.exec(`insert into page_sessions (digest, organization_id, user_id, expires_at)
			select sha256($1::text::bytea), organization_id, user_id, now() - $1::interval from memberships`, age)
		w.exec(`insert into mails (id, kind, recipient, subject, text_body, created_at)
			values ($1, 'new-build', 'a@example.org', 's', 't', now() - interval '30 days' - $2::interval)`, uuid.New(), age)
	}
	left := int64(2*maintenanceStep + 1)
	further := Step{Name: "tokens", Run: func(_ context.Context, limit int) (int64, error) {
		n := min(left, int64(limit))
		left -= n
		return n, nil
	}}
	u, err := NewMaintenance(w.db, DefaultKeepMail, further)
	require.NoError(t, err)
	id, err := w.maintain(u)
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"builds_expired": 1, "idempotency_keys": maintenanceStep + 5, "sessions": 1,
		"mails": 1, "tokens": 2*maintenanceStep + 1},
		result[map[string]int64](w, id))
	require.EqualValues(t, valid, w.number(`select id from builds where state = 'enabled'`))
	require.EqualValues(t, 1, w.number(`select count(*) from builds where state = 'certificate_expired'`))
	require.EqualValues(t, 1, w.number(`select count(*) from idempotency_keys where key = 'young'`))
	require.EqualValues(t, 1, w.number(`select count(*) from page_sessions`))
	_, total, err := mail.List(t.Context(), w.db, 10, 0)
	require.NoError(t, err)
	require.Equal(t, 1, total)

	id, err = w.maintain(u)
	require.NoError(t, err)
	for name, n := range result[map[string]int64](w, id) {
		require.Zero(t, n, name)
	}

	id = w.insert(tasks.NewMaintenance(tasks.BuildMaintenance))
	first := w.claim(tasks.BuildMaintenance, id)
	second := w.reclaim(tasks.BuildMaintenance, id)
	require.ErrorIs(t, u.Handle(t.Context(), first), storage.ErrStale)
	require.NoError(t, u.Handle(t.Context(), second))
}

// A step that fails keeps none from running, and the task from succeeding.
func TestMaintenanceGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ran bool
	u, err := NewMaintenance(w.db, time.Hour,
		Step{"broken", func(context.Context, int) (int64, error) { return maintenanceStep, errors.New("no table") }},
		Step{"sound", func(context.Context, int) (int64, error) { ran = true; return 0, nil }})
	require.NoError(t, err)
	_, err = w.maintain(u)
	require.ErrorContains(t, err, "broken: no table")
	require.True(t, ran)
}

func TestNewMaintenanceRefuses(t *testing.T) {
	t.Parallel()
	run := func(context.Context, int) (int64, error) { return 0, nil }
	for _, further := range [][]Step{{{"", run}}, {{"x", nil}}, {{"mails", run}}, {{"x", run}, {"x", run}}} {
		_, err := NewMaintenance(nil, time.Hour, further...)
		require.Error(t, err)
	}
	_, err := NewMaintenance(nil, 0)
	require.Error(t, err)
}
