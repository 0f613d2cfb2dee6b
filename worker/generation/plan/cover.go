package plan

import (
	"context"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// uncover closes what the page laid over an element by itself: a banner of consent, a letter
// that wants subscribers. The step is optional, as it is there only sometimes. It returns the
// page without it, nil where nothing was closed.
func (p *planner) uncover(ctx context.Context, before *page.Model, node int) (*page.Model, error) {
	if node < 0 || p.cfg.Explore == ExploreOff || p.speaksOfCovers() {
		return nil, nil
	}
	now, err := p.lookAnew(ctx)
	if err != nil || now.Dialog != nil {
		return nil, err
	}
	at := now.Index().ByRef(before.Nodes[node].Ref)
	if at < 0 || !now.Nodes[at].Covered {
		return nil, nil
	}
	banner := method.CoverOf(now, at)
	if banner < 0 || p.pressedBefore() && before.Index().ByRef(now.Nodes[banner].Ref) >= 0 &&
		p.first.Index().ByRef(now.Nodes[banner].Ref) < 0 {
		return nil, nil // a deed of the text opened it
	}
	if p.openList(now, at, banner) {
		return p.leaveList(ctx, now.Nodes[at].Ref)
	}
	closing := method.Closing(now, banner)
	if closing < 0 {
		return nil, nil
	}
	if err := p.full(); err != nil {
		return nil, err
	}
	s, ok, err := p.stepOf(ctx, now, method.Press(closing), "closes what the page laid over it")
	if err != nil || !ok {
		return nil, err
	}
	s.Optional = true
	record, err := p.execute(ctx, s)
	if err != nil || record.Status != playback.Passed {
		return nil, err
	}
	s.TimeoutMS, s.Tool, s.Result, s.ScreenshotID = 0, record.Tool, &record.Result, record.ScreenshotID
	p.keep(s, "closes what the page laid over it")
	p.trace("  closed what lay over %s: %s", method.DescribeNode(before, node), method.DescribeNode(now, closing))
	return p.look(ctx)
}

// pressedBefore reports whether a goal before this one may have opened something.
func (p *planner) pressedBefore() bool {
	for i := range p.reading.Goals {
		g := &p.reading.Goals[i]
		if g == p.goal {
			return false
		}
		switch g.Effect {
		case intent.Set, intent.Check, intent.Wait, intent.Type, intent.Edit, intent.Append, intent.Clear:
		default:
			return true
		}
	}
	return false
}

// speaksOfCovers reports whether the text says itself what to do with what comes over the page.
func (p *planner) speaksOfCovers() bool {
	for i := range p.reading.Goals {
		switch g := &p.reading.Goals[i]; g.Effect {
		case intent.Close, intent.Abandon, intent.Confirm:
			return true
		}
	}
	return false
}

// openList reports whether what lies over a node is the options of a list of which something is chosen: a cross
// in it takes out what was chosen. The page did not begin with them, and had the list without them. A select
// of the browser draws its options over the page, and none lie in it.
func (p *planner) openList(m *page.Model, node, banner int) bool {
	cover := m.Nodes[node].Cover
	if at := p.first.Index().ByRef(cover); cover == "" || at >= 0 && !p.first.Nodes[at].Hidden {
		return false
	}
	return slices.ContainsFunc(m.Fields, func(f page.Field) bool {
		if f.Kind != "choice" && f.Kind != "choices" || m.Nodes[f.Node].Tag == "select" {
			return false
		}
		return strings.TrimSpace(f.Value) != "" && m.Inside(banner, f.Node) && p.first.Index().ByRef(m.Nodes[f.Node].Ref) >= 0
	})
}

// leaveList goes on from a list whose options are still open, and closes them by that. It returns nil where they
// still lie over the element with a ref.
func (p *planner) leaveList(ctx context.Context, ref string) (*page.Model, error) {
	if err := p.full(); err != nil {
		return nil, err
	}
	s := step.Step{ID: p.newID(), Optional: true, Tool: step.Tool{Type: step.PressKey, Args: step.Args{Key: "Tab"}}}
	if record, err := p.execute(ctx, s); err != nil || record.Status != playback.Passed {
		return nil, err
	}
	now, err := p.lookAnew(ctx)
	if err != nil {
		return nil, err
	}
	if at := now.Index().ByRef(ref); at < 0 || now.Nodes[at].Covered {
		return nil, nil
	}
	p.keep(s, "leaves the list")
	return now, nil
}
