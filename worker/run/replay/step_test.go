package replay_test

import (
	"io"
	"log/slog"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

// Short ways to write steps.

func css(value string) *step.Selector { return &step.Selector{Type: step.CSS, Value: value} }

func xpath(value string) *step.Selector { return &step.Selector{Type: step.XPath, Value: value} }

func printed(value string, print step.Fingerprint) *step.Selector {
	return &step.Selector{Type: step.CSS, Value: value, Fingerprint: &print}
}

func do(kind string, args step.Args) step.Step {
	return step.Step{Tool: step.Tool{Type: kind, Args: args}}
}

func open(address string) step.Step { return do(step.GoToURL, step.Args{URL: address}) }

func click(s string) step.Step { return do(step.Click, step.Args{Selector: css(s)}) }

func input(s, text string) step.Step {
	return do(step.InputText, step.Args{Selector: css(s), Text: &text})
}

func choose(s, option string) step.Step {
	return do(step.Select, step.Args{Selector: css(s), OptionValue: &option})
}

func key(name string) step.Step { return do(step.PressKey, step.Args{Key: name}) }

func dialog(action string) step.Step { return do(step.HandleDialog, step.Args{Action: action}) }

func window(name, value string) step.Step {
	return do(step.SwitchWindow, step.Args{Matcher: &step.Matcher{Name: name, Args: step.MatcherArgs{Value: value}}})
}

func scroll(s, direction string) step.Step {
	return do(step.ScrollElement, step.Args{Selector: css(s), Direction: direction})
}

// is makes an assertion of args name, mode and value as far as given.
func is(s, matcher string, args ...string) step.Step {
	m := &step.Matcher{Name: matcher}
	if len(args) > 0 {
		m.Args.Value = args[0]
	}
	if len(args) > 1 {
		m.Args.Mode = args[1]
	}
	if len(args) > 2 {
		m.Args.Name = args[2]
	}
	a := step.Args{Matcher: m}
	if s != "" {
		a.Selector = css(s)
	}
	return do(step.Assert, a)
}

func not(s step.Step) step.Step {
	s.Tool.Args.Not = true
	return s
}

func inside(kind, s string, inner step.Step) step.Step {
	tool := inner.Tool
	inner.Tool = step.Tool{Type: kind, Args: step.Args{Selector: css(s), Tool: &tool}}
	return inner
}

func frame(s string, inner step.Step) step.Step { return inside(step.InFrame, s, inner) }

func shadow(s string, inner step.Step) step.Step { return inside(step.InShadowRoot, s, inner) }

func optional(s step.Step) step.Step {
	s.Optional = true
	return s
}

func within(ms int, s step.Step) step.Step {
	s.TimeoutMS = ms
	return s
}

func logger(out io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// foreign returns an address on the other name of this machine, which is another
// origin.
func foreign(address string) string { return strings.Replace(address, "127.0.0.1", "localhost", 1) }
