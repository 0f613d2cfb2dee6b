package backup_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	. "github.com/slipway-qa/slipway/storage/backup"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

// TestAllObjectColumns writes a key into every column that looks like one of an object,
// and finds each in the snapshot's list.
func TestAllObjectColumns(t *testing.T) {
	t.Parallel()
	w := fixture.Empty(t)
	ctx := fixture.Context(t)
	var columns []struct {
		Table  string `db:"table_name"`
		Column string `db:"column_name"`
	}
	// A mail's icon is a file of a build too; what waits for its deletion is named by none.
	require.NoError(t, w.DB.SelectContext(ctx, &columns, `select table_name, column_name from information_schema.columns
		where table_schema = 'public' and data_type = 'text'
			and (column_name like '%object_key' or column_name in ('index_key', 'screenshot_key'))
		and table_name <> 'object_removals' order by 1, 2`))
	require.GreaterOrEqual(t, len(columns), 6)
	want := map[string]bool{}
	for i, c := range columns {
		key := fmt.Sprintf("k/%d", i)
		want[key] = true
		// A table with this column alone stands for it: what its rows need beside the key
		// is not the matter here.
		_, err := w.DB.ExecContext(ctx,
			fmt.Sprintf(`alter table %s rename to %[1]s_; create table %[1]s (%[2]s text); insert into %[1]s values ('%[3]s'), ('%[3]s'), ('')`,
				c.Table, c.Column, key))
		require.NoError(t, err)
	}
	s, err := Begin(ctx, w.DB)
	require.NoError(t, err)
	defer s.Close()
	require.NotEmpty(t, s.Snapshot)
	var got []string
	require.NoError(t, s.Keys(ctx, func(key string) error {
		got = append(got, key)
		return nil
	}))
	require.Len(t, got, len(want), "Keys names each object column of the schema, each key once; it named %v", got)
	for _, key := range got {
		require.True(t, want[key], key)
	}
	require.NoError(t, s.EndSnapshot(ctx))
}

func TestEmptyAndInUse(t *testing.T) {
	t.Parallel()
	w := fixture.Empty(t)
	ctx := fixture.Context(t)
	empty, err := Empty(ctx, w.DB)
	require.NoError(t, err)
	require.False(t, empty)
	_, err = w.DB.ExecContext(ctx, `drop schema public cascade; create schema public; create extension pg_trgm`)
	require.NoError(t, err)
	empty, err = Empty(ctx, w.DB)
	require.NoError(t, err)
	require.True(t, empty, "an extension is no table")
	names, err := InUse(ctx, w.DB)
	require.NoError(t, err)
	require.Empty(t, names)
}
