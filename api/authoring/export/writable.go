package export

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step"
)

// stateTools are the tools that Playwright alone has words for, beside those of networkMember.
var stateTools = []string{step.SetCookie, step.SetStorage, step.ClearState, step.Emulate, step.SetClock, step.Save, step.ForEach}

// checkWritable finds what a target has no words for. The error is a *step.InvalidError.
func checkWritable(t Target, c script.Case) error {
	for i := range c.Steps {
		if c.Steps[i].Tool.Type == step.Finish {
			return nil // nothing is done behind it
		}
		path := fmt.Sprintf("steps[%d]", i)
		if w := c.Steps[i].When; w != nil {
			if err := writable(t, c, path+".when", &step.Tool{Type: step.Assert, Args: step.Args{Selector: w.Selector,
				Matcher: w.Matcher}}); err != nil {
				return err
			}
		}
		for tool, at := &c.Steps[i].Tool, path+".tool"; tool != nil; tool, at = tool.Args.Tool, at+".args.tool" {
			if err := writable(t, c, at+".args", tool); err != nil {
				return err
			}
			for n := range tool.Args.Tools {
				if err := writable(t, c, fmt.Sprintf("%s.args.tools[%d].args", at, n), &tool.Args.Tools[n]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func writable(t Target, c script.Case, path string, tool *step.Tool) error {
	a := &tool.Args
	lacks := func(member, what string) error {
		return &step.InvalidError{Path: path + member, Msg: what + " has no words in " + t.Name}
	}
	for _, m := range []struct {
		name string
		at   *step.Selector
	}{{".selector", a.Selector}, {".target", a.Target}} {
		if relates(m.at, 0) {
			return lacks(m.name, "a selector by where an element lies")
		}
	}
	if lacking := mobileMember(tool); lacking == tool.Type {
		return lacksType(t, path, tool)
	} else if lacking != "" {
		return lacks(".matcher.name", lacking)
	}
	switch t.ID {
	case Maestro, JavaScriptCypress: // which look at each member themselves
		return nil
	case JavaScriptPlaywright:
		return writablePlaywright(c, tool, lacks)
	}
	if lacking := networkMember(tool); lacking != "" {
		if lacking == tool.Type {
			return lacksType(t, path, tool)
		}
		return lacks(".matcher.name", lacking)
	}
	switch {
	case slices.Contains(stateTools, tool.Type):
		return lacksType(t, path, tool)
	case a.Matcher != nil && slices.Contains([]string{step.StorageIs, step.CookieIs, step.Accessible}, a.Matcher.Name):
		return lacks(".matcher.name", a.Matcher.Name)
	case a.Position != nil:
		return lacks(".position", "a position")
	case a.Button != "":
		return lacks(".button", "a button")
	case len(a.Modifiers) > 0:
		return lacks(".modifiers", "a held key")
	case a.ClickCount != nil:
		return lacks(".clickCount", "a number of clicks")
	case len(a.Files) > 0:
		return lacks(".files", "an upload of several files")
	case tool.Type == step.UploadFile && a.File != nil && a.Selector == nil:
		return lacks(".selector", "a file chooser")
	}
	return nil
}

// writablePlaywright finds what only some browsers can, and paths that no code is written for.
func writablePlaywright(c script.Case, tool *step.Tool, lacks func(member, what string) error) error {
	a := &tool.Args
	cdp := tool.Type == step.ClearState && (a.All || a.Local) ||
		tool.Type == step.Emulate && (a.Device != "" || a.Locale != "" || a.TimeZone != "" || a.CPU != nil || a.Network != nil)
	if cdp && script.BrowserOf(c.Capabilities).Playwright != "chromium" {
		return lacks("", tool.Type+" for a browser other than Chromium")
	}
	if m := a.Matcher; m != nil && m.Args.Body != nil && m.Args.Body.Path != "" {
		if _, ok := pathKeys(m.Args.Body.Path); !ok {
			return lacks(".matcher.args.body.path", "a path with other parts than members, elements and *")
		}
	}
	return nil
}

func lacksType(t Target, path string, tool *step.Tool) error {
	return &step.InvalidError{Path: strings.TrimSuffix(path, ".args") + ".type", Msg: tool.Type + " has no words in " + t.Name}
}

// networkMember returns what of a tool is on requests, downloads and the console, its type
// or its matcher, for which Playwright alone has words; "" for nothing. An export that left it
// out would check less than the case.
func networkMember(tool *step.Tool) string {
	switch {
	case tool.Type == step.Assert && step.IsNetwork(tool):
		return tool.Args.Matcher.Name
	case tool.Type == step.WaitForURL || step.IsNetwork(tool):
		return tool.Type
	}
	return ""
}

// mobileMember returns what of a tool is on native apps alone, its type or its matcher, for which
// no target has words; "" for nothing.
func mobileMember(tool *step.Tool) string {
	switch {
	case !step.IsMobile(tool):
		return ""
	case tool.Type == step.Assert:
		return tool.Args.Matcher.Name
	}
	return tool.Type
}

// relates reports whether a selector says where its element lies.
func relates(s *step.Selector, depth int) bool {
	if s == nil || depth > step.MaxNesting {
		return false
	}
	for range s.Relations() {
		return true
	}
	return relates(s.Within, depth+1) || relates(s.Has, depth+1)
}
