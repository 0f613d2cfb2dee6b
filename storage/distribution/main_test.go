package distribution_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	. "github.com/slipway-qa/slipway/storage/distribution"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func changeSettings(f *fixture.Fixture, c SettingsChange) {
	f.T.Helper()
	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := ChangeSettings(ctx, tx, account.CLI(), f.Org.ID, c)
		return err
	})
}

// folders lists the paths of a team's folders.
func folders(f *fixture.Fixture, team int64) (paths []string) {
	f.T.Helper()
	require.NoError(f.T, f.DB.SelectContext(testContext(f.T), &paths, `select path from folders where team_id = $1 order by path`, team))
	return paths
}

// audited counts rows of the audit log.
func audited(f *fixture.Fixture, types account.AuditType) int {
	f.T.Helper()
	return f.Count(`select count(*) from audit_events where type = $1`, int(types))
}

// invalidField is the member that an *InvalidError names.
func invalidField(t *testing.T, err error) string {
	t.Helper()
	var bad *storage.InvalidError
	require.ErrorAs(t, err, &bad)
	return bad.Field
}

func ptr[T any](v T) *T { return &v }

// checkCounters compares each project's counters with its builds.
func checkCounters(f *fixture.Fixture) {
	f.T.Helper()
	require.Zero(f.T, f.Count(`select count(*) from projects p where p.deleted_at is null and (
		p.build_count <> (select count(*) from builds b where b.project_id = p.id and b.deleted_at is null)
		or coalesce(p.latest_build_id, 0) <> coalesce((select max(id) from builds b where b.project_id = p.id and b.deleted_at is null), 0))`))
}
