// Package recording makes the steps of a test that another tool has recorded.
//
// Readers of recordings (packages codegen, devtools and seleniumide) add one step after the
// other, each with the place in the recording that it comes from, so that what is wrong is
// told by that place. What they cannot take is an error, and what they leave out a warning:
// nothing of a recording is dropped in silence.
package recording

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage/step"
)

const (
	// MaxBytes of a recording: a hundred long tests have one.
	MaxBytes = 4 << 20
	// maxWarnings bounds what is said of one recording.
	maxWarnings = 100
	// maxWarning bounds one of them, in bytes.
	maxWarning = 500
)

// Test is what a recording gives.
type Test struct {
	Name  string
	URL   string // where it begins; "" when it does not say
	Steps []step.Step
	// Warnings say where the test may do something else than its author thinks, each with
	// its place. Never nil.
	Warnings []string
}

// Invalid is the error of a place in a recording.
func Invalid(path, format string, args ...any) error {
	return &step.InvalidError{Path: path, Msg: fmt.Sprintf(format, args...)}
}

// Plain reports whether the database can keep a text.
func Plain(text string) bool { return utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 }

// Builder collects the steps of a test.
type Builder struct {
	steps    []step.Step
	origins  []string // for each step, its place
	warnings []string
	more     int // warnings that are left out
	window   int // where the test is
}

// Add appends a step. frames are those around its element, the outermost first.
func (b *Builder) Add(path string, tool step.Tool, frames ...*step.Selector) error {
	if len(b.steps) >= step.MaxSteps {
		return Invalid(path, "makes more than %d steps of the test", step.MaxSteps)
	}
	if len(frames) > step.MaxNesting {
		return Invalid(path, "lies in more than %d frames", step.MaxNesting)
	}
	for i := len(frames) - 1; i >= 0; i-- {
		inner, frame := tool, *frames[i]
		tool = step.Tool{Type: step.InFrame, Args: step.Args{Selector: &frame, Tool: &inner}}
	}
	b.steps = append(b.steps, step.Step{Tool: tool})
	b.origins = append(b.origins, path)
	return nil
}

// Last is the step that was added last; nil without one.
func (b *Builder) Last() *step.Step {
	if len(b.steps) == 0 {
		return nil
	}
	return &b.steps[len(b.steps)-1]
}

// InWindow adds a step that switches to a window, by the order of their opening from 0, when
// the test is in another one.
func (b *Builder) InWindow(path string, number int) error {
	if number == b.window {
		return nil
	}
	b.window = number
	return b.Add(path, step.Tool{Type: step.SwitchWindow, Args: step.Args{Matcher: &step.Matcher{Name: step.WindowIndex,
		Args: step.MatcherArgs{Value: strconv.Itoa(number)}}}})
}

// Warn says where the test may do something else than its author thinks.
func (b *Builder) Warn(path, format string, args ...any) {
	if len(b.warnings) == maxWarnings {
		b.more++
		return
	}
	b.warnings = append(b.warnings, Clip(path+": "+fmt.Sprintf(format, args...), maxWarning))
}

// Test returns the test. A step that is not valid is told by its place.
func (b *Builder) Test(name, address string) (*Test, error) {
	if len(b.steps) == 0 {
		return nil, Invalid("", "holds no step")
	}
	if err := Validate(b.steps, b.origins, ""); err != nil {
		return nil, err
	}
	warnings := append([]string{}, b.warnings...)
	if b.more > 0 {
		warnings = append(warnings, fmt.Sprintf("and %d more", b.more))
	}
	return &Test{Name: name, URL: address, Steps: b.steps, Warnings: warnings}, nil
}

// Validate checks the steps, and tells of a wrong one by its place: origins has that of each step,
// path is that of all of them.
func Validate(steps []step.Step, origins []string, path string) error {
	err := step.Validate(steps)
	var wrong *step.InvalidError
	if !errors.As(err, &wrong) {
		return err
	}
	at, rest, ok := strings.Cut(strings.TrimPrefix(wrong.Path, "["), "].")
	if i, err := strconv.Atoi(at); ok && err == nil && i < len(origins) {
		return Invalid(origins[i], "%s: %s", strings.TrimPrefix(rest, "tool.args."), wrong.Msg)
	}
	return Invalid(path, "%s: %s", wrong.Path, wrong.Msg)
}

// Clip cuts a text to a number of bytes, between characters.
func Clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
