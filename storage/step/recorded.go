package step

import (
	"bytes"
	"encoding/json"
)

// KeepRecorded keeps what is known of a step of the same id: the fingerprints of
// selectors that did not change, and, when nothing did, its result and screenshot. A
// fingerprint that was sent back with another selector is dropped: it may describe
// another element, which healing would act on. steps are changed.
func KeepRecorded(old, steps []Step) {
	known := make(map[string]*Step, len(old))
	for i := range old {
		known[old[i].ID] = &old[i]
	}
	for i := range steps {
		s, before := &steps[i], known[steps[i].ID]
		if before == nil {
			continue
		}
		was, is := before.Tool.Selectors(), s.Tool.Selectors()
		for k := range min(len(was), len(is)) {
			same := SameSelector(was[k], is[k])
			switch {
			case same && is[k].Fingerprint == nil:
				is[k].Fingerprint = was[k].Fingerprint
			case !same && is[k].Fingerprint != nil && SameJSON(was[k].Fingerprint, is[k].Fingerprint):
				is[k].Fingerprint = nil
			}
		}
		if SameJSON(s.Tool, before.Tool) {
			s.Result, s.ScreenshotID = before.Result, before.ScreenshotID
		}
	}
}

// SameJSON reports whether two documents are stored alike.
func SameJSON(a, b any) bool {
	one, err := json.Marshal(a)
	if err != nil {
		return false
	}
	other, err := json.Marshal(b)
	return err == nil && bytes.Equal(one, other)
}

// SameSelector compares selectors without their fingerprints, which runs add.
func SameSelector(a, b *Selector) bool {
	return SameJSON(WithoutFingerprints(a), WithoutFingerprints(b))
}

// WithoutFingerprints returns a copy of a selector without fingerprints.
func WithoutFingerprints(s *Selector) *Selector {
	if s == nil {
		return nil
	}
	bare := *s
	bare.Fingerprint = nil
	bare.Within, bare.Has = WithoutFingerprints(s.Within), WithoutFingerprints(s.Has)
	return &bare
}

// LearnFingerprint sets the first whole fingerprint of a step's element, in place of hints
// that an import may have left, and reports whether it did. One of more bytes of JSON than
// most, or with the character NUL, is refused.
func LearnFingerprint(tool *Tool, f Fingerprint, most int) bool {
	s := Inner(tool).Args.Selector
	if s == nil || !s.Fingerprint.Partial() || s.Fingerprint != nil && f.Partial() {
		return false
	}
	if text, err := json.Marshal(f); err != nil || len(text) > most || bytes.Contains(text, []byte(`\u0000`)) {
		return false
	}
	s.Fingerprint = &f
	return true
}
