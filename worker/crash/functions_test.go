package crash

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/tasks"
)

// Functions of the stack stand with the title of a new group, and those of an older one are
// read out of its newest report.
func TestFunctionsAreSearched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.accept(doc{function: "charge"}, doc{function: "refund"},
		doc{function: "given", more: `,"fingerprint":"` + strings.Repeat("A", 43) + `="`})
	w.process()
	text := func(function string) int64 {
		return w.number(`select count(*) from crash_group_titles t join crash_groups g on g.id = t.group_id
			where t.functions and t.text = concat_ws(E'\n', g.title, g.culprit, g.classifier, $1::text)`, "main."+function)
	}
	for _, function := range []string{"charge", "refund", "given"} {
		require.EqualValues(t, 1, text(function), function)
	}

	// Groups of before have no functions, and one of them has no report that is left.
	_, err := w.db.ExecContext(t.Context(),
		`update crash_group_titles t set functions = false, text = concat_ws(E'\n', g.title, g.culprit, g.classifier)
		from crash_groups g where g.id = t.group_id`)
	require.NoError(t, err)
	_, err = w.db.ExecContext(t.Context(), `delete from crashes c using crash_group_keys k join crash_groups g on g.id = k.group_id
		where k.id = c.key_id and g.culprit like '%refund%'`)
	require.NoError(t, err)
	handler := NewFunctions(w.store)
	pending, err := handler.Pending(t.Context())
	require.NoError(t, err)
	require.True(t, pending)
	task := tasks.NewMaintenance(tasks.CrashFunctions)
	w.insert(task)
	require.NoError(t, handler.Handle(bounded(t), w.claim(tasks.CrashFunctions, task.ID)))
	var sum FunctionsResult
	w.result(task.ID, &sum)
	require.Equal(t, 3, sum.Groups)
	require.EqualValues(t, 1, text("charge"))
	require.Zero(t, text("refund"))
	pending, err = handler.Pending(t.Context())
	require.NoError(t, err)
	require.False(t, pending, "each group is looked at once")
}
