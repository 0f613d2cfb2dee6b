package replay

import (
	"context"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
)

var findScript = page.Source("dom", "select", "css", "text", "name", "role", "refs", "find")

// findQuery is the argument of find.js.
type findQuery struct {
	Selector page.Selector   `json:"selector"`
	Frames   []page.Selector `json:"frames"`
	Hosts    []page.Selector `json:"hosts"`
	First    int             `json:"first"`
}

// Find returns the refs of the elements that the selector of a tool finds now: each with
// those of the elements around it, from inside out, for a snapshot leaves out what says
// nothing. It returns none for a tool without a selector.
func (l *Live) Find(ctx context.Context, tool step.Tool) ([][]string, error) {
	q := findQuery{Frames: []page.Selector{}, Hosts: []page.Selector{}, First: max(l.pages.next, 1)}
	for tool.Args.Selector != nil && tool.Args.Tool != nil {
		switch outer := page.SelectorOf(tool.Args.Selector); tool.Type {
		case step.InFrame:
			q.Frames = append(q.Frames, outer)
		case step.InShadowRoot:
			q.Hosts = append(q.Hosts, outer)
		}
		tool = *tool.Args.Tool
	}
	if tool.Args.Selector == nil || l.t.Lease.Mobile {
		return nil, nil
	}
	q.Selector = page.SelectorOf(tool.Args.Selector)
	var found [][]string
	err := l.guarded(ctx, func() error {
		x := l.look()
		x.ResetFrame(ctx)
		if err := x.Execute(ctx, findScript, &found, q); err != nil {
			return x.Interrupted(ctx, err)
		}
		return nil
	})
	return found, err
}
