package processtest

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/chromium"
)

// browser opens the app's page as a tester does and saves the file that the
// button gives.
func (s *buildStory) browser() {
	t := s.t
	dir := t.TempDir()
	ctx := chromium.Start(t, 10*time.Minute)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(s.first.BuildURL)))
	title, err := chromedp.Run(ctx, chromedp.Text(chromedp.CSS("h1")))
	require.NoError(t, err)
	require.Equal(t, "Shop", title)
	bold, err := chromedp.Run(ctx, chromedp.Evaluate[string](`[...document.querySelectorAll("strong")].map(e => e.textContent).join()`))
	require.NoError(t, err)
	require.Contains(t, bold, "build", "release notes are Markdown")

	on := true
	progress := chromedp.Events(ctx, browser.DownloadProgress)
	require.NoError(t, chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
			Behavior: browser.SetDownloadBehaviorBehaviorAllowAndName, DownloadPath: dir, EventsEnabled: &on})
		return err
	}), chromedp.Click(chromedp.CSS(`a[href$="/download"]`))))
	for event, err := range progress {
		require.NoError(t, err)
		require.NotEqual(t, browser.DownloadProgressStateCanceled, event.State)
		if event.State == browser.DownloadProgressStateCompleted {
			raw, err := os.ReadFile(filepath.Join(dir, event.GUID))
			require.NoError(t, err)
			require.Equal(t, digest(s.ipa), digest(raw), "the downloaded file is the uploaded one")
			return
		}
	}
	t.Fatal("the browser saved no file")
}
