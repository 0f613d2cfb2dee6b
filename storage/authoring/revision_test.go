package authoring_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
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
	w := open(t)
	click := func(f *step.Fingerprint) step.Tool {
		return step.Tool{Type: step.Click, Args: step.Args{Selector: &step.Selector{Type: step.CSS, Value: "#a", Fingerprint: f}}}
	}
	n := fixture.LoginCase("a", 1)
	n.Revision.Steps = []step.Step{
		{ID: "s1", Tool: click(nil)},
		{ID: "s2", Tool: click(&step.Fingerprint{Tag: "button", Text: "kept"})},
		{ID: "s3", Tool: within(click(nil), step.InShadowRoot, step.InFrame)},
		{ID: "s4", Tool: step.Tool{Type: step.Pause, Args: step.Args{Time: fixture.Ptr(5)}}},
		{ID: "s5", Tool: click(nil)},
		{ID: "s6", Tool: click(nil)},
	}
	c, err := w.TryCase(w.Org.Member.Writer, n)
	require.NoError(t, err)
	v, err := authoring.RevisionByID(fixture.Context(t), w.DB, c.ID, "")
	require.NoError(t, err)
	add := func(id string, of map[string]step.Fingerprint) {
		w.Must(func(ctx context.Context, tx *storage.Tx) error { return authoring.AddFingerprints(ctx, tx, id, of) })
	}
	of := map[string]step.Fingerprint{"s1": {Text: "one"}, "s2": {Text: "two"}, "s3": {Text: "three"}, "s4": {Text: "four"},
		"s5": {Text: strings.Repeat("x", 17<<10)}, "s6": {Text: "\x00"}, "s9": {Text: "none"}}
	add(v.ID, of)
	after, err := authoring.RevisionByID(fixture.Context(t), w.DB, c.ID, "")
	require.NoError(t, err)
	want := n.Revision.Steps
	want[0].Tool = click(&step.Fingerprint{Text: "one"})
	want[2].Tool = within(click(&step.Fingerprint{Text: "three"}), step.InShadowRoot, step.InFrame)
	require.Equal(t, want, after.Steps)

	version := func() int { return w.Count(`select xmin::text::int from test_revisions where id = $1`, v.ID) }
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
	w := open(t)
	c := w.NewCase(w.Org.Member.Writer, "a")
	w.Exec(`insert into test_revisions (id, case_id, number, steps) select lpad(to_hex(i), 24, '0'), $1, i, '[]'
		from generate_series(2, $2::int) i`,
		c.ID, authoring.MaxRevisions+5)
	list, err := authoring.Revisions(fixture.Context(t), w.DB, c.ID)
	require.NoError(t, err)
	require.Len(t, list, authoring.MaxRevisions)
	require.Equal(t, 6, list[0].Number)
	require.Equal(t, authoring.MaxRevisions+5, list[authoring.MaxRevisions-1].Number)
	last, err := authoring.RevisionByID(fixture.Context(t), w.DB, c.ID, "")
	require.NoError(t, err)
	require.Equal(t, list[authoring.MaxRevisions-1], *last)
}
