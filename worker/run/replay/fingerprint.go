package replay

import "github.com/slipway-qa/slipway/storage/step"

// storable returns a fingerprint as it may be stored: within the bounds, and without
// the members that a secret is in. It is nil when nothing is left that identifies the
// element. frames are those that the step names.
func (s *session) storable(fingerprint *step.Fingerprint, frames []frameLocation) *step.Fingerprint {
	if fingerprint == nil {
		return nil
	}
	kept := *fingerprint
	for _, text := range []*string{&kept.Tag, &kept.Role, &kept.Name, &kept.TestID, &kept.Label, &kept.Placeholder, &kept.Text} {
		*text = s.withoutSecret(*text)
	}
	kept.Attributes = map[string]string{}
	for name, value := range fingerprint.Attributes {
		if value = s.withoutSecret(value); value != "" {
			kept.Attributes[name] = value
		}
	}
	kept.Surroundings = s.storableSurroundings(fingerprint.Surroundings)
	// The path that a frame of another origin does not know is the step's.
	if len(kept.FramePath) < len(frames) {
		kept.FramePath = cssFramePath(frames)
	}
	for _, part := range append(append([]string(nil), kept.FramePath...), kept.ShadowPath...) {
		if s.withoutSecret(part) != part {
			return nil
		}
	}
	if kept.Tag == "" || step.CheckFingerprint("", &kept) != nil {
		return nil
	}
	return &kept
}

// storableSurroundings returns what is around an element without what a secret is in.
func (s *session) storableSurroundings(around *step.Surroundings) *step.Surroundings {
	if around == nil {
		return nil
	}
	kept := *around
	kept.Headings = s.textsWithoutSecret(around.Headings)
	if around.Row != nil {
		kept.Row = &step.Row{Kind: around.Row.Kind, Texts: s.textsWithoutSecret(around.Row.Texts), ID: s.withoutSecret(around.Row.ID)}
		if len(kept.Row.Texts) < len(around.Row.Texts) {
			kept.Alike.SameRow = kept.Alike.Count // what is left does not identify it
		}
	}
	kept.Containers = nil
	for _, c := range around.Containers {
		for _, text := range []*string{&c.Role, &c.Name, &c.ID, &c.Action} {
			*text = s.withoutSecret(*text)
		}
		kept.Containers = append(kept.Containers, c)
	}
	return &kept
}

func (s *session) textsWithoutSecret(texts []string) []string {
	var kept []string
	for _, text := range texts {
		if text = s.withoutSecret(text); text != "" {
			kept = append(kept, text)
		}
	}
	return kept
}

// cssFramePath returns the selectors of frames, nil unless all are CSS in the page
// itself: a fingerprint has no others.
func cssFramePath(frames []frameLocation) []string {
	var path []string
	for _, frame := range frames {
		if frame.selector.Type != step.CSS || len(frame.hosts) > 0 {
			return nil
		}
		path = append(path, frame.selector.Value)
	}
	return path
}
