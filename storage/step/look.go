package step

import (
	"fmt"
	"slices"
	"strings"
)

// The impacts of findings, the least first.
const (
	Minor    = "minor"
	Moderate = "moderate"
	Serious  = "serious"
	Critical = "critical"
)

// Impacts are all impacts, the least first.
var Impacts = []string{Minor, Moderate, Serious, Critical}

// The defaults of accessible and looks_like.
const (
	DefaultImpact      = Serious
	DefaultThreshold   = 0.01
	DefaultSensitivity = 0.9
)

const (
	// maxRuleNames bounds the rules and tags of one step; axe-core has some hundred.
	maxRuleNames = 100
	// maxRuleName bounds one of them, in characters.
	maxRuleName = 60
	// maxMasks bounds the masks of a step; each may find several elements.
	maxMasks = 20
)

// Findings are what the assertion accessible found on a page.
type Findings struct {
	// Total counts all of them; List has the first hundred, those that fail the step first.
	Total int       `json:"total"`
	List  []Finding `json:"list"`
	// Accepted counts those that people accepted before: they do not fail the step.
	Accepted int `json:"accepted"`
	// Failing counts those that fail the step.
	Failing int `json:"failing"`
	// Unseen are frames of other origins, in which nothing was checked.
	Unseen int `json:"unseen,omitempty"`
}

// Finding is a fault of accessibility: a rule that an element breaks.
type Finding struct {
	// Key knows the finding again in another run: it depends on the rule and the element.
	Key    string `json:"key"`
	Rule   string `json:"rule"`   // of axe-core: color-contrast
	Impact string `json:"impact"` // one of Impacts
	Help   string `json:"help"`   // what the rule asks for
	// HelpURL explains the rule.
	HelpURL string `json:"helpUrl"`
	// Element is where it is, for people: CSS selectors of frames, shadow hosts and the
	// element, with > > between.
	Element string `json:"element"`
	HTML    string `json:"html"` // the begin of the element
	// Accepted: somebody accepted it for this case.
	Accepted bool `json:"accepted,omitempty"`
	// Fails: it is of the impact that fails the step, and nobody accepted it.
	Fails bool `json:"fails,omitempty"`
	// FileID names a stored picture of the element; "" without one.
	FileID string `json:"fileId,omitempty"`
	// URL is where the picture can be had; only answers have it.
	URL string `json:"pictureUrl,omitempty"`
}

// The states of a look in a run.
const (
	// LookMatched: as the accepted baseline.
	LookMatched = "MATCHED"
	// LookUnreviewed: nobody has accepted a baseline that it could be compared with; it is
	// as the first picture, or is itself the first.
	LookUnreviewed = "UNREVIEWED"
	// LookDifferent: another one than the baseline.
	LookDifferent = "DIFFERENT"
	// LookRejected: as a picture that somebody rejected.
	LookRejected = "REJECTED"
)

// LookStates are all states of looks.
var LookStates = []string{LookMatched, LookUnreviewed, LookDifferent, LookRejected}

// Look is what the assertion looks_like compared.
type Look struct {
	State string `json:"state"`
	// BaselineID is what it was compared with; "" for the first picture.
	BaselineID string `json:"baselineId,omitempty"`
	// CandidateID is the picture itself, which people accept or reject; "" where it is as
	// the baseline.
	CandidateID string `json:"candidateId,omitempty"`
	// Share is that of the pixels that differ, from 0 to 1.
	Share float64 `json:"share"`
	// Width and Height are of the picture, in pixels; those of the baseline stand beside
	// them where they are others.
	Width          int `json:"width"`
	Height         int `json:"height"`
	BaselineWidth  int `json:"baselineWidth,omitempty"`
	BaselineHeight int `json:"baselineHeight,omitempty"`
	// OtherFonts: the baseline was made where texts are drawn in another way.
	OtherFonts bool `json:"otherFonts,omitempty"`
}

// checkPictured checks the matcher of an assertion that looks at pictures or the document.
func checkPictured(path string, m *Matcher, s *Selector, at position) error {
	a := &m.Args
	if m.fromString {
		return Invalid(path, "must be an object")
	}
	if m.wrong != "" {
		return Invalid(path+".args"+m.wrongAt, "%s", m.wrong)
	}
	path += ".args"
	for _, other := range []struct {
		name  string
		given bool
	}{
		{"value", a.Value != ""}, {"mode", a.Mode != ""}, {"name", a.Name != "" && m.Name != LooksLike},
		{"fullPage", a.FullPage && (m.Name != LooksLike || s != nil)},
		{"masks", len(a.Masks) > 0 && m.Name != LooksLike}, {"threshold", a.Threshold != nil && m.Name != LooksLike},
		{"sensitivity", a.Sensitivity != nil && m.Name != LooksLike}, {"impact", a.Impact != "" && m.Name != Accessible},
		{"rules", len(a.Rules) > 0 && m.Name != Accessible}, {"withoutRules", len(a.WithoutRules) > 0 && m.Name != Accessible},
		{"tags", len(a.Tags) > 0 && m.Name != Accessible},
	} {
		switch {
		case other.given && other.name == "fullPage" && m.Name == LooksLike:
			return Invalid(path+".fullPage", "is for the page, and not for an element")
		case other.given:
			return Invalid(path+"."+other.name, "is no argument of the matcher %s", m.Name)
		}
	}
	if m.Name == Accessible {
		return checkAccessible(path, a)
	}
	return checkLook(path, a, at)
}

func checkAccessible(path string, a *MatcherArgs) error {
	if a.Impact != "" && !slices.Contains(Impacts, a.Impact) {
		return Invalid(path+".impact", "must be one of %s", strings.Join(Impacts, ", "))
	}
	if len(a.Rules) > 0 && len(a.Tags) > 0 {
		return Invalid(path+".tags", "must not stand beside rules: both say which rules are checked")
	}
	for _, list := range []struct {
		name   string
		values []string
	}{{"rules", a.Rules}, {"withoutRules", a.WithoutRules}, {"tags", a.Tags}} {
		if len(list.values) > maxRuleNames {
			return Invalid(path+"."+list.name, "has at most %d elements", maxRuleNames)
		}
		for _, name := range list.values {
			if !isRuleName(name) {
				return Invalid(path+"."+list.name, "has names of a-z, 0-9, - and ., such as color-contrast or wcag2aa")
			}
		}
	}
	return nil
}

func isRuleName(name string) bool {
	return name != "" && len(name) <= maxRuleName && strings.IndexFunc(name, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '.')
	}) < 0
}

func checkLook(path string, a *MatcherArgs, at position) error {
	if a.Name != "" {
		if err := CheckName(path+".name", a.Name, maxRuleName); err != nil {
			return err
		}
	}
	for _, share := range []struct {
		name  string
		value *float64
	}{{"threshold", a.Threshold}, {"sensitivity", a.Sensitivity}} {
		if share.value != nil && !(*share.value >= 0 && *share.value <= 1) {
			return Invalid(path+"."+share.name, "must be a number from 0 to 1")
		}
	}
	if len(a.Masks) > maxMasks {
		return Invalid(path+".masks", "has at most %d elements", maxMasks)
	}
	for i := range a.Masks {
		mask := fmt.Sprintf("%s.masks[%d]", path, i)
		if a.Masks[i].Fingerprint != nil {
			return Invalid(mask+".fingerprint", "is no member of a mask, which may find several elements")
		}
		if err := checkSelector(mask, &a.Masks[i], at); err != nil {
			return err
		}
	}
	return nil
}

// checkNoPicture refuses the arguments of matchers that look at pictures or the document.
func checkNoPicture(path string, m *Matcher) error {
	a := &m.Args
	for _, of := range []struct {
		name  string
		given bool
	}{
		{"impact", a.Impact != ""}, {"rules", len(a.Rules) > 0}, {"withoutRules", len(a.WithoutRules) > 0}, {"tags", len(a.Tags) > 0},
		{"fullPage", a.FullPage}, {"masks", len(a.Masks) > 0}, {"threshold", a.Threshold != nil}, {"sensitivity", a.Sensitivity != nil},
	} {
		if of.given {
			return Invalid(path+"."+of.name, "is no argument of the matcher %s", m.Name)
		}
	}
	return nil
}
