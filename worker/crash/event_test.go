package crash

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/webhook"
)

// events returns the own members of the events of an action, oldest first.
func (w *world) events(t *testing.T, action webhook.Action) []map[string]any {
	t.Helper()
	var bodies []string
	require.NoError(t, w.db.SelectContext(t.Context(), &bodies, `select body from events where action = $1 order by id`, action))
	list := make([]map[string]any, len(bodies))
	for i, body := range bodies {
		require.NoError(t, json.Unmarshal([]byte(body), &list[i]))
	}
	return list
}

// Each crash is an event, and each group that is seen first or again after it was
// resolved; with the crashes, and for nobody when nobody wants them.
func TestEventsOfCrashes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.accept(doc{function: "before"})
	w.process()
	require.Zero(t, w.number(`select count(*) from events`), "no webhook wants it")
	_, err := w.db.ExecContext(t.Context(), `insert into webhooks (organization_id, name, url, actions, status, secret)
		values ($1, 'a', 'https://ci.example.invalid', '{crash,crash-group}', 'active', '')`, w.org)
	require.NoError(t, err)
	w.accept(doc{function: "f", attributes: `"version":"1","hostname":"h","email":"ann@example.com"`}, doc{function: "f"}, doc{function: "g"})
	w.process()
	crashes, groups := w.events(t, webhook.Crash), w.events(t, webhook.CrashGroup)
	require.Len(t, crashes, 3)
	require.Equal(t, []any{"E in main.f", "h", "ann@example.com", "1"},
		[]any{crashes[0]["crashMessage"], crashes[0]["deviceName"], crashes[0]["email"], crashes[0]["version"]})
	require.Len(t, groups, 2)
	for _, g := range groups {
		require.Equal(t, "new", g["change"])
	}
	w.accept(doc{function: "f"})
	w.process()
	require.Len(t, w.events(t, webhook.CrashGroup), 2, "a group that is known and open")
	require.Len(t, w.events(t, webhook.Crash), 4)

	_, err = w.db.ExecContext(t.Context(), `update crash_groups set state = 'resolved', resolved_at = $1 where id = $2`,
		time.Now().Add(-time.Hour), int64(groups[0]["groupId"].(float64)))
	require.NoError(t, err)
	w.accept(doc{function: "f"}, doc{function: "g"})
	w.process()
	groups = w.events(t, webhook.CrashGroup)
	require.Len(t, groups, 3)
	require.Equal(t, "regressed", groups[2]["change"])
	require.EqualValues(t, 9, w.number(`select count(*) from webhook_deliveries`))
	require.EqualValues(t, 1, w.number(`select count(*) from tasks where kind = $1`, webhook.TaskKind))
}
