package need_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/crashtest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/need"
	"github.com/slipway-qa/slipway/storage/symbol"
)

// room is the fixture of the tests here.
type room struct{ *crashtest.Room }

func open(t *testing.T) *room {
	t.Helper()
	return &room{crashtest.Open(t)}
}

// lacking is a crash that lacks modules by their names.
func (r *room) lacking(modules ...string) crash.Crash {
	return r.Made(func(c *crash.Crash) {
		c.Symbols = &crash.Symbolication{State: crash.SymbolsMissing, Missing: len(modules)}
		for _, name := range modules {
			c.Symbols.Needs = append(c.Symbols.Needs, need.Need{Kind: "native", Name: name,
				LookedFor: []symbol.Identifier{{Type: symbol.CodeID, Value: fmt.Sprintf("%x", name)}}})
		}
	})
}

func (r *room) count(table string) (n int) {
	require.NoError(r.T, r.DB.GetContext(r.T.Context(), &n, `select count(*) from `+table))
	return n
}

// needs returns the ids of needs by their names.
func (r *room) needs(names ...string) (ids []int64) {
	for _, name := range names {
		var id int64
		require.NoError(r.T, r.DB.GetContext(r.T.Context(), &id, `select id from symbol_needs where name = $1`, name))
		ids = append(ids, id)
	}
	return ids
}

// newestFirst returns the ids of crashes in the order in which they are read again.
func newestFirst(crashes ...crash.Crash) (ids []uuid.UUID) {
	for i := range crashes {
		ids = append(ids, crashes[i].ID)
	}
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return slices.Compare(b[:], a[:]) })
	return ids
}

func TestNeedSets(t *testing.T) {
	t.Parallel()
	r := open(t)
	both := []crash.Crash{r.lacking("a", "b"), r.lacking("b", "a"), r.lacking("a", "b")}
	one := r.lacking("a")
	r.Record(both[0], both[1], one)
	r.Record(both[2])
	require.Equal(t, 2, r.count("crash_need_sets"), "the same files are one set, in any order")
	require.Equal(t, 3, r.count("crash_need_set_members"))
	require.Zero(t, r.count("crash_needs"))
	require.Equal(t, 7, r.count("crash_lacks"))

	all := newestFirst(both[0], both[1], both[2], one)
	got, err := need.Crashes(t.Context(), r.DB, r.needs("a"), uuid.Max, 10)
	require.NoError(t, err)
	require.Equal(t, all, got)
	// In steps, each before the last of the one before.
	var steps []uuid.UUID
	for before := uuid.Max; ; before = steps[len(steps)-1] {
		step, err := need.Crashes(t.Context(), r.DB, r.needs("a", "b"), before, 1)
		require.NoError(t, err)
		if len(step) == 0 {
			break
		}
		steps = append(steps, step...)
	}
	require.Equal(t, all, steps)
	n, err := need.Count(t.Context(), r.DB, r.needs("b"), uuid.Max)
	require.NoError(t, err)
	require.Equal(t, 3, n)

	// What is read again and lacks less has another set, or none.
	again := one
	again.Symbols = &crash.Symbolication{State: crash.SymbolsComplete}
	less := r.lacking("b")
	less.ID, less.UUID = both[0].ID, both[0].UUID
	r.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := crash.ReadAgain(ctx, tx, r.Org.ID, []crash.Crash{again, less})
		return err
	})
	got, err = need.Crashes(t.Context(), r.DB, r.needs("a"), uuid.Max, 10)
	require.NoError(t, err)
	require.Equal(t, newestFirst(both[1], both[2]), got)
	require.Equal(t, 2, r.count("crash_need_sets"), "of a and b, and of b; that of a went with its last crash")
}

func TestNeedsWithoutSets(t *testing.T) {
	t.Parallel()
	r := open(t)
	first := r.lacking("a", "b")
	r.Record(first)
	_, err := r.DB.ExecContext(t.Context(), `insert into crash_need_sets (crash_project_id, digest)
		select crash_project_id, sha256(n::text::bytea) from crash_need_sets, generate_series(1, 19999) n`)
	require.NoError(t, err)
	beyond, known := r.lacking("a", "c"), r.lacking("a", "b")
	r.Record(beyond, known)
	require.Equal(t, 20_000, r.count("crash_need_sets"), "the bound")
	require.Equal(t, 2, r.count("crash_needs"), "one by one")
	got, err := need.Crashes(t.Context(), r.DB, r.needs("a", "c"), uuid.Max, 10)
	require.NoError(t, err)
	require.Equal(t, newestFirst(first, beyond, known), got)

	// Sets that no crash has make room.
	expire := func() {
		for after := int64(0); ; {
			var last int64
			r.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
				last, err = need.ExpireSets(ctx, tx, after, 7000)
				return err
			})
			if last == 0 {
				return
			}
			after = last
		}
	}
	expire()
	require.Equal(t, 1, r.count("crash_need_sets"))
	r.Record(r.lacking("a", "c"))
	require.Equal(t, 2, r.count("crash_need_sets"))

	// Age takes all.
	r.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := tx.ExecContext(ctx, `delete from crash_symbolications`)
		return err
	})
	r.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := tx.ExecContext(ctx, `delete from crash_needs`)
		return err
	})
	r.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := need.Expire(ctx, tx, time.Now().Add(time.Hour), 0, 10)
		return err
	})
	require.Zero(t, r.count("symbol_needs"))
	require.Zero(t, r.count("crash_need_sets"), "sets go with their needs")
}
