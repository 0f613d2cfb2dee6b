package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every operation that changes something writes an entry of the audit log, in all
// interfaces. A new route needs a line in surfaceChanges: a valid request with the action
// that it writes, or the reason why it writes none.
//
// On its way the walk reads what there is to read, and holds all of it against api/examples.
func TestEveryChangingRouteIsAudited(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	walk := newExampleWalk(w)
	done := map[string]bool{}
	for i, r := range surfaceChanges() {
		name := r.method + " " + r.pattern()
		done[name] = true
		if r.before != nil {
			r.before(w)
		}
		from := w.one(`select coalesce(max(id), 0)::text from audit_events`)
		code, answer := w.send(r)
		if code != r.want {
			t.Errorf("%s: %d, not %d: %.600s", name, code, r.want, answer)
			continue
		}
		w.keep(r.save, answer)
		require.NotEqual(t, r.wrote == "", r.unaudited == "", "%s needs an action or a reason", name)
		var wrote []string
		require.NoError(t, w.db.SelectContext(t.Context(), &wrote,
			`select action from audit_events where id > $1::bigint and actor not in ('retention', 'upgrade')`, from))
		if r.unaudited != "" {
			assert.Empty(t, wrote, "%s is in the table as one that writes nothing", name)
		} else {
			assert.Contains(t, wrote, r.wrote, name)
		}
		walk.read(i)
	}
	walk.end()
	var missing []string
	for _, name := range w.changing() {
		if !done[name] && surfaceElsewhere()[name] == "" {
			missing = append(missing, name)
		}
	}
	require.Empty(t, missing, "routes without a line in surfaceChanges")
	known := w.changing()
	for name := range done {
		if !strings.HasPrefix(name, "GET ") {
			require.True(t, slices.Contains(known, name), "%s is no route", name)
		}
	}
	require.Equal(t, "0", w.one(`select count(*)::text from audit_events where detail::text || subject like '%slp\_%'`), "no key in the log")
}
