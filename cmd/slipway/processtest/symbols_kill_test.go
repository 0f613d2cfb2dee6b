package processtest

import (
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
)

// lateCrashes are read again in several steps of 200.
const lateCrashes = 410

// TestWorkersDieWithSymbols kills a worker while it writes the index of a mapping, and the
// next one while it reads the crashes again that lacked it, after some steps. The third has
// both done: no crash is lost, none is counted twice.
func TestWorkersDieWithSymbols(t *testing.T) {
	t.Parallel()
	c := newCluster(t, servicetest.DatabaseURL(t), servicetest.RedisURL(t))
	c.tier(t, "scheduler")
	_, at := c.api(t, quietPort(t))
	first, _ := c.tier(t, "worker")
	ids := postObfuscated(t, at, c.token)
	eventually(t, "all crashes lack the mapping", func() bool {
		return c.count(t, `select count(*) from crash_lacks`) == lateCrashes
	})

	files := hold(t, c, `lock table symbol_files in exclusive mode`)
	at.uploadSymbols(t, "mapping.txt", lateMapping)
	awaitBlocked(t, c, "symbol_files")
	first.kill()
	// The oldest crash is read again last.
	last := hold(t, c, `select 1 from crashes where id = (select id from crashes order by id limit 1) for update`)
	files()
	require.Zero(t, c.count(t, `select count(*) from symbol_files`), "what the dead worker wrote is undone")
	second, _ := c.tier(t, "worker")
	eventually(t, "some crashes are readable", func() bool { return c.count(t, readable) >= 200 })
	awaitBlocked(t, c, "")
	require.Equal(t, 1, c.count(t, `select count(*) from symbol_files`))
	require.NoError(t, second.cmd.Process.Signal(syscall.SIGKILL))
	<-second.ended
	require.Less(t, c.count(t, readable), lateCrashes)
	last()
	c.tier(t, "worker")
	eventually(t, "all crashes are readable", func() bool { return c.count(t, readable) == lateCrashes })
	eventually(t, "all tasks have succeeded", func() bool {
		return c.count(t, `select count(*) from tasks where state <> 'succeeded'`) == 0
	})

	for _, kind := range []string{"symbol:index", "crash:resymbolicate"} {
		require.GreaterOrEqual(t, c.count(t, `select attempt from tasks where kind = $1`, kind), 2, kind)
	}
	require.Equal(t, lateCrashes, c.count(t, `select (result->>'done')::int from tasks where kind = 'crash:resymbolicate'`))
	require.Equal(t, lateCrashes, c.count(t, `select count(*) from crashes where state = 'processed'`))
	require.Zero(t, c.count(t, `select count(*) from crash_lacks`))
	// Two bugs had one name: half of the crashes are of each.
	require.Equal(t, 2, c.count(t, `select count(*) from crash_groups where count > 0`))
	for what, query := range map[string]string{
		"groups":  `select count(*) from crash_groups where count = $1`,
		"crashes": `select count(*) from (select from crashes c join crash_group_keys k on k.id = c.key_id group by k.group_id having count(*) = $1) of`,
		"days":    `select count(*) from (select from crash_group_days group by group_id having sum(count) = $1) of`,
	} {
		require.Equal(t, 2, c.count(t, query, lateCrashes/2), what)
	}
	require.Contains(t, at.group(t, at.symbolicated(t, ids[0]).GroupID).Culprit, "shop.Cart")
}

const readable = `select count(*) from crash_symbolications where state = 'complete'`

// postObfuscated posts the crashes, every other one of another bug, and returns their ids.
func postObfuscated(t *testing.T, at caller, token string) []uuid.UUID {
	t.Helper()
	ids := make([]uuid.UUID, lateCrashes)
	for i := range ids {
		ids[i] = at.post(t, token, obfuscated(1+i%2, `"symbolication_id":"5f0c1ab"`))
	}
	return ids
}

// hold runs a statement that takes a lock; the function that it returns lets it go.
func hold(t *testing.T, c *cluster, statement string) func() {
	t.Helper()
	tx, err := c.db.BeginTxx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), statement)
	require.NoError(t, err)
	return func() { require.NoError(t, tx.Rollback()) }
}

// awaitBlocked waits until a worker waits inside a transaction, in a statement with these
// words.
func awaitBlocked(t *testing.T, c *cluster, words string) {
	t.Helper()
	eventually(t, "the worker waits inside its transaction", func() bool {
		return c.count(t, `select count(*) from pg_stat_activity
			where application_name = 'slipway-worker' and wait_event_type = 'Lock' and datname = current_database()
			and strpos(query, $1) > 0`, words) > 0
	})
}
