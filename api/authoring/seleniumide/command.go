package seleniumide

import (
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

// handlers are the commands that do something; assertion reads those that compare.
// It is filled once, since commands look ahead at others.
var handlers map[string]func(*reader, *command) error

func init() {
	drop := func(*reader, *command) error { return nil }
	hover := act(step.Hover)
	handlers = map[string]func(*reader, *command) error{
		"open":  (*reader).open,
		"close": (*reader).close,
		"pause": (*reader).pause,
		"store": (*reader).store,

		"click": (*reader).click, "clickAt": (*reader).click,
		"doubleClick": act(step.DoubleClick), "doubleClickAt": act(step.DoubleClick),
		"contextMenu": act(step.RightClick), "contextMenuAt": act(step.RightClick),
		"goBack": inHistory(step.Back), "goForward": inHistory(step.Forward), "refresh": inHistory(step.Reload),
		"check":   func(r *reader, c *command) error { return r.check(c, false) },
		"uncheck": func(r *reader, c *command) error { return r.check(c, true) },
		"type":    (*reader).input, "editContent": (*reader).input,
		"sendKeys":     (*reader).sendKeys,
		"addSelection": (*reader).choose, "select": (*reader).choose,
		"submit":        (*reader).submit,
		"executeScript": script,
		"mouseOver":     hover, "mouseMove": hover, "mouseMoveAt": hover,
		"mouseDown": (*reader).mouseDown, "mouseDownAt": (*reader).mouseDown,
		"dragAndDropToObject": (*reader).drag,

		"selectFrame":       (*reader).selectFrame,
		"selectWindow":      (*reader).selectWindow,
		"storeWindowHandle": (*reader).storeWindow,

		"chooseOkOnNextConfirmation":     before(accept, false),
		"chooseCancelOnNextConfirmation": before(dismiss, false),
		"chooseCancelOnNextPrompt":       before(dismiss, false),
		"answerOnNextPrompt":             before(accept, true),

		"assertAlert": (*reader).dialogText, "verifyAlert": (*reader).dialogText,
		"assertConfirmation": (*reader).dialogText, "verifyConfirmation": (*reader).dialogText,
		"assertPrompt": (*reader).dialogText, "verifyPrompt": (*reader).dialogText,

		"setWindowSize": drop, "setSpeed": drop, "echo": drop, "debugger": drop, "mouseOut": drop,
	}
	for name, action := range answers {
		handlers[name] = now(action, strings.Contains(strings.ToLower(name), "answer"))
	}
}

// act reads a command whose tool needs its element only.
func act(tool string) func(*reader, *command) error {
	return func(r *reader, c *command) error {
		s, err := r.element(c)
		if err != nil {
			return err
		}
		r.act(c, step.Tool{Type: tool, Args: step.Args{Selector: s}}, true)
		return nil
	}
}

// inHistory reads a command that leads to another page, which leaves the frames.
func inHistory(tool string) func(*reader, *command) error {
	return func(r *reader, c *command) error {
		r.frames = nil
		clear(r.typed)
		r.act(c, step.Tool{Type: tool}, false)
		return nil
	}
}

// scripts are those that do what a tool does.
var scripts = map[string]string{
	"window.history.back()": step.Back, "window.history.forward()": step.Forward, "window.location.reload()": step.Reload,
}

// script knows the scripts of our own exports; any other has no counterpart.
func script(r *reader, c *command) error {
	tool := scripts[c.Target]
	if tool == "" || c.Value != "" {
		return invalid(c.path+".command", "executeScript has no counterpart among the tools")
	}
	return inHistory(tool)(r, c)
}

// open leaves paths as they are: the test's URL, which may be another one than
// the project's, completes them. It leaves the frames, as browsers do.
func (r *reader) open(c *command) error {
	address, err := r.text(c.path+".target", c.Target)
	if err != nil {
		return err
	}
	if address == "" {
		if address = r.base; address == "" {
			address = "/"
		}
	}
	r.frames = nil
	clear(r.typed)
	r.act(c, step.Tool{Type: step.GoToURL, Args: step.Args{URL: address}}, false)
	return nil
}

// close is dropped where the test leaves the window: the window stays open, which
// nothing notices, and the numbers of the others stay what they are.
func (r *reader) close(c *command) error {
	next := r.next()
	if next == nil || next.Command == "close" || next.Command == "selectWindow" {
		return nil
	}
	return r.refuse(c)
}

// pause has its time in the target; older recorders wrote it into the value.
func (r *reader) pause(c *command) error {
	path, text := c.path+".target", c.Target
	if strings.TrimSpace(text) == "" {
		path, text = c.path+".value", c.Value
	}
	ms, err := r.milliseconds(path, text, 0)
	if err != nil {
		return err
	}
	r.add(c, step.Tool{Type: step.Pause, Args: step.Args{Time: &ms}}, false)
	return nil
}

func (r *reader) store(c *command) error {
	value, err := r.text(c.path+".target", c.Target)
	if err != nil {
		return err
	}
	name := strings.TrimSpace(c.Value)
	if !variableName.MatchString(name) {
		return invalid(c.path+".value", "must be the name of a variable")
	}
	r.variables[name] = value
	return nil
}

func (r *reader) click(c *command) error {
	if err := act(step.Click)(r, c); err != nil {
		return err
	}
	if c.OpensWindow {
		r.windows.open(c.WindowHandleName)
	}
	return nil
}

// check clicks and asserts: no tool clicks only when it must. A box that had the
// state before fails the test instead of passing with the other state.
func (r *reader) check(c *command, not bool) error {
	s, err := r.element(c)
	if err != nil {
		return err
	}
	r.act(c, step.Tool{Type: step.Click, Args: step.Args{Selector: s}}, true)
	bare := *s
	bare.Fingerprint = nil
	r.add(c, step.Tool{Type: step.Assert, Args: step.Args{Selector: &bare, Not: not, Matcher: &step.Matcher{Name: step.Checked}}}, true)
	return nil
}

func (r *reader) input(c *command) error {
	s, err := r.element(c)
	if err != nil {
		return err
	}
	value, err := r.text(c.path+".value", c.Value)
	if err != nil {
		return err
	}
	r.fill(c, s, r.frames.place(s), value)
	return nil
}

// choose reads the options of lists. The tool takes a value, a label or index=N.
func (r *reader) choose(c *command) error {
	s, err := r.element(c)
	if err != nil {
		return err
	}
	option, err := r.text(c.path+".value", c.Value)
	if err != nil {
		return err
	}
	switch kind, value, ok := strings.Cut(option, "="); {
	case ok && (kind == "label" || kind == "value"):
		if strings.HasPrefix(value, "regexp:") || strings.HasPrefix(value, "glob:") {
			return invalid(c.path+".value", "must name the option without a pattern")
		}
		option = value
	case ok && kind == "id":
		return invalid(c.path+".value", "must name the option by label=, value= or index=")
	}
	r.act(c, step.Tool{Type: step.Select, Args: step.Args{Selector: s, OptionValue: &option}}, true)
	return nil
}

// submit becomes the Enter key where the step before left the focus in the form.
func (r *reader) submit(c *command) error {
	if len(r.steps) > 0 {
		switch last := &r.steps[len(r.steps)-1].Tool; step.Inner(last).Type {
		case step.InputText, step.PressKey:
			r.act(c, step.Tool{Type: step.EnterKeySubmit}, false)
			return nil
		}
	}
	return r.refuse(c)
}

func (r *reader) drag(c *command) error {
	from, err := r.element(c)
	if err != nil {
		return err
	}
	to, err := r.locator(c.path+".value", c.Value)
	if err != nil {
		return err
	}
	r.act(c, step.Tool{Type: step.Drag, Args: step.Args{Selector: from, Target: to}}, true)
	return nil
}

// mouseDown reads the commands of a drag together: down, moves, up. On one element
// they are a click, which recorders write as a command of its own behind them.
func (r *reader) mouseDown(c *command) error {
	end := r.at + 1
	for end < len(r.commands) && strings.HasPrefix(r.commands[end].Command, "mouseMove") {
		end++
	}
	if end == len(r.commands) || r.commands[end].Command != "mouseUp" && r.commands[end].Command != "mouseUpAt" {
		return r.refuse(c)
	}
	up := &r.commands[end]
	from, err := r.element(c)
	if err != nil {
		return err
	}
	to, err := r.locator(up.path+".target", up.Target)
	if err != nil {
		return err
	}
	for _, moved := range r.commands[r.at+1 : end+1] {
		r.warnOfPosition(&moved)
	}
	r.at = end
	if from.Type != to.Type || from.Value != to.Value {
		r.act(c, step.Tool{Type: step.Drag, Args: step.Args{Selector: from, Target: to}}, true)
		return nil
	}
	if next := r.next(); next != nil && strings.HasPrefix(next.Command, "click") && next.Target == c.Target {
		return nil
	}
	r.act(c, step.Tool{Type: step.Click, Args: step.Args{Selector: from}}, true)
	return nil
}
