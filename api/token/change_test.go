package token_test

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/token"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

// process is a cache with a listener, as one process has them. Its clock stands still, so
// that nothing ends by age.
type process struct {
	cache *token.Cache[crash.Token]
	db    *storage.DB
	asked atomic.Int64
}

func startProcess(t *testing.T, url, pool string) *process {
	t.Helper()
	p := &process{}
	open := func(url string) *storage.DB {
		db, err := storage.Open(storage.Config{URL: url, MaxConns: 4})
		require.NoError(t, err)
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	p.db = open(url)
	store, err := crash.New(p.db)
	require.NoError(t, err)
	now := time.Now()
	p.cache = token.NewCache(func(ctx context.Context, digest [32]byte) (*crash.Token, error) {
		p.asked.Add(1)
		return store.Token(ctx, digest)
	}, func() time.Time { return now })
	t.Cleanup(p.cache.Close)
	p.db.OnTokensChanged(func() { token.ForgetAll(p.cache) })
	listener, err := storage.NewListener(storage.Config{URL: url}, open(pool), token.Changes(p.cache), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); listener.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return p
}

func (p *process) knows(t *testing.T, digest [32]byte) bool {
	t.Helper()
	found, err := p.cache.Find(t.Context(), digest)
	require.NoError(t, err)
	return found != nil
}

// A token that ends is refused at once: where it was ended before that is answered, and
// elsewhere by the database's notification, without any age running out.
func TestEndedTokensAreForgotten(t *testing.T) {
	t.Parallel()
	url := servicetest.DatabaseURL(t)
	one, other := startProcess(t, url, url), startProcess(t, url, url)
	keys, err := account.NewIssuer("local", nil)
	require.NoError(t, err)
	boot, err := account.NewBootstrap(keys, "http://127.0.0.1:1")
	require.NoError(t, err)
	require.NoError(t, one.db.InTx(t.Context(), func(tx *storage.Tx) error {
		return crashproject.ApplyBootstrap(t.Context(),
			tx, boot, "local")
	}))
	var organization, project int64
	require.NoError(t, one.db.GetContext(t.Context(), &organization, `select organization_id from crash_projects limit 1`))
	require.NoError(t, one.db.GetContext(t.Context(), &project, `select id from crash_projects limit 1`))
	digests := func() (list [][32]byte, ids []int64) {
		for range 3 {
			require.NoError(t, one.db.InTx(t.Context(), func(tx *storage.Tx) error {
				row, secret, err := crashproject.CreateToken(t.Context(), tx, account.CLI(), keys,
					crashproject.NewToken{OrganizationID: organization, ProjectID: project, Name: "x"})
				if err == nil {
					list, ids = append(list, sha256.Sum256([]byte(secret.Text))), append(ids, row.ID)
				}
				return err
			}))
		}
		return list, ids
	}
	tokens, ids := digests()
	for _, p := range []*process{one, other} {
		for _, d := range tokens {
			require.True(t, p.knows(t, d))
		}
	}
	end := func(id int64) {
		require.NoError(t, one.db.InTx(t.Context(), func(tx *storage.Tx) error {
			return crashproject.RevokeToken(t.Context(), tx, account.CLI(), organization, id)
		}))
	}
	end(ids[0])
	require.False(t, one.knows(t, tokens[0]), "before the answer")
	require.Eventually(t, func() bool { return !other.knows(t, tokens[0]) }, time.Minute, time.Millisecond)
	require.True(t, one.knows(t, tokens[1]))

	// Also a token that ends without this program.
	_, err = one.db.ExecContext(t.Context(), `delete from crash_tokens where id = $1`, ids[1])
	require.NoError(t, err)
	for _, p := range []*process{one, other} {
		require.Eventually(t, func() bool { return !p.knows(t, tokens[1]) }, time.Minute, time.Millisecond)
	}

	// A connection that broke is found, and what ended meanwhile is forgotten.
	_, err = one.db.ExecContext(t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity
		where datname = current_database() and query like 'LISTEN%'`)
	require.NoError(t, err)
	end(ids[2])
	require.Eventually(t, func() bool { return !other.knows(t, tokens[2]) }, time.Minute, time.Millisecond)
}

// What a storage.Listener calls changes the age of tokens.
func TestAgeOfTokens(t *testing.T) {
	t.Parallel()
	now, asked := time.Unix(0, 0), 0
	cache := token.NewCache(func(context.Context, [32]byte) (*int, error) { asked++; return new(int), nil }, func() time.Time { return now })
	defer cache.Close()
	changes := token.Changes(cache)
	ask := func(after time.Duration) int {
		before := asked
		now = now.Add(after)
		_, err := cache.Find(t.Context(), [32]byte{})
		require.NoError(t, err)
		return asked - before
	}
	require.Equal(t, 1, ask(0))
	require.Equal(t, 0, ask(token.Unnotified-1))
	require.Equal(t, 1, ask(1), "notifications do not arrive yet")
	changes.Connected()
	require.Equal(t, 1, ask(0), "some may have been missed")
	require.Equal(t, 0, ask(token.Fresh-1))
	changes.Received("ff")
	require.Equal(t, 1, ask(0), "a payload of another version: all")
	changes.Received("0000000000000000000000000000000000000000000000000000000000000001")
	require.Equal(t, 0, ask(0), "another token")
	changes.Received("0000000000000000000000000000000000000000000000000000000000000000")
	require.Equal(t, 1, ask(0))
	changes.Lost("x")
	require.Equal(t, 1, ask(0))
	require.Equal(t, 1, ask(token.Unnotified))
}

// A token that ended is refused within two seconds, whatever became of the notification of it:
// it got lost while others arrive, or none arrive.
func TestEndedTokenIsRefusedInTime(t *testing.T) {
	t.Parallel()
	for name, state := range map[string]func(storage.Listening){
		"never":   func(storage.Listening) {},
		"arrive":  func(l storage.Listening) { l.Connected() },
		"stopped": func(l storage.Listening) { l.Connected(); l.Lost("x") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now, ended := time.Unix(0, 0), false
			cache := token.NewCache(func(context.Context, [32]byte) (*int, error) {
				if ended {
					return nil, storage.ErrNotFound
				}
				return new(int), nil
			}, func() time.Time { return now })
			defer cache.Close()
			state(token.Changes(cache))
			found, err := cache.Find(t.Context(), [32]byte{})
			require.NoError(t, err)
			require.NotNil(t, found)
			ended = true
			now = now.Add(2 * time.Second)
			found, err = cache.Find(t.Context(), [32]byte{})
			require.NoError(t, err)
			require.Nil(t, found)
		})
	}
}
