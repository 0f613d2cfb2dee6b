package authoring_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	. "github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
)

// within puts a tool into shadow roots and frames.
func within(tool step.Tool, types ...string) step.Tool {
	for _, name := range types {
		inner := tool
		tool = step.Tool{Type: name, Args: step.Args{Selector: &step.Selector{Type: step.CSS, Value: "#around"}, Tool: &inner}}
	}
	return tool
}

func TestAddFingerprints(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	click := func(f *step.Fingerprint) step.Tool {
		return step.Tool{Type: step.Click, Args: step.Args{Selector: &step.Selector{Type: step.CSS, Value: "#a", Fingerprint: f}}}
	}
	n := loginCase("a", 1)
	n.Revision.Steps = []step.Step{
		{ID: "s1", Tool: click(nil)},
		{ID: "s2", Tool: click(&step.Fingerprint{Tag: "button", Text: "kept"})},
		{ID: "s3", Tool: within(click(nil), step.InShadowRoot, step.InFrame)},
		{ID: "s4", Tool: step.Tool{Type: step.Pause, Args: step.Args{Time: ptr(5)}}},
		{ID: "s5", Tool: click(nil)},
		{ID: "s6", Tool: click(nil)},
	}
	c, err := w.tryCase(w.w, n)
	require.NoError(t, err)
	v, err := RevisionByID(testContext(t), w.db, c.ID, "")
	require.NoError(t, err)
	add := func(id string, of map[string]step.Fingerprint) {
		w.must(func(ctx context.Context, tx *storage.Tx) error { return AddFingerprints(ctx, tx, id, of) })
	}
	of := map[string]step.Fingerprint{"s1": {Text: "one"}, "s2": {Text: "two"}, "s3": {Text: "three"}, "s4": {Text: "four"},
		"s5": {Text: strings.Repeat("x", 17<<10)}, "s6": {Text: "\x00"}, "s9": {Text: "none"}}
	add(v.ID, of)
	after, err := RevisionByID(testContext(t), w.db, c.ID, "")
	require.NoError(t, err)
	want := n.Revision.Steps
	want[0].Tool = click(&step.Fingerprint{Text: "one"})
	want[2].Tool = within(click(&step.Fingerprint{Text: "three"}), step.InShadowRoot, step.InFrame)
	require.Equal(t, want, after.Steps)

	version := func() int { return w.count(`select xmin::text::int from test_revisions where id = $1`, v.ID) }
	before := version()
	add(v.ID, of)
	add(v.ID, nil)
	require.Equal(t, before, version(), "what is there already writes nothing")
	add(strings.Repeat("0", 24), of) // gone
	add("", of)
}

// Only the newest revisions are read, oldest first.
func TestRevisionsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newCase(w.w, "a")
	w.exec(`insert into test_revisions (id, case_id, number, steps) select lpad(to_hex(i), 24, '0'), $1, i, '[]' from generate_series(2, $2::int) i`,
		c.ID, MaxRevisions+5)
	list, err := Revisions(testContext(t), w.db, c.ID)
	require.NoError(t, err)
	require.Len(t, list, MaxRevisions)
	require.Equal(t, 6, list[0].Number)
	require.Equal(t, MaxRevisions+5, list[MaxRevisions-1].Number)
	last, err := RevisionByID(testContext(t), w.db, c.ID, "")
	require.NoError(t, err)
	require.Equal(t, list[MaxRevisions-1], *last)
}
