package install_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// TestBrowserPassword goes a visitor's way to a page with a password, and finds it closed
// once its installs were made.
func TestBrowserPassword(t *testing.T) {
	t.Parallel()
	b := newTab(t)
	made := b.upload(nil)
	b.limitApp(made.Project.ID, nil, ptr("1"), ptr(secretWord))
	for _, s := range screens() {
		b.on(s)
		b.open("/install/harbour-notes", "password-"+s.name)
	}
	b.on(screens()[0])
	b.open("/install/harbour-notes", "")
	field, submit := chromedp.CSS("input[type=password]"), chromedp.CSS("button[type=submit]")
	b.run(chromedp.SendKeys(field, "not the word"), chromedp.Click(submit), chromedp.WaitVisible(chromedp.CSS(".fault")))
	b.sound("password-wrong")
	require.Equal(t, "fault", value[string](b, "document.activeElement.getAttribute('aria-describedby')"),
		"the field has the focus, and says what is wrong")
	b.run(chromedp.SendKeys(field, secretWord), chromedp.Click(submit), chromedp.WaitVisible(chromedp.CSS(".act .button")))
	require.Equal(t, b.base+"/install/harbour-notes", value[string](b, "location.href"))
	require.Empty(t, value[string](b, "document.cookie"), "scripts do not see the cookie")
	require.Equal(t, made.Build.File.SHA256, digest(b.download(".act .button")))
	for _, s := range screens() {
		b.on(s)
		b.open("/install/harbour-notes", "ended-"+s.name)
		require.Contains(t, b.text("main"), "This page was open for a number of installs")
	}
}
