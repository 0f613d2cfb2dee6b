package replay_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/appium"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// element returns an element of an app; names and values of its attributes alternate.
func element(class string, attributes ...string) *appium.Element {
	e := &appium.Element{Class: class, Attributes: map[string]string{}}
	for i := 0; i+1 < len(attributes); i += 2 {
		e.Attributes[attributes[i]] = attributes[i+1]
	}
	return e
}

func around(e *appium.Element, children ...*appium.Element) *appium.Element {
	e.Children = children
	return e
}

// contacts is an app with a list of people, who can be added and deleted, and a switch.
func contacts(platform string) *appium.App {
	field, button, text, row := "android.widget.EditText", "android.widget.Button", "android.widget.TextView", "android.view.ViewGroup"
	name, value, hint := "text", "text", "hint"
	list := element("android.widget.ListView", "resource-id", "app:id/people", "bounds", "[0,100][1080,900]")
	screen := element("android.widget.FrameLayout", "bounds", "[0,0][1080,1920]")
	news := element("android.widget.Switch", "text", "Newsletter", "checkable", "true", "checked", "false")
	if platform == "iOS" {
		field, button, text, row = "XCUIElementTypeTextField", "XCUIElementTypeButton", "XCUIElementTypeStaticText", "XCUIElementTypeCell"
		name, value, hint = "label", "value", "placeholderValue"
		list = element("XCUIElementTypeTable")
		screen = element("XCUIElementTypeApplication", "name", "Contacts", "width", "390", "height", "844")
		news = element("XCUIElementTypeSwitch", "label", "Newsletter", "value", "0")
	}
	news.Tapped = func() { news.Attributes["checked"], news.Attributes["value"] = "true", "1" }
	person := func(who string) *appium.Element {
		gone := element(button, name, "Delete", "clickable", "true")
		entry := around(element(row, "clickable", "true"), element(text, name, who), gone)
		gone.Tapped = func() {
			list.Children = slices.DeleteFunc(list.Children, func(e *appium.Element) bool { return e == entry })
		}
		return entry
	}
	around(list, person("Ann"), person("Bob"))
	who := element(field, hint, "New name", "password", "false")
	who.Entered = func() {
		list.Children = append(list.Children, person(who.Attributes[value]))
		who.Attributes[value] = ""
	}
	around(screen, element(text, name, "Contacts"), who, list, news, element(button, name, "Locked", "enabled", "false"))
	return &appium.App{Platform: platform, Root: screen}
}

func appLease(t *testing.T, app *appium.App) *browser.Lease {
	t.Helper()
	server := appium.Serve(app)
	t.Cleanup(server.Close)
	c, err := webdriver.New(webdriver.Config{URL: server.URL})
	require.NoError(t, err)
	s, err := c.NewSession(context.Background(), map[string]any{"platformName": app.Platform, "appium:app": "contacts"})
	require.NoError(t, err)
	return &browser.Lease{Session: s, Mobile: true}
}

// A test is written in a live session with an app, and passes in a fresh one.
func TestLiveApp(t *testing.T) {
	t.Parallel()
	for _, platform := range []string{"Android", "iOS"} {
		cfg := replay.Config{Lease: appLease(t, contacts(platform))}
		l, err := replay.Open(t.Context(), cfg)
		require.NoError(t, err)
		var steps []step.Step
		act := func(role, name string, tool step.Tool) {
			t.Helper()
			s, err := l.Snapshot(t.Context())
			require.NoError(t, err)
			at := slices.IndexFunc(s.Nodes, func(n snapshot.Node) bool { return n.Role == role && n.Name == name })
			require.GreaterOrEqual(t, at, 0, "%s %q in %s", role, name, s.Outline())
			found, err := l.Locate(t.Context(), s.Nodes[at].Ref, "none")
			require.NoError(t, err)
			require.Empty(t, found[1].Selector.Type)
			tool.Args.Selector = &found[0].Selector
			st := step.Step{ID: string(rune('a' + len(steps))), Tool: tool}
			record, err := l.Do(t.Context(), st)
			require.NoError(t, err)
			require.Equal(t, playback.Passed, record.Status, record.Result.Message)
			steps = append(steps, st)
		}
		carol := "Carol"
		act("textbox", "New name", step.Tool{Type: step.InputText, Args: step.Args{Text: &carol}})
		record, err := l.Do(t.Context(), step.Step{ID: "enter", Tool: step.Tool{Type: step.EnterKeySubmit}})
		require.NoError(t, err)
		require.Equal(t, playback.Passed, record.Status, record.Result.Message)
		steps = append(steps, step.Step{ID: "enter", Tool: step.Tool{Type: step.EnterKeySubmit}})
		act("listitem", "Carol Delete", step.Tool{Type: step.Assert, Args: step.Args{Matcher: &step.Matcher{Name: step.Visible}}})
		act("textbox", "New name", step.Tool{Type: step.Assert, Args: step.Args{Matcher: &step.Matcher{Name: step.ValueIs}}})
		act("textbox", "New name", step.Tool{Type: step.Assert, Args: step.Args{Matcher: &step.Matcher{Name: step.Focused}}})
		act("switch", "Newsletter", step.Tool{Type: step.Click})
		act("switch", "Newsletter", step.Tool{Type: step.Assert, Args: step.Args{Not: true, Matcher: &step.Matcher{Name: step.Focused}}})
		act("switch", "Newsletter", step.Tool{Type: step.Assert, Args: step.Args{Matcher: &step.Matcher{Name: step.Checked}}})
		act("button", "Locked", step.Tool{Type: step.Assert, Args: step.Args{Not: true, Matcher: &step.Matcher{Name: step.Enabled}}})

		s, err := l.Snapshot(t.Context())
		require.NoError(t, err)
		require.True(t, s.Quiet)
		x := snapshot.NewIndex(s)
		var doomed string // the button in the row of Bob
		for i, n := range s.Nodes {
			if n.Role == "button" && n.Name == "Delete" && s.Nodes[x.Parent(i)].Name == "Bob Delete" {
				doomed = n.Ref
			}
		}
		found, err := l.Locate(t.Context(), doomed)
		require.NoError(t, err)
		require.Nil(t, found[0].Selector.Index)
		last := step.Step{ID: "last", Tool: step.Tool{Type: step.Click, Args: step.Args{Selector: &found[0].Selector}}}
		record, err = l.Do(t.Context(), last)
		require.NoError(t, err)
		require.Equal(t, playback.Passed, record.Status, record.Result.Message)
		steps = append(steps, last)
		require.False(t, l.Close())

		app := contacts(platform)
		r := play(t, replay.Config{Lease: appLease(t, app), Steps: steps})
		require.Equal(t, "PASSED", r.Status, r.Message)
		app.Look(func() {
			var names []string
			for _, row := range app.Root.Children[2].Children {
				names = append(names, row.Children[0].Attributes["text"]+row.Children[0].Attributes["label"])
			}
			require.Equal(t, []string{"Ann", "Carol"}, names)
		})
		// What is not there any more fails.
		app = contacts(platform)
		app.Root.Children[2].Children = app.Root.Children[2].Children[:1]
		steps[len(steps)-1].TimeoutMS = 300
		r = play(t, replay.Config{Lease: appLease(t, app), Steps: steps})
		require.Equal(t, "FAILED", r.Status)
		require.Contains(t, r.Message, "was not found")
	}
}

// Secrets of the test are neither in what is seen of an app nor in selectors.
func TestLiveAppSecrets(t *testing.T) {
	t.Parallel()
	app := contacts("Android")
	lookup := func(step.Reference) (string, bool, bool) { return "geheim77", true, true }
	l, err := replay.Open(t.Context(), replay.Config{Lease: appLease(t, app), Lookup: lookup})
	require.NoError(t, err)
	defer l.Close()
	secret := "{{pw}}"
	record, err := l.Do(t.Context(), step.Step{ID: "a", Tool: step.Tool{Type: step.InputText, Args: step.Args{Text: &secret,
		Selector: &step.Selector{Type: step.XPath, Value: "//android.widget.EditText"}}}})
	require.NoError(t, err)
	require.Equal(t, playback.Passed, record.Status, record.Result.Message)
	app.Look(func() { app.Root.Children[0].Attributes["text"] = "Hello geheim77" })
	s, err := l.Snapshot(t.Context())
	require.NoError(t, err)
	require.NotContains(t, s.Outline(), "geheim77")
	for _, n := range s.Nodes {
		found, err := l.Locate(t.Context(), n.Ref)
		require.NoError(t, err)
		require.NotContains(t, found[0].Selector.Value, "geheim77")
	}
}
