package plan

import (
	"slices"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// acting are the tools that do something to an element.
var acting = []string{step.Click, step.DoubleClick, step.RightClick, step.InputText, step.TypeKeys, step.Select, step.Drag, step.UploadFile}

// allow returns an error for an action that the intent says not to do, such as to
// click what it names in "without clicking Submit".
func allow(p *planner, a action) error {
	if a.on == "" || p.current == nil || len(p.forbidden) == 0 || !slices.Contains(acting, a.tool) {
		return nil
	}
	at := p.current.find(a.on)
	if at < 0 {
		return nil
	}
	for i := range p.forbidden {
		no := &p.forbidden[i]
		if no.Target == nil || no.Kind == intent.Assert || no.Target.Name == "" {
			continue
		}
		m, err := p.pick(p.current, no.Target, wantOfKind(no.Kind))
		if err == nil && (m.ref == a.on || p.current.inside(at, m.index) && m.node.Interactive) {
			return p.notUnderstood("it needs "+describeNode(m.node)+", which the intent says not to use", Candidate{What: describeNode(m.node), Score: m.score, Why: m.why})
		}
	}
	return nil
}

// wantOfKind returns what the target of an instruction is needed for.
func wantOfKind(kind intent.Kind) want {
	switch kind {
	case intent.Fill, intent.Append, intent.Clear:
		return toFill
	case intent.Check, intent.Uncheck:
		return toCheck
	case intent.Choose:
		return toChoose
	case intent.Adjust:
		return toAdjust
	default:
		return toUse
	}
}
