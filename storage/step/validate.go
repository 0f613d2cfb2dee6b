package step

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The bounds of a test.
const (
	MaxSteps = 1000
	MaxText  = 20_000 // bytes of one text argument
	MaxURL   = 2048
	MaxFile  = 256 << 10

	// MaxSelector is bytes of a selector: the longest XPath that a recorder
	// writes is some hundred.
	MaxSelector = 4 << 10
	// MaxNesting is how many frames and shadow hosts may enclose an element.
	MaxNesting = 8
	// MaxWaitMS bounds pauses and the time limit of a step: ten minutes, more
	// than a job has.
	MaxWaitMS = 600_000

	// MaxShown bounds a text of a page in a message, in characters.
	MaxShown = 80

	maxID             = 64
	MaxName           = 255     // characters of file and attribute names
	maxFingerprint    = 32      // attributes and parts of a path
	maxFingerprintTxt = 1 << 10 // bytes of one text
	// maxIndex is far above how many elements of one kind a page has.
	maxIndex = 100_000

	// Browsers open no window below some hundred pixels, and draw none above this.
	minViewport = 100
	maxViewport = 10_000
)

// InvalidError has the path, below what was validated, of the member that breaks a
// rule: [3].tool.args.url.
type InvalidError struct{ Path, Msg string }

func (e *InvalidError) Error() string { return e.Path + ": " + e.Msg }

// Invalid returns an *InvalidError with a message.
func Invalid(path, format string, args ...any) error {
	return &InvalidError{Path: path, Msg: fmt.Sprintf(format, args...)}
}

// Validate checks steps from outside, and sets the ids (s1, s2 ...) of those
// without one. The error is an *InvalidError.
func Validate(steps []Step) error {
	if len(steps) > MaxSteps {
		return Invalid("steps", "has at most %d elements", MaxSteps)
	}
	taken := make(map[string]bool, len(steps))
	for i := range steps {
		path := fmt.Sprintf("[%d]", i)
		if err := checkStep(path, &steps[i]); err != nil {
			return err
		}
		if id := steps[i].ID; id != "" {
			if taken[id] {
				return Invalid(path+".id", "is the id of another step too")
			}
			taken[id] = true
		}
	}
	assignIDs(steps, taken)
	return nil
}

// assignIDs sets missing ids to the next free numbers, so that a list without ids
// gets s1 to sN.
func assignIDs(steps []Step, taken map[string]bool) {
	n := 0
	for i := range steps {
		for steps[i].ID == "" {
			n++
			if id := fmt.Sprintf("s%d", n); !taken[id] {
				steps[i].ID = id
			}
		}
	}
}

func checkStep(path string, s *Step) error {
	if !isID(s.ID) {
		return Invalid(path+".id", "has at most %d characters of A-Z, a-z, 0-9, _, . and -", maxID)
	}
	if err := settleTimeout(path, &s.TimeoutMS, &Inner(&s.Tool).Args.timeout); err != nil {
		return err
	}
	if s.TimeoutMS < 0 || s.TimeoutMS > MaxWaitMS {
		return Invalid(path+".timeoutMs", "must be 0 to %d", MaxWaitMS)
	}
	if s.Result != nil {
		if err := CheckText(path+".result.message", s.Result.Message, MaxText); err != nil {
			return err
		}
	}
	if err := CheckText(path+".screenshotId", s.ScreenshotID, MaxName); err != nil {
		return err
	}
	if err := checkTool(path+".tool", &s.Tool, position{}); err != nil {
		return err
	}
	if s.Tool.Type == RunGroup && s.TimeoutMS > 0 {
		return Invalid(path+".timeoutMs", "is that of no step: the steps of a group have their own")
	}
	if err := checkCondition(path+".when", s); err != nil {
		return err
	}
	if s.Optional && Inner(&s.Tool).Type == Assert {
		return Invalid(path+".optional", "must not be true for an assertion")
	}
	return nil
}

// checkCondition checks the condition of a step. One of the page may stand at any
// tool: it looks at the window's page, in whatever frame the step acts.
func checkCondition(path string, s *Step) error {
	return checkConditionAt(path, s.When, innerPosition(&s.Tool))
}

// CheckCondition checks a condition of the window's page; nil is none.
func CheckCondition(path string, c *Condition) error { return checkConditionAt(path, c, position{}) }

func checkConditionAt(path string, c *Condition, at position) error {
	if c == nil {
		return nil
	}
	if err := settleTimeout(path, &c.TimeoutMS, &c.timeout); err != nil {
		return err
	}
	if c.TimeoutMS < 0 || c.TimeoutMS > MaxWaitMS {
		return Invalid(path+".timeoutMs", "must be 0 to %d", MaxWaitMS)
	}
	if c.Matcher == nil {
		return Invalid(path+".matcher", "is missing")
	}
	if IsNetworkMatcher(c.Matcher.Name) {
		return Invalid(path+".matcher.name", "%s is what the browser did, and no condition", c.Matcher.Name)
	}
	if err := checkComparison(path, c.Matcher, c.Selector); err != nil {
		return err
	}
	return checkSelector(path+".selector", c.Selector, at)
}

// innerPosition is where the innermost tool lies.
func innerPosition(t *Tool) position {
	var at position
	for ; (t.Type == InFrame || t.Type == InShadowRoot) && t.Args.Tool != nil; t = t.Args.Tool {
		at = position{depth: at.depth + 1, shadow: t.Type == InShadowRoot}
	}
	return at
}

// isID reports whether an id is well formed; "" is a missing id.
func isID(id string) bool {
	return len(id) <= maxID && strings.IndexFunc(id, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '.' || r == '-')
	}) < 0
}

// CheckText accepts what the database can store, up to a number of bytes.
func CheckText(path, text string, most int) error {
	switch {
	case len(text) > most:
		return Invalid(path, "has at most %d bytes", most)
	case !utf8.ValidString(text):
		return Invalid(path, "must be UTF-8 text")
	case strings.IndexByte(text, 0) >= 0:
		return Invalid(path, "must not hold the character NUL")
	}
	return nil
}

// CheckName accepts short texts on one line.
func CheckName(path, name string, most int) error {
	if name == "" {
		return Invalid(path, "is missing")
	}
	if err := CheckText(path, name, 4*most); err != nil {
		return err
	}
	if utf8.RuneCountInString(name) > most {
		return Invalid(path, "has at most %d characters", most)
	}
	if hasControl(name) {
		return Invalid(path, "must not hold control characters")
	}
	return nil
}

func hasControl(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r < ' ' || 0x7f <= r && r < 0xa0 }) >= 0
}

// checkURL accepts what a test may open: an absolute address, a path below the
// test's, or one with variables. Which schemes and hosts are allowed is decided
// when the step executes, since variables and redirects decide it, too.
func checkURL(path, address string) error {
	if address == "" {
		return Invalid(path, "is missing")
	}
	if err := CheckText(path, address, MaxURL); err != nil {
		return err
	}
	if hasControl(address) || strings.TrimSpace(address) != address {
		return Invalid(path, "must be an address without control characters and without white space around it")
	}
	return nil
}
