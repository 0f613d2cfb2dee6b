package builds

import (
	"slices"

	"github.com/slipway-qa/slipway/storage/gate"
)

// fieldKind is how a member of a condition is typed.
type fieldKind string

const (
	numberField fieldKind = "number"
	switchField fieldKind = "switch"
	choiceField fieldKind = "choice" // one of Options
	someField   fieldKind = "some"   // some of Options; all of them is the same as none said
	suitesField fieldKind = "suites"
)

// field is a member of a condition as the form has it.
type field struct {
	Member  string
	Kind    fieldKind
	Label   string
	Options []string
	On      bool // a switch that a condition leaves out is on
}

// hoursField is the time in which crash groups and testers count.
func hoursField(without string) field {
	return field{Member: "hours", Kind: numberField, Label: "Hours after the upload (empty: " + without + ")"}
}

// fieldsOf are the members of a type, in the order of the form.
func fieldsOf(t gate.Type) []field {
	switch t {
	case gate.Suites:
		return []field{
			{Member: "suite_ids", Kind: suitesField, Label: "Suites that must have passed"},
			{Member: "min_share", Kind: numberField, Label: "Share of the cases that must have passed, at most 1 (empty: 1, all of them)"},
			{Member: "flaky", Kind: choiceField, Label: "Cases that passed after failing count as",
				Options: []string{gate.FlakyPassed, gate.FlakyFailed}},
		}
	case gate.CrashGroups:
		return []field{
			{Member: "kinds", Kind: someField, Label: "Groups that count", Options: []string{gate.NewGroups, gate.RegressedGroups}},
			{Member: "max_reports", Kind: numberField, Label: "Reports that a group may have (empty: 0, or any number where users are bounded)"},
			{Member: "max_users", Kind: numberField, Label: "Users that a group may have (empty: any number)"},
			hoursField("24"),
		}
	case gate.CrashFree:
		return []field{
			{Member: "min_percent", Kind: numberField, Label: "Percent of sessions without a crash, at least"},
			{Member: "max_drop_points", Kind: numberField, Label: "Percentage points below the build before, at most"},
			{Member: "min_sessions", Kind: numberField, Label: "Sessions that must be known (empty: 100)"},
		}
	case gate.Signature:
		return []field{
			{Member: "verified", Kind: switchField, Label: "The signature holds", On: true},
			{Member: "same_signer", Kind: switchField, Label: "The signer is that of the build before"},
		}
	case gate.Size:
		return []field{
			{Member: "max_bytes", Kind: numberField, Label: "Bytes, at most"},
			{Member: "max_growth_percent", Kind: numberField, Label: "Percent above the build before, at most"},
		}
	case gate.Symbols:
		return []field{{Member: "mapping", Kind: switchField, Label: "An obfuscation mapping must have come with the build"}}
	case gate.Testers:
		return []field{
			{Member: "min_testers", Kind: numberField, Label: "Testers who installed it, at least (empty: 1)"},
			{Member: "no_blocker", Kind: switchField, Label: "Nobody reported a blocker", On: true},
			hoursField("for good"),
		}
	}
	return nil
}

// nameOf is what a new condition of a type is called.
func nameOf(t gate.Type) string {
	switch t {
	case gate.Suites:
		return "Suites passed"
	case gate.CrashGroups:
		return "No new crashes"
	case gate.CrashFree:
		return "Sessions without a crash"
	case gate.Signature:
		return "Signed"
	case gate.Size:
		return "Small enough"
	case gate.Symbols:
		return "Symbols complete"
	case gate.Testers:
		return "Tried by testers"
	}
	return string(t)
}

// typed is a field of a condition with what stands in it.
type typed struct {
	field
	Path    string   // of the member, as the api names it
	Values  []string // texts: one number or choice, several of some; of a switch "1" when it is on
	Fault   string
	Choices []suiteChoice // of suites
}

// Value is the text of a field that has one.
func (f typed) Value() string {
	if len(f.Values) == 0 {
		return ""
	}
	return f.Values[0]
}

// Has reports whether a value is chosen.
func (f typed) Has(value string) bool { return slices.Contains(f.Values, value) }

// Unlisted are the suites that are chosen and not among the choices.
func (f typed) Unlisted() (list []string) {
	for _, id := range f.Values {
		if !slices.ContainsFunc(f.Choices, func(s suiteChoice) bool { return s.ID == id }) {
			list = append(list, id)
		}
	}
	return list
}

// ID is the id of the field on the page.
func (f typed) ID() string { return fieldID(f.Path) }
