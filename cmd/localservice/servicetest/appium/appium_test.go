package appium

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

func sample() *App {
	return &App{Platform: "Android", Root: &Element{Class: "a.Box", Children: []*Element{
		{Class: "a.Row", Children: []*Element{{Class: "a.Text", Attributes: map[string]string{"text": "Ann"}},
			{Class: "a.Button", Attributes: map[string]string{"text": "Go"}}}},
		{Class: "a.Row", Children: []*Element{{Class: "a.Text", Attributes: map[string]string{"text": `"B"`}},
			{Class: "a.Button", Attributes: map[string]string{"text": "Go"}}}},
	}}}
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	app := sample()
	for path, want := range map[string]int{
		"//*": 7, "//a.Row": 2, "//a.Row//a.Button": 2, "//a.Box//a.Button": 2, "//a.Button//a.Row": 0,
		`//a.Row[.//*[@text="Ann"]]//a.Button[@text="Go"]`: 1, `//*[@text='"B"']`: 1, `//*[@text=concat("", '"', "B", '"', "")]`: 1,
		`//*[@class="a.Row"]`: 2, `//a.Text[@text="Bob"]`: 0,
	} {
		found, err := app.evaluate(path)
		require.NoError(t, err, path)
		require.Len(t, found, want, path)
	}
	for _, path := range []string{"", "a", "/a", "//", "//a$b", "//a[1]", "//a[@b=c]", `//a[@b="c`, "//a[text()='x']", `//a[@b=concat("c"`} {
		_, err := app.evaluate(path)
		require.Error(t, err, path)
	}
}

// The server refuses what Appium refuses.
func TestRefuses(t *testing.T) {
	t.Parallel()
	app := sample()
	server := Serve(app)
	defer server.Close()
	ctx := context.Background()
	c, err := webdriver.New(webdriver.Config{URL: server.URL})
	require.NoError(t, err)
	for _, capabilities := range []map[string]any{nil, {"platformName": "iOS"}, {"platformName": "android", "app": "x"}} {
		_, err = c.NewSession(ctx, capabilities)
		require.Error(t, err)
	}
	s, err := c.NewSession(ctx, map[string]any{"platformName": "Android", "appium:app": "x"})
	require.NoError(t, err)
	_, err = s.FindAll(ctx, webdriver.ByCSS, "#a")
	require.Error(t, err)
	require.Error(t, s.Navigate(ctx, "http://localhost/"))
	found, err := s.FindAll(ctx, webdriver.ByXPath, "//a.Text")
	require.NoError(t, err)
	require.Error(t, s.SendKeys(ctx, found[0], "x"), "it takes no text")
	app.Look(func() { app.Root.Children = app.Root.Children[1:] })
	require.True(t, webdriver.Is(s.Click(ctx, found[0]), webdriver.ErrStaleElement))
	require.NoError(t, s.Click(ctx, found[1]))
	require.NoError(t, s.Delete(ctx))
	_, err = webdriver.PageSource(ctx, s)
	require.Error(t, err)
	require.Contains(t, app.Commands(), "POST /elements")
}
