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
	"github.com/slipway-qa/slipway/storage/setting"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func changeSettings(f *fixture.Fixture, c setting.Change) {
	f.T.Helper()
	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := setting.Update(ctx, tx, account.CLI(), f.Org.ID, c)
		return err
	})
}

// folders lists the paths of a team's folders.
func folders(f *fixture.Fixture, team int64) (paths []string) {
	f.T.Helper()
	require.NoError(f.T, f.DB.SelectContext(testContext(f.T), &paths, `select path from folders where team_id = $1 order by path`, team))
	return paths
}
