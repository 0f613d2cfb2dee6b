package plan_test

import (
	"context"
	"slices"
	"strconv"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/generation/plan"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// knob is a page with a slider without a role, and a number beside it that goes with it.
type knob struct {
	still
	at, by, most int
}

func (k *knob) Snapshot(ctx context.Context) (*snapshot.Snapshot, error) {
	k.nodes[3].Text, k.nodes[3].Name = strconv.Itoa(k.at), strconv.Itoa(k.at)
	return k.still.Snapshot(ctx)
}

func (k *knob) Do(ctx context.Context, s step.Step) (playback.Record, error) {
	if s.Tool.Type == step.PressKey {
		k.at = min(k.at+map[string]int{"ArrowRight": k.by, "ArrowLeft": -k.by}[s.Tool.Args.Key], k.most)
	}
	return k.still.Do(ctx, s)
}

func TestRunBringsAKnobToANumber(t *testing.T) {
	for _, c := range []struct {
		at, by, most int
		text         string
		want         int // -1 is refused
	}{
		{5, 1, 10, "Set the slider to 8", 8},
		{5, 1, 10, "Set the slider to 2", 2},
		{0, 10, 100, "Set the slider to 70", 70},
		{5, 1, 7, "Set the slider to 9", -1},
		{0, 10, 100, "Set the slider to 75", -1},
		{5, 0, 10, "Set the slider to 8", -1},
	} {
		k := &knob{at: c.at, by: c.by, most: c.most}
		k.nodes = []snapshot.Node{{Parent: -1, Tag: "p", Role: "text", Name: "Loudness"}, {Parent: -1, Tag: "div", Class: "slider", Ref: "track"},
			{Parent: 1, Tag: "span", Class: "slider-handle", Ref: "knob", Interactive: true, Reacts: "drag"},
			{Parent: -1, Tag: "b", Role: "text", Ref: "number"}}
		page := &boxed{k}
		_, err := plan.Run(context.Background(), plan.Config{Page: page, Intent: c.text, NoSuggestion: true})
		if (err == nil) != (c.want >= 0) || err == nil && k.at != c.want {
			t.Errorf("%s from %d by %d: at %d, %v", c.text, c.at, c.by, k.at, err)
		}
	}
}

// boxed draws the knob of a page as small as one is.
type boxed struct{ *knob }

func (b *boxed) Snapshot(ctx context.Context) (*snapshot.Snapshot, error) {
	s, err := b.knob.Snapshot(ctx)
	at := slices.IndexFunc(s.Nodes, func(n snapshot.Node) bool { return n.Ref == "knob" })
	s.Nodes[at].Box = [4]int{10, 60, 20, 20}
	return s, err
}
