package replay

import (
	"context"

	"github.com/slipway-qa/slipway/storage/step"
)

// cure is what heal.js found.
type cure struct {
	Found    bool             `json:"found"`
	Frames   []string         `json:"frames"`
	Hosts    []string         `json:"hosts"`
	Selector string           `json:"selector"`
	Score    float64          `json:"score"`
	Second   float64          `json:"second"`
	Reason   string           `json:"reason"`
	Print    step.Fingerprint `json:"print"`
}

// maxCure bounds a selector that heal.js makes: it is of the page's texts, and is
// proposed as the step's own.
const maxCure = 2 << 10

// fits reports whether the way to the element is one that a step can have.
func (c *cure) fits() bool {
	if len(c.Frames) > step.MaxNesting || len(c.Hosts) > step.MaxNesting {
		return false
	}
	for _, part := range append(append([]string{c.Selector}, c.Frames...), c.Hosts...) {
		if len(part) > maxCure {
			return false
		}
	}
	return true
}

// heal looks for the element of a fingerprint, first in the frame that the place
// is in, and in the whole page when that frame was but the fingerprint's. The
// place becomes that of what it finds.
func (p *player) heal(ctx context.Context, at *place, want string) (bool, error) {
	missing, err := p.enter(ctx, at.frames)
	if err != nil {
		return false, err
	}
	found, frames := (*cure)(nil), at.frames
	if missing == nil {
		if found, err = p.ask(ctx, at, want); err != nil {
			return false, err
		}
	}
	if (found == nil || !found.Found) && at.guessed && len(at.frames) > 0 {
		if err := p.leave(ctx); err != nil {
			return false, err
		}
		frames = nil
		if found, err = p.ask(ctx, at, want); err != nil {
			return false, err
		}
	}
	if found == nil || !found.Found || !found.fits() {
		return false, nil
	}
	at.frames = append([]hop(nil), frames...)
	for _, frame := range points(found.Frames) {
		at.frames = append(at.frames, hop{selector: frame})
	}
	at.hosts, at.shadow = points(found.Hosts), nil
	at.selector = point{Type: step.CSS, Value: found.Selector}
	to := step.Selector{Type: step.CSS, Value: found.Selector, Fingerprint: p.keep(&found.Print, nil)}
	if p.vault.redact(to.Value) == to.Value {
		from := *at.stored
		p.healed = &step.Healed{From: from, To: to, Score: min(found.Score, 1), Reason: p.quote(found.Reason, 300)}
	}
	return true, nil
}

func (p *player) ask(ctx context.Context, at *place, want string) (*cure, error) {
	var found *cure
	err := p.execute(ctx, healScript, &found, map[string]any{"print": at.print, "want": want})
	if err != nil {
		return nil, p.interrupted(ctx, err)
	}
	return found, nil
}

// keep makes a fingerprint fit to be stored: within the bounds, and without the
// members that a secret got into. It is nil when nothing is left to know.
func (p *player) keep(print *step.Fingerprint, frames []hop) *step.Fingerprint {
	if print == nil {
		return nil
	}
	kept := *print
	for _, text := range []*string{&kept.Tag, &kept.Role, &kept.Name, &kept.TestID, &kept.Label, &kept.Placeholder, &kept.Text} {
		*text = p.harmless(*text)
	}
	kept.Attributes = map[string]string{}
	for name, value := range print.Attributes {
		if value = p.harmless(value); value != "" {
			kept.Attributes[name] = value
		}
	}
	// The path that a frame of another origin does not know is the step's own.
	if len(kept.FramePath) < len(frames) {
		kept.FramePath = nil
		for _, frame := range frames {
			if frame.selector.Type != step.CSS || len(frame.hosts) > 0 {
				kept.FramePath = nil
				break
			}
			kept.FramePath = append(kept.FramePath, frame.selector.Value)
		}
	}
	for _, part := range append(append([]string(nil), kept.FramePath...), kept.ShadowPath...) {
		if p.harmless(part) != part {
			return nil
		}
	}
	if kept.Tag == "" || step.CheckFingerprint("", &kept) != nil {
		return nil
	}
	return &kept
}

// harmless gives a text unless a secret is in it.
func (p *player) harmless(text string) string {
	if p.vault.redact(text) != text {
		return ""
	}
	return text
}

// wantsPrint reports whether the step is to learn what its element is.
func (p *player) wantsPrint(at *place) bool {
	return at.stored != nil && at.stored.Fingerprint.Partial() && p.print == nil
}

// passed notes what a call that worked found out.
func (p *player) passed(ctx context.Context, at *place, got *answer) error {
	if got.Held != nil {
		p.note("the field holds %q", p.quote(*got.Held, 100))
	}
	if got.Print != nil {
		p.print = p.keep(got.Print, at.frames)
	}
	if len(at.frames) == 0 {
		return p.arrived(ctx, got.Href)
	}
	return nil
}
