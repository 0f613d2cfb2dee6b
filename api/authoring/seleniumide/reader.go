package seleniumide

import (
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/recording"
	"github.com/slipway-qa/slipway/storage/step"
)

// maxComment is bytes of a comment that is kept as a step's reasoning.
const maxComment = 1000

// reader turns the commands of a test into steps, one after the other.
type reader struct {
	base     string
	commands []command
	at       int // the command being read

	values
	frames  frames // around the elements of the steps that follow
	windows windows
	// answer is what the next dialog will be told, and answered the command that
	// a dialog was answered behind.
	answer   *step.Tool
	answered int
	// typed are the fields that hold text, filled is the last one of them.
	typed  map[string]bool
	filled filled

	steps   []step.Step
	origins []string // for each step, the path of its command
}

// filled is the field that a step filled, and how many steps there were then.
type filled struct {
	steps int
	place string
}

func newReader(base string, commands []command) *reader {
	return &reader{base: base, commands: commands, values: values{variables: map[string]string{"nbsp": "\u00a0"}, warnings: []string{}},
		windows: newWindows(), answered: -1, typed: map[string]bool{}}
}

func (r *reader) read() error {
	for r.at = 0; r.at < len(r.commands); r.at++ {
		if err := r.readCommand(&r.commands[r.at]); err != nil {
			return err
		}
		if len(r.steps) > step.MaxSteps {
			return invalid(r.commands[r.at].path, "makes more than %d steps of the test", step.MaxSteps)
		}
	}
	return nil
}

func (r *reader) readCommand(c *command) error {
	if !plain(c.Target) || !plain(c.Value) || !plain(c.Comment) {
		return invalid(c.path, "must hold UTF-8 text without the character NUL")
	}
	r.warnOfPosition(c)
	if read, ok := handlers[c.Command]; ok {
		return read(r, c)
	}
	if ok, err := r.assertion(c); ok || err != nil {
		return err
	}
	return r.refuse(c)
}

// warnOfPosition says that clickAt and its like act on the middle of the element.
func (r *reader) warnOfPosition(c *command) {
	if position := strings.TrimSpace(c.Value); strings.HasSuffix(c.Command, "At") && position != "" {
		r.warn("%s.value: the position %s is not kept: %s takes the middle of the element", c.path, clip(position, maxShown), c.Command)
	}
}

func (r *reader) refuse(c *command) error {
	name := c.Command
	if len(name) > 60 || !plain(name) {
		name = "this command"
	}
	return invalid(c.path+".command", "%s has no counterpart among the tools", name)
}

// add appends a step. An element's tool is put into the frames that are selected.
func (r *reader) add(c *command, tool step.Tool, inFrames bool) *step.Step {
	if inFrames {
		for i := len(r.frames) - 1; i >= 0; i-- {
			inner := tool
			frame := *r.frames[i]
			tool = step.Tool{Type: step.InFrame, Args: step.Args{Selector: &frame, Tool: &inner}}
		}
	}
	if comment := strings.TrimSpace(c.Comment); comment != "" && tool.Args.Reasoning == "" {
		tool.Args.Reasoning = clip(comment, maxComment)
	}
	r.steps = append(r.steps, step.Step{Tool: tool})
	r.origins = append(r.origins, c.path)
	return &r.steps[len(r.steps)-1]
}

// act appends a step that does something to the page, and after it what the
// dialog that it opens was meant to be told.
func (r *reader) act(c *command, tool step.Tool, inFrames bool) {
	r.add(c, tool, inFrames)
	if r.answer != nil {
		r.add(c, *r.answer, false)
		r.answer, r.answered = nil, r.at
	}
}

// silent are commands that neither touch the page nor make a step.
var silent = map[string]bool{"echo": true, "setSpeed": true, "debugger": true, "store": true}

// next is the command behind the one being read; nil at the end.
func (r *reader) next() *command {
	for i := r.at + 1; i < len(r.commands); i++ {
		if c := &r.commands[i]; !silent[c.Command] {
			return c
		}
	}
	return nil
}

// last is the place of the command before the one being read; -1 at the start.
func (r *reader) last() int {
	i := r.at - 1
	for i >= 0 && silent[r.commands[i].Command] {
		i--
	}
	return i
}

func clip(text string, most int) string { return recording.Clip(text, most) }
