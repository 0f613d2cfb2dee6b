package signing_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/commitstatus"
	"github.com/slipway-qa/slipway/storage/environment"
	"github.com/slipway-qa/slipway/storage/rows"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/setting"
	. "github.com/slipway-qa/slipway/storage/signing"
	"github.com/slipway-qa/slipway/storage/webhook"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

func ringOf(t *testing.T, current, older string) seal.Ring {
	t.Helper()
	ring, err := seal.NewRing(current, older)
	require.NoError(t, err)
	return ring
}

// The key of the fixture, and the one after it.
var (
	first  = strings.Repeat("k", 32)
	second = strings.Repeat("2", 40)
	third  = strings.Repeat("3", 40)
)

func TestRegister(t *testing.T) {
	t.Parallel()
	w := fixture.Empty(t)
	ctx := fixture.Context(t)
	require.NoError(t, Register(ctx, w.DB, nil), "no key, and none in use")
	require.NoError(t, Register(ctx, w.DB, ringOf(t, first, "")))
	require.NoError(t, Register(ctx, w.DB, ringOf(t, first, "")))

	var mismatch *MismatchError
	err := Register(ctx, w.DB, ringOf(t, second, ""))
	require.ErrorAs(t, err, &mismatch)
	for _, part := range []string{"SLIPWAY_SIGNING_KEY", "SLIPWAY_SIGNING_KEYS_OLD",
		seal.Fingerprint([]byte(first))[:8], seal.Fingerprint([]byte(second))[:8]} {
		require.Contains(t, err.Error(), part)
	}
	require.NotContains(t, err.Error(), first)
	require.NotContains(t, err.Error(), seal.Fingerprint([]byte(first)))
	require.ErrorAs(t, Register(ctx, w.DB, nil), &mismatch, "a process without a key")

	require.NoError(t, Register(ctx, w.DB, ringOf(t, second, first)), "the key changes")
	require.ErrorAs(t, Register(ctx, w.DB, ringOf(t, first, "")), &mismatch, "a process that knows the key of before only")
	require.NoError(t, Register(ctx, w.DB, ringOf(t, first, second)))
}

// TestRegisterBefore is about a database of before fingerprints were stored.
func TestRegisterBefore(t *testing.T) {
	t.Parallel()
	w := fixture.NewTests(t)
	ctx := fixture.Context(t)
	_, err := w.Tunnel(w.Org.Owner.Writer, "office", "http://user:secret@proxy.example.com:3128")
	require.NoError(t, err)
	var mismatch *MismatchError
	require.ErrorAs(t, Register(ctx, w.DB, ringOf(t, second, "")), &mismatch)
	require.ErrorContains(t, mismatch, "opens none of them")
	require.NoError(t, Register(ctx, w.DB, ringOf(t, second, first)))
}

// secrets writes some of each kind, and returns what reads them all.
func secrets(t *testing.T, w *fixture.Tests, n int) (read func(seal.Ring) error) {
	t.Helper()
	by := w.Org.Owner.Writer
	sealed := func(of seal.Purpose, text string) []byte {
		b, err := seal.Seal(fixture.SealKey, of, text)
		require.NoError(t, err)
		return b
	}
	var hooks []int64
	c := w.NewCase(by, "log in")
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		data, err := rows.Seal(fixture.SealKey, &rows.Data{Columns: []string{"password"}, Rows: [][]string{{"value of a row"}},
			Secret: []string{"password"}})
		require.NoError(t, err)
		_, err = rows.Insert(ctx, tx, w.Org.ID, c.ID, data)
		return err
	})
	key, err := seal.Unseal(fixture.SealKey, seal.DataKey, keyOfRows(t, w))
	require.NoError(t, err)
	suite := w.NewSuite(by, "smoke", c.ID)
	for i := range n {
		given, err := run.SealVariables(fixture.SealKey, map[string]string{"password": fmt.Sprintf("given %d", i)})
		require.NoError(t, err)
		started, err := w.TrySuiteRun(by, run.NewSuiteRun{SuiteID: suite.ID, BuildName: fmt.Sprint(i), Inputs: run.Inputs{Variables: given}})
		require.NoError(t, err)
		w.Exec(`insert into suite_logins (suite_run_id, key, sealed) values ($1, $2, $3)`, started.ID, fmt.Sprint(i),
			sealed(seal.Login, fmt.Sprintf("left %d", i)))
		w.Must(func(ctx context.Context, tx *storage.Tx) error {
			revision, err := authoring.RevisionByID(ctx, tx, c.ID, "")
			if err != nil {
				return err
			}
			_, err = run.Start(ctx, tx, by, run.NewRun{Case: c, Revision: revision, BuildName: fmt.Sprint(i), Targets: fixture.Targets(1),
				Inputs: run.Inputs{Variables: given}})
			return err
		})
		_, err = w.Tunnel(by, fmt.Sprintf("office %d", i), fmt.Sprintf("http://user:secret%d@proxy.example.com:3128", i))
		require.NoError(t, err)
		w.Variable(by, authoring.NewVariable{Scope: "org", Name: fmt.Sprintf("password%d", i), Value: fmt.Sprintf("value %d", i), IsSecret: true})
		w.Must(func(ctx context.Context, tx *storage.Tx) error {
			_, err := environment.Create(ctx, tx, by, fixture.SealKey, environment.New{Name: fmt.Sprintf("environment-%d", i),
				Change: environment.Change{Secrets: map[string]*string{"password": fixture.Ptr(fmt.Sprintf("of environment %d", i))}}})
			return err
		})
		w.Must(func(ctx context.Context, tx *storage.Tx) error {
			name, url := fmt.Sprintf("hook %d", i), "https://hooks.example.com/"
			hook, err := webhook.Create(ctx, tx, by, webhook.V3(), webhook.Change{Name: &name, URL: &url}, sealed(seal.Webhook, "own "+name))
			if err != nil {
				return err
			}
			hooks = append(hooks, hook.ID)
			_, err = tx.ExecContext(ctx, `update webhooks set former_secret = $2, former_until = now() + interval '1 day' where id = $1`,
				hook.ID, sealed(seal.Webhook, "former "+name))
			return err
		})
	}
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		return setting.SetConnection(ctx, tx, by.Actor, w.Org.ID, setting.Connection{Kind: "http",
			Endpoint: "https://storage.example.com/", AccessKey: "a", Secret: sealed(seal.Connection, "storage secret")})
	})
	app := w.App("com.example.shop").Project.ID
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := commitstatus.Save(ctx, tx, by, commitstatus.Setting{ProjectID: app, Provider: commitstatus.GitHub,
			URL:        "https://api.github.com",
			Repository: "acme/app", Context: "gate", Token: sealed(seal.CommitStatus, "status token")})
		return err
	})
	return func(ring seal.Ring) error {
		ctx := fixture.Context(t)
		conn, err := setting.ConnectionOf(ctx, w.DB, w.Org.ID)
		require.NoError(t, err)
		var wrong []error
		same := func(of seal.Purpose, sealed []byte, want string) {
			text, err := seal.Unseal(ring, of, sealed)
			if err == nil && text != want {
				err = fmt.Errorf("%q instead of %q", text, want)
			}
			wrong = append(wrong, err)
		}
		same(seal.Connection, conn.Secret, "storage secret")
		status, err := commitstatus.ForProject(ctx, w.DB, by, app)
		require.NoError(t, err)
		same(seal.CommitStatus, status.Token, "status token")
		for i := range n {
			var b []byte
			require.NoError(t, w.DB.GetContext(ctx, &b, `select sealed from tunnels where name = $1`, fmt.Sprintf("office %d", i)))
			same(seal.Tunnel, b, fmt.Sprintf("http://user:secret%d@proxy.example.com:3128", i))
			require.NoError(t, w.DB.GetContext(ctx, &b, `select sealed from test_variables where name = $1`, fmt.Sprintf("password%d", i)))
			same(seal.Variable, b, fmt.Sprintf("value %d", i))
			require.NoError(t, w.DB.GetContext(ctx, &b, `select sealed from test_environments where name = $1`, fmt.Sprintf("environment-%d", i)))
			same(seal.Environment, b, fmt.Sprintf(`{"variables":{"password":"of environment %d"}}`, i))
			require.NoError(t, w.DB.GetContext(ctx, &b, `select secret from webhooks where id = $1`, hooks[i]))
			same(seal.Webhook, b, fmt.Sprintf("own hook %d", i))
			require.NoError(t, w.DB.GetContext(ctx, &b, `select former_secret from webhooks where id = $1`, hooks[i]))
			same(seal.Webhook, b, fmt.Sprintf("former hook %d", i))
			require.NoError(t, w.DB.GetContext(ctx, &b, `select sealed from suite_logins where key = $1`, fmt.Sprint(i)))
			same(seal.Login, b, fmt.Sprintf("left %d", i))
			for _, table := range []string{"test_runs", "suite_runs"} {
				require.NoError(t, w.DB.GetContext(ctx, &b, `select sealed_variables from `+table+` where build_name = $1`, fmt.Sprint(i)))
				same(seal.RunVariables, b, fmt.Sprintf(`{"password":"given %d"}`, i))
			}
		}
		same(seal.DataKey, keyOfRows(t, w), key)
		return errors.Join(wrong...)
	}
}

// keyOfRows returns the sealed key of the only data rows.
func keyOfRows(t *testing.T, w *fixture.Tests) (sealed []byte) {
	t.Helper()
	require.NoError(t, w.DB.GetContext(fixture.Context(t), &sealed, `select sealed_key from test_data`))
	return sealed
}

func TestRekey(t *testing.T) {
	t.Parallel()
	w := fixture.NewTests(t)
	read := secrets(t, w, 5)
	ring := ringOf(t, second, first)
	require.NoError(t, Register(t.Context(), w.DB, ringOf(t, first, "")))

	// It is killed after its third transaction, in the middle of a kind.
	killed, kill := context.WithCancel(fixture.Context(t))
	transactions := 0
	_, err := Rekey(killed, w.DB, Rekeying{Ring: ring, Batch: 2, Progress: func(Sealed) {
		if transactions++; transactions == 3 {
			kill()
		}
	}})
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, read(ring), "in the middle, both keys are needed")
	require.ErrorIs(t, read(seal.Ring{ring[0]}), seal.ErrUnseal)
	require.ErrorIs(t, read(seal.Ring{ring[1]}), seal.ErrUnseal)

	report, err := Rekey(fixture.Context(t), w.DB, Rekeying{Ring: ring, Batch: 2})
	require.NoError(t, err)
	sum := 0
	for _, kind := range report.Kinds {
		sum += kind.Rekeyed
		require.Zero(t, kind.Unreadable, kind.Kind)
	}
	require.Greater(t, sum, 0)
	require.Less(t, sum, 43, "what the killed one had done is not done again")
	require.NoError(t, read(seal.Ring{ring[0]}))
	require.Equal(t, []string{StateCurrent, StateDroppable}, []string{report.Keys[0].State, report.Keys[1].State})
	require.Equal(t, 43, report.Keys[0].Rows)
	require.NoError(t, Register(fixture.Context(t), w.DB, ringOf(t, second, "")), "the old key may be dropped")

	again, err := Rekey(fixture.Context(t), w.DB, Rekeying{Ring: ring})
	require.NoError(t, err)
	for _, kind := range again.Kinds {
		require.Zero(t, kind.Rekeyed, kind.Kind)
	}
}

// TestRekeyKeepsNeeded has a secret that cannot be written anew, since it is locked in a
// state that a process with the old key wrote after rekey's last look.
func TestRekeyKeepsNeeded(t *testing.T) {
	t.Parallel()
	w := fixture.NewTests(t)
	ctx := fixture.Context(t)
	secrets(t, w, 1)
	require.NoError(t, Register(ctx, w.DB, ringOf(t, first, "")))
	late := false
	report, err := Rekey(ctx, w.DB, Rekeying{Ring: ringOf(t, second, first), Progress: func(n Sealed) {
		if n.Kind == "former webhook secrets" && !late {
			late = true
			_, err := w.Tunnel(w.Org.Owner.Writer, "late", "http://late.example.com:3128")
			require.NoError(t, err)
		}
	}})
	require.NoError(t, err)
	require.Equal(t, StateNeeded, report.Keys[1].State)
	require.Equal(t, 1, report.Keys[1].Rows)
	var mismatch *MismatchError
	require.ErrorAs(t, Register(ctx, w.DB, ringOf(t, second, "")), &mismatch)
}

// TestUnreadable has a row that no key opens: it stays, and is counted.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	w := fixture.NewTests(t)
	ctx := fixture.Context(t)
	secrets(t, w, 2)
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := tx.ExecContext(ctx,
			`update tunnels set sealed = set_byte(sealed, length(sealed) - 1, get_byte(sealed, length(sealed) - 1) # 1) where name = 'office 0'`)
		return err
	})
	require.NoError(t, Register(ctx, w.DB, ringOf(t, first, "")))
	report, err := Rekey(ctx, w.DB, Rekeying{Ring: ringOf(t, third, first), Batch: 1})
	require.NoError(t, err)
	for _, kind := range report.Kinds {
		if kind.Kind == "tunnels" {
			require.Equal(t, Sealed{Kind: "tunnels", Rekeyed: 1, Unreadable: 1}, kind)
		}
	}
}

// TestLostKey goes on without the key of before: what it sealed is lost.
func TestLostKey(t *testing.T) {
	t.Parallel()
	w := fixture.NewTests(t)
	ctx := fixture.Context(t)
	secrets(t, w, 1)
	require.NoError(t, Register(ctx, w.DB, ringOf(t, first, "")))
	var mismatch *MismatchError
	_, err := Rekey(ctx, w.DB, Rekeying{Ring: ringOf(t, third, "")})
	require.ErrorAs(t, err, &mismatch)
	report, err := Rekey(ctx, w.DB, Rekeying{Ring: ringOf(t, third, ""), Lost: true})
	require.NoError(t, err)
	unreadable := 0
	for _, kind := range report.Kinds {
		unreadable += kind.Unreadable
	}
	require.Equal(t, 11, unreadable)
	require.NoError(t, Register(ctx, w.DB, ringOf(t, third, "")))
}

// TestAllSealedColumns finds a column with secrets that rekey does not know.
func TestAllSealedColumns(t *testing.T) {
	t.Parallel()
	w := fixture.NewTests(t)
	secrets(t, w, 1)
	var columns []struct {
		Table  string `db:"table_name"`
		Column string `db:"column_name"`
	}
	require.NoError(t, w.DB.SelectContext(t.Context(), &columns, `select table_name, column_name from information_schema.columns
		where table_schema = 'public' and data_type = 'bytea' and (column_name like '%seal%' or column_name like '%secret%')
		and table_name <> 'installation'`))
	require.NotEmpty(t, columns)
	_, err := Rekey(fixture.Context(t), w.DB, Rekeying{Ring: ringOf(t, second, first)})
	require.NoError(t, err)
	mark := ringOf(t, second, "").Mark()
	for _, c := range columns {
		var all, anew int
		require.NoError(t, w.DB.GetContext(t.Context(), &all, fmt.Sprintf(`select count(*) from %s where %s is not null`, c.Table, c.Column)))
		require.NoError(t, w.DB.GetContext(t.Context(), &anew,
			fmt.Sprintf(`select count(*) from %s where substring(%s from 1 for %d) = $1`, c.Table, c.Column, len(mark)), mark))
		require.Greater(t, all, 0, "%s.%s: the test writes a secret to it", c.Table, c.Column)
		require.Equal(t, all, anew, "%s.%s", c.Table, c.Column)
	}
}
