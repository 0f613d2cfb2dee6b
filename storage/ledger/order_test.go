package ledger_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// Claims that end wait for the first of their rows without holding a later one: who
// holds the first may want that one next.
func TestEndsLockInTheOrderOfIds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(f fixture, tokens []ledger.Token) error{
		"finish": func(f fixture, tokens []ledger.Token) error {
			return f.db.InTx(t.Context(), func(tx *storage.Tx) error { return ledger.Finish(t.Context(), tx, tokens, nil) })
		},
		"fail": func(f fixture, tokens []ledger.Token) error {
			_, err := f.Fail(t.Context(), tokens, "failed", false, time.Second)
			return err
		},
		"release": func(f fixture, tokens []ledger.Token) error {
			_, err := f.Release(t.Context(), tokens, 0)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			// In the table and in the claim the later one comes first.
			ids := []uuid.UUID{uuid.Must(uuid.NewV7()), uuid.Must(uuid.NewV7())}
			second := f.claim(t, f.insert(t, ledger.NewTask{ID: ids[1]}))
			first := f.claim(t, f.insert(t, ledger.NewTask{ID: ids[0]}))
			holder, err := f.db.BeginTxx(t.Context(), nil)
			require.NoError(t, err)
			defer func() { _ = holder.Rollback() }()
			_, err = holder.ExecContext(t.Context(), `select from tasks where id = $1 for update`, first.ID)
			require.NoError(t, err)
			ended := make(chan error, 1)
			go func() { ended <- end(f, []ledger.Token{second.Token(), first.Token()}) }()
			require.Eventually(t, func() bool {
				var waiting int
				err := f.db.GetContext(t.Context(), &waiting, `select count(*) from pg_locks where not granted
					and database = (select oid from pg_database where datname = current_database())
					or not granted and locktype = 'transactionid' and pid in (select pid from pg_stat_activity where datname = current_database())`)
				return err == nil && waiting > 0
			}, time.Minute, 5*time.Millisecond)
			_, err = holder.ExecContext(t.Context(), `select from tasks where id = $1 for update nowait`, second.ID)
			require.NoError(t, err)
			require.NoError(t, holder.Rollback())
			require.NoError(t, <-ended)
		})
	}
}
