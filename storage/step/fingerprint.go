package step

import (
	"maps"
	"slices"
)

// Partial reports whether a fingerprint is missing, or holds only hints of an
// import: one that was taken from a page has the element's tag. A step with a
// partial one gets a complete one when it passes.
func (f *Fingerprint) Partial() bool { return f == nil || f.Tag == "" }

// CheckFingerprint checks the bounds of a fingerprint, whose members are free
// text. The error is an *InvalidError with a path that begins with path.
func CheckFingerprint(path string, f *Fingerprint) error {
	for _, m := range []struct{ name, text string }{
		{"tag", f.Tag}, {"role", f.Role}, {"name", f.Name}, {"testId", f.TestID},
		{"label", f.Label}, {"placeholder", f.Placeholder}, {"text", f.Text},
	} {
		if err := CheckText(path+"."+m.name, m.text, maxFingerprintTxt); err != nil {
			return err
		}
	}
	if len(f.Attributes) > maxFingerprint {
		return Invalid(path+".attributes", "has at most %d members", maxFingerprint)
	}
	for _, name := range slices.Sorted(maps.Keys(f.Attributes)) {
		value := f.Attributes[name]
		if err := CheckName(path+".attributes", name, MaxName); err != nil {
			return err
		}
		if err := CheckText(path+".attributes."+name, value, maxFingerprintTxt); err != nil {
			return err
		}
	}
	if err := checkTextList(path+".framePath", f.FramePath, MaxNesting); err != nil {
		return err
	}
	if err := checkTextList(path+".shadowPath", f.ShadowPath, MaxNesting); err != nil {
		return err
	}
	return checkSurroundings(path+".surroundings", f.Surroundings)
}
