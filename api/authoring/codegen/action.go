package codegen

import (
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/recording"
	"github.com/slipway-qa/slipway/storage/step"
)

// onPage reads a call behind a page.
func (r *reader) onPage(chain []call) error {
	if chain[0].name == "keyboard" && len(chain) == 2 && chain[1].name == "press" {
		text, err := chain[1].text(0)
		if err != nil {
			return err
		}
		return r.add(chain[1].line, step.Tool{Type: step.PressKey, Args: step.Args{Key: key(text)}}, nil)
	}
	l, rest, err := locate(chain)
	if err != nil {
		return err
	}
	switch {
	case len(rest) != 1 || !rest[0].called:
		return refuse(&chain[len(chain)-1])
	case l.selector == nil && len(l.frames) == 0:
		return r.ofPage(&rest[0])
	case l.selector == nil:
		return refuse(&rest[0])
	}
	return r.act(l, &rest[0])
}

// ofPage reads what a page does itself.
func (r *reader) ofPage(c *call) error {
	switch c.name {
	case "once", "on":
		return r.dialogOf(c)
	case "waitForLoadState", "bringToFront", "pause":
		return nil // each step waits, and acts in the window that it is about
	case "goto":
		return r.goTo(c)
	case "goBack", "goForward", "reload":
		tool := map[string]string{"goBack": step.Back, "goForward": step.Forward, "reload": step.Reload}[c.name]
		return r.add(c.line, step.Tool{Type: tool}, nil)
	case "waitForTimeout":
		ms, err := c.number(0)
		if err != nil {
			return err
		}
		return r.add(c.line, step.Tool{Type: step.Pause, Args: step.Args{Time: &ms}}, nil)
	case "waitForURL":
		m, err := c.compared(step.URLIs, step.Equals)
		if err != nil {
			return err
		}
		if m.Args.Mode == step.Equals && strings.ContainsAny(m.Args.Value, "*{[") {
			return recording.Invalid(at(c.line), "waitForURL with a glob has no counterpart: use the address, or a pattern")
		}
		return r.add(c.line, step.Tool{Type: step.Assert, Args: step.Args{Matcher: m}}, nil)
	case "setViewportSize":
		return r.viewport(c)
	}
	return refuse(c)
}

func (r *reader) goTo(c *call) error {
	address, err := c.text(0)
	if err != nil {
		return err
	}
	if r.url == "" {
		r.url = address
	}
	return r.add(c.line, step.Tool{Type: step.GoToURL, Args: step.Args{URL: address}}, nil)
}

func (r *reader) viewport(c *call) error {
	size, err := c.options(0, "width", "height")
	if err != nil {
		return err
	}
	var n [2]int
	for i, name := range []string{"width", "height"} {
		if n[i], err = strconv.Atoi(size[name].text); err != nil {
			return recording.Invalid(at(c.line), "setViewportSize needs width and height")
		}
	}
	return r.add(c.line, step.Tool{Type: step.SetViewport, Args: step.Args{Width: &n[0], Height: &n[1]}}, nil)
}

func (c *call) number(i int) (int, error) {
	if i < len(c.args) && c.args[i].kind == valueNumber {
		if n, err := strconv.Atoi(c.args[i].text); err == nil {
			return n, nil
		}
	}
	return 0, recording.Invalid(at(c.line), "%s needs a number", shown(c.name))
}

// act reads what is done to an element.
func (r *reader) act(l *location, c *call) error {
	args := step.Args{Selector: l.selector}
	switch c.name {
	case "click", "tap":
		return r.click(l, c)
	case "dblclick", "hover":
		if err := r.placed(c); err != nil {
			return err
		}
		tool := map[string]string{"dblclick": step.DoubleClick, "hover": step.Hover}[c.name]
		return r.add(c.line, step.Tool{Type: tool, Args: args}, l.frames)
	case "check", "uncheck", "setChecked":
		return r.check(l, c)
	case "fill", "clear":
		return r.fill(l, c)
	case "pressSequentially", "type":
		text, err := c.text(0)
		if err != nil {
			return err
		}
		args.Text = &text
		return r.add(c.line, step.Tool{Type: step.TypeKeys, Args: args}, l.frames)
	case "press":
		text, err := c.text(0)
		if err != nil {
			return err
		}
		args.Key = key(text)
		return r.add(c.line, step.Tool{Type: step.PressKey, Args: args}, l.frames)
	case "selectOption":
		return r.choose(l, c)
	case "dragTo":
		return r.drag(l, c)
	case "scrollIntoViewIfNeeded":
		return nil // each step scrolls to its element
	case "setInputFiles":
		return recording.Invalid(at(c.line), "setInputFiles names a file of another machine: add a step upload_file with its content")
	}
	return refuse(c)
}

// placed reads the position of a pointer, which is not kept.
func (r *reader) placed(c *call) error {
	options, err := c.options(0, "position")
	if err == nil && options != nil {
		r.Warn(at(c.line), "the position is not kept: %s takes the middle of the element", c.name)
	}
	return err
}

func (r *reader) click(l *location, c *call) error {
	options, err := c.options(0, "button", "position", "clickCount")
	if err != nil {
		return err
	}
	if _, ok := options["position"]; ok {
		r.Warn(at(c.line), "the position is not kept: click takes the middle of the element")
	}
	tool := step.Click
	switch button, count := options["button"].text, options["clickCount"].text; {
	case button == "right" && count == "":
		tool = step.RightClick
	case count == "2" && (button == "" || button == "left"):
		tool = step.DoubleClick
	case count != "" && count != "1", button != "" && button != "left":
		return recording.Invalid(at(c.line),
			"this click has no counterpart among the tools: there are one and two clicks, and one with the right button")
	}
	if c.name == "tap" {
		r.Warn(at(c.line), "tap is a click with the mouse")
	}
	return r.add(c.line, step.Tool{Type: tool, Args: step.Args{Selector: l.selector}}, l.frames)
}

// check clicks and asserts: no tool clicks only when it must.
func (r *reader) check(l *location, c *call) error {
	off := c.name == "uncheck"
	if c.name == "setChecked" {
		if len(c.args) != 1 || c.args[0].text != "true" && c.args[0].text != "false" {
			return refuse(c)
		}
		off = c.args[0].text == "false"
	}
	if err := r.add(c.line, step.Tool{Type: step.Click, Args: step.Args{Selector: l.selector}}, l.frames); err != nil {
		return err
	}
	again := *l.selector
	return r.add(c.line, step.Tool{Type: step.Assert, Args: step.Args{Selector: &again, Not: off,
		Matcher: &step.Matcher{Name: step.Checked}}}, l.frames)
}

func (r *reader) fill(l *location, c *call) error {
	text := ""
	if c.name == "fill" {
		var err error
		if text, err = c.text(0); err != nil {
			return err
		}
	}
	return r.add(c.line, step.Tool{Type: step.InputText, Args: step.Args{Selector: l.selector, Text: &text}}, l.frames)
}

// choose reads selectOption('value'), (['value']) and ({ label: 'text' }).
func (r *reader) choose(l *location, c *call) error {
	if len(c.args) != 1 {
		return refuse(c)
	}
	v := c.args[0]
	if v.kind == valueList && len(v.list) == 1 {
		v = v.list[0]
	}
	option := v.text
	switch {
	case v.kind == valueText:
	case v.kind == valueObject && len(v.members) == 1 && v.members["label"].kind == valueText && v.members["label"].text != "":
		option = v.members["label"].text
	case v.kind == valueObject && len(v.members) == 1 && v.members["value"].text != "":
		option = v.members["value"].text
	case v.kind == valueObject && len(v.members) == 1 && v.members["index"].text != "":
		option = "index=" + v.members["index"].text
	default:
		return recording.Invalid(at(c.line), "selectOption must name one option")
	}
	return r.add(c.line, step.Tool{Type: step.Select, Args: step.Args{Selector: l.selector, OptionValue: &option}}, l.frames)
}

func (r *reader) drag(l *location, c *call) error {
	if len(c.args) == 0 || c.args[0].kind != valueChain || c.args[0].chain[0].called {
		return refuse(c)
	}
	to, rest, err := locate(c.args[0].chain[1:])
	if err != nil {
		return err
	}
	if len(rest) > 0 || to.selector == nil || len(to.frames) != len(l.frames) {
		return refuse(c)
	}
	return r.add(c.line, step.Tool{Type: step.Drag, Args: step.Args{Selector: l.selector, Target: to.selector}}, l.frames)
}
