package session

import (
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
)

// Storable returns a fingerprint as it may be stored: within the bounds, and without
// the members that a secret is in. It is nil when nothing is left that identifies the
// element. frames are those that the step names.
func (s *Session) Storable(fingerprint *step.Fingerprint, frames []page.Frame) *step.Fingerprint {
	if fingerprint == nil {
		return nil
	}
	kept := *fingerprint
	for _, text := range []*string{&kept.Tag, &kept.Role, &kept.Name, &kept.TestID, &kept.Label, &kept.Placeholder, &kept.Text} {
		*text = s.WithoutSecret(*text)
	}
	kept.Attributes = map[string]string{}
	for name, value := range fingerprint.Attributes {
		if value = s.WithoutSecret(value); value != "" {
			kept.Attributes[name] = value
		}
	}
	kept.Surroundings = s.storableSurroundings(fingerprint.Surroundings)
	// The path that a frame of another origin does not know is the step's.
	if len(kept.FramePath) < len(frames) {
		kept.FramePath = cssFramePath(frames)
	}
	for _, part := range append(append([]string(nil), kept.FramePath...), kept.ShadowPath...) {
		if s.WithoutSecret(part) != part {
			return nil
		}
	}
	if kept.Tag == "" || step.CheckFingerprint("", &kept) != nil {
		return nil
	}
	return &kept
}

// storableSurroundings returns what is around an element without what a secret is in.
func (s *Session) storableSurroundings(around *step.Surroundings) *step.Surroundings {
	if around == nil {
		return nil
	}
	kept := *around
	kept.Headings = s.textsWithoutSecret(around.Headings)
	if around.Row != nil {
		kept.Row = &step.Row{Kind: around.Row.Kind, Texts: s.textsWithoutSecret(around.Row.Texts), ID: s.WithoutSecret(around.Row.ID)}
		if len(kept.Row.Texts) < len(around.Row.Texts) {
			kept.Alike.SameRow = kept.Alike.Count // what is left does not identify it
		}
	}
	kept.Containers = nil
	for _, c := range around.Containers {
		for _, text := range []*string{&c.Role, &c.Name, &c.ID, &c.Action} {
			*text = s.WithoutSecret(*text)
		}
		kept.Containers = append(kept.Containers, c)
	}
	return &kept
}

func (s *Session) textsWithoutSecret(texts []string) []string {
	var kept []string
	for _, text := range texts {
		if text = s.WithoutSecret(text); text != "" {
			kept = append(kept, text)
		}
	}
	return kept
}

// cssFramePath returns the selectors of frames, nil unless all are CSS in the page
// itself: a fingerprint has no others.
func cssFramePath(frames []page.Frame) []string {
	var path []string
	for _, frame := range frames {
		if frame.Selector.Type != step.CSS || len(frame.Hosts) > 0 {
			return nil
		}
		path = append(path, frame.Selector.Value)
	}
	return path
}

// HoldsSecret reports whether the text of a selector holds a secret.
func (s *Session) HoldsSecret(selector *step.Selector) bool {
	for ; selector != nil; selector = selector.Within {
		for _, text := range []string{selector.Value, selector.Name, selector.HasText} {
			if s.WithoutSecret(text) != text {
				return true
			}
		}
		if selector.Has != nil && s.HoldsSecret(selector.Has) {
			return true
		}
	}
	return false
}
