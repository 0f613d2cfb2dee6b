package generation

import (
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

const (
	// maxDescribed bounds a text of a step in a description, in characters.
	maxDescribed = 80
	// maxDescription bounds a description in characters; a case stores 20,000.
	maxDescription = 15_000
)

// describe returns a test in plain words, one numbered line a step.
func describe(steps []step.Step) string {
	var out strings.Builder
	for i := range steps {
		line := fmt.Sprintf("%d. %s\n", i+1, describeStep(&steps[i]))
		if out.Len()+len(line) > maxDescription {
			fmt.Fprintf(&out, "... and %d more steps\n", len(steps)-i)
			break
		}
		out.WriteString(line)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func describeStep(s *step.Step) string {
	text := describeTool(&s.Tool)
	switch {
	case s.When != nil:
		text += ", if " + describeMatcher(s.When.Matcher, s.When.Selector, s.When.Not)
	case s.Optional:
		text += ", if it is there"
	}
	return text
}

// plainTools are tools whose words need no arguments.
var plainTools = map[string]string{
	step.EnterKeySubmit: "Press Enter", step.Back: "Go back", step.Forward: "Go forward", step.Reload: "Reload the page",
	step.Finish: "End the test",
}

// elementTools are tools that act on one element, with the verb.
var elementTools = map[string]string{
	step.Click: "Click", step.DoubleClick: "Double-click", step.RightClick: "Right-click", step.Hover: "Hover over",
}

func describeTool(t *step.Tool) string {
	a := &t.Args
	if text, ok := plainTools[t.Type]; ok {
		return text
	}
	if verb, ok := elementTools[t.Type]; ok {
		return verb + " " + describeElement(a.Selector)
	}
	switch t.Type {
	case step.GoToURL:
		return "Open " + brief(a.URL)
	case step.InputText:
		return fmt.Sprintf("Enter %s into %s", quoted(a.Text), describeElement(a.Selector))
	case step.TypeKeys:
		return "Type " + quoted(a.Text) + into(" in ", a.Selector)
	case step.Select:
		return fmt.Sprintf("Select %s in %s", quoted(a.OptionValue), describeElement(a.Selector))
	case step.PressKey:
		return "Press " + a.Key + into(" in ", a.Selector)
	case step.Drag:
		return fmt.Sprintf("Drag %s to %s", describeElement(a.Selector), describeElement(a.Target))
	case step.UploadFile:
		return "Upload a file to " + describeElement(a.Selector)
	case step.Route:
		return "Answer requests of " + brief(a.URL)
	case step.Unroute:
		return strings.TrimSpace("End the answers to requests " + brief(a.URL))
	case step.WaitForRequest, step.WaitForResponse, step.WaitForURL, step.WaitForDownload:
		return strings.TrimSpace("Wait for the " + strings.TrimPrefix(t.Type, "wait_for_") + " " + brief(a.URL+a.Name))
	case step.Pause:
		return fmt.Sprintf("Wait %d ms", number(a.Time))
	case step.ScrollDocument:
		return "Scroll the page " + a.Direction
	case step.ScrollElement:
		return fmt.Sprintf("Scroll %s %s", describeElement(a.Selector), a.Direction)
	case step.SetViewport:
		return fmt.Sprintf("Resize the window to %d by %d", number(a.Width), number(a.Height))
	case step.HandleDialog:
		return describeDialog(a)
	case step.SwitchWindow:
		return describeWindow(a.Matcher)
	case step.InFrame, step.InShadowRoot:
		if a.Tool == nil {
			return "Do nothing"
		}
		return describeTool(a.Tool) + " inside " + describeElement(a.Selector)
	case step.SetCookie, step.SetStorage, step.ClearState, step.Emulate, step.SetClock, step.Save, step.ForEach:
		return describeState(t)
	case step.Assert:
		return "Check that " + describeMatcher(a.Matcher, a.Selector, a.Not)
	}
	return t.Type
}

// describeState describes the tools that set, save and repeat.
func describeState(t *step.Tool) string {
	a := &t.Args
	switch t.Type {
	case step.SetCookie:
		return "Set the cookie " + brief(a.Name)
	case step.SetStorage:
		return fmt.Sprintf("Set %s in the %s storage", brief(a.Key), a.Area)
	case step.ClearState:
		return "Clear what the browser keeps"
	case step.Emulate:
		return "Emulate another device or place"
	case step.Save:
		return fmt.Sprintf("Save the %s%s as %s", a.From, into(" of ", a.Selector), a.Name)
	case step.ForEach:
		return fmt.Sprintf("Do %d things in each %s", len(a.Tools), describeElement(a.Selector))
	}
	switch {
	case a.Advance != nil:
		return fmt.Sprintf("Move the clock on by %d ms", *a.Advance)
	case a.Resume:
		return "Let the clock go on"
	}
	return "Stop the clock at " + brief(a.Fixed)
}

func describeDialog(a *step.Args) string {
	text := "Accept the dialog"
	if a.Action == "dismiss" {
		text = "Dismiss the dialog"
	}
	if a.Text != nil {
		text += " with " + quoted(a.Text)
	}
	return text
}

func describeWindow(m *step.Matcher) string {
	switch {
	case m == nil || m.Name == step.WindowNew:
		return "Switch to the new window"
	case m.Name == step.WindowIndex:
		return "Switch to window " + m.Args.Value
	}
	return fmt.Sprintf("Switch to the window whose %s contains %q", m.Name, brief(m.Args.Value))
}

// modeWords are the words of comparing.
var modeWords = map[string]string{
	"": "is", step.Equals: "is", step.Contains: "contains", step.Matches: "matches",
	step.AtLeast: "is at least", step.AtMost: "is at most",
}

// stateWords are matchers that compare no text, and their opposites.
var stateWords = map[string][2]string{
	step.Visible: {"is visible", "is not visible"}, step.Hidden: {"is hidden", "is not hidden"},
	step.Enabled: {"is enabled", "is disabled"}, step.Checked: {"is checked", "is not checked"},
	step.Focused: {"has the focus", "does not have the focus"},
}

func describeMatcher(m *step.Matcher, s *step.Selector, not bool) string {
	if m == nil {
		return "the page is there"
	}
	if words, ok := stateWords[m.Name]; ok {
		if not {
			return describeElement(s) + " " + words[1]
		}
		return describeElement(s) + " " + words[0]
	}
	if step.IsNetworkMatcher(m.Name) {
		return describeNetwork(m, not)
	}
	subject := describeElement(s)
	switch m.Name {
	case step.URLIs:
		subject = "the address"
	case step.TitleIs:
		subject = "the title"
	case step.TextIs:
		subject = "the text of " + subject
	case step.ValueIs:
		subject = "the value of " + subject
	case step.Count:
		subject = "the number of elements that match " + subject
	case step.AttributeIs:
		subject = fmt.Sprintf("the attribute %s of %s", brief(m.Args.Name), subject)
	}
	mode := modeWords[m.Args.Mode]
	if not {
		mode = "is not true: " + mode
	}
	return fmt.Sprintf("%s %s %q", subject, mode, brief(m.Args.Value))
}

// describeNetwork returns the words for what the browser did.
func describeNetwork(m *step.Matcher, not bool) string {
	there := "there is a "
	if not {
		there = "there is no "
	}
	switch m.Name {
	case step.ConsoleIs:
		if not {
			return "the console has errors"
		}
		return "the console has no errors"
	case step.DownloadIs:
		return strings.TrimSpace(there + "download " + brief(m.Args.Name))
	}
	return there + m.Name + " of " + brief(m.Args.URL)
}

// describeElement returns the words for what a selector finds.
func describeElement(s *step.Selector) string {
	if s == nil {
		return "the page"
	}
	var text string
	switch {
	case s.Type == step.ByRole && s.Name != "":
		text = fmt.Sprintf("the %s %q", s.Value, brief(s.Name))
	case s.Type == step.ByRole:
		text = "the " + s.Value
	case s.Type == step.ByLabel, s.Type == step.Placeholder:
		text = fmt.Sprintf("the field %q", brief(s.Value))
	case s.Type == step.ByText, s.Type == step.AltText, s.Type == step.Title:
		text = fmt.Sprintf("%q", brief(s.Value))
	default:
		text = describeFingerprint(s)
	}
	if s.HasText != "" {
		text += fmt.Sprintf(" with the text %q", brief(s.HasText))
	}
	if s.Index != nil {
		text += " (" + ordinal(*s.Index) + ")"
	}
	if s.Within != nil {
		text += " in " + describeElement(s.Within)
	}
	return text
}

// describeFingerprint names an element by what is known of it, else by its selector.
func describeFingerprint(s *step.Selector) string {
	if f := s.Fingerprint; f != nil {
		kind := f.Role
		if kind == "" {
			kind = f.Tag
		}
		for _, name := range []string{f.Name, f.Label, f.Placeholder, f.Text} {
			if name != "" {
				return fmt.Sprintf("the %s %q", kind, brief(name))
			}
		}
	}
	return brief(s.Value)
}

func ordinal(index int) string {
	if index < 0 {
		return fmt.Sprintf("number %d from the end", -index)
	}
	return fmt.Sprintf("number %d", index+1)
}

// into returns the words for where something is done; "" for the focused element.
func into(word string, s *step.Selector) string {
	if s == nil {
		return ""
	}
	return word + describeElement(s)
}

func quoted(text *string) string {
	if text == nil {
		return `""`
	}
	return fmt.Sprintf("%q", brief(*text))
}

func number(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

// brief returns a text in one line, shortened.
func brief(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxDescribed {
		return string(runes[:maxDescribed]) + "..."
	}
	return text
}
