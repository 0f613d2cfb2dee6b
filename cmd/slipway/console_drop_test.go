package main

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/chromium"
)

// drop drops files with these names on the form, as a person does with a mouse.
const drop = `((...names) => {
	const data = new DataTransfer();
	for (const name of names) data.items.add(new File(["content of " + name], name));
	document.querySelector("form[data-upload]").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
	return document.querySelector("form[data-upload] [role=status]").textContent;
})`

// Files that are dropped on the form are uploads of their own, one after the other; one that
// waits can be called off, and no address has the token.
func TestConsoleDropsFiles(t *testing.T) {
	t.Parallel()
	b := newBuildsWorld(t)
	tab := chromium.Start(t, 5*time.Minute, chromedp.WindowSize(1280, 900))
	do := func(steps ...chromedp.Action[chromedp.Void]) { require.NoError(t, chromedp.Do(tab, steps...)) }
	text := func(expression string) string {
		s, err := chromedp.Run(tab, chromedp.Evaluate[string](expression))
		require.NoError(t, err, expression)
		return s
	}
	do(chromedp.Navigate(b.base + frame.Base + "/sign-in"))
	do(chromedp.SendKeys(chromedp.CSS(`[name="name"]`), b.boot.Owner.Username), chromedp.SendKeys(chromedp.CSS(`[name="key"]`),
		b.boot.Owner.AccessKey),
		chromedp.Click(chromedp.CSS(`form[action$="/console/sign-in"] button`)), chromedp.WaitVisible(chromedp.CSS(".me")))
	upload := func(names string) {
		do(chromedp.Navigate(b.base + frame.Base + "/builds/upload?app=" + b.app))
		require.Equal(t, "2 files are chosen. Each becomes an upload of its own.", text(drop+"("+names+")"))
	}
	said := func(words string) {
		require.Eventually(t, func() bool {
			return text(`document.querySelector("form[data-upload] [role=status]").textContent`) == words
		},
			time.Minute, 100*time.Millisecond, "%s", words)
	}

	upload(`"one.zip", "two.zip"`)
	do(chromedp.Click(chromedp.CSS(`form[data-upload] button[type="submit"]`)))
	said("2 of 2 files are stored.")
	require.Equal(t, "one.zip two.zip",
		b.surface.one(`select string_agg(file_name, ' ' order by id) from builds where file_name in ('one.zip', 'two.zip')`))
	require.Equal(t, "one.zip is stored two.zip is stored",
		text(`Array.from(document.querySelectorAll(".uploads li")).map((l) => l.textContent.replace(/\s+/g, " ").trim()).join(" ")`))
	require.Contains(t, text(`document.querySelector(".uploads a").href`), "/console/builds/builds/")
	require.Equal(t, "0", text(`String(performance.getEntriesByType("resource").filter((r) => r.name.includes("csrf")).length)`))

	// The first is held back, so that the second one waits.
	upload(`"three.zip", "four.zip"`)
	text(`(() => { const send = XMLHttpRequest.prototype.send; XMLHttpRequest.prototype.send = function (data) { window.go = () => send.call(this, data); }; return ""; })()`)
	do(chromedp.Click(chromedp.CSS(`form[data-upload] button[type="submit"]`)),
		chromedp.Click(chromedp.CSS(`.uploads li:nth-child(2) button`)))
	text(`(window.go(), "")`)
	said("1 of 2 files are stored.")
	require.Equal(t, "four.zip Cancelled.", text(`document.querySelector(".uploads li:nth-child(2)").textContent.replace(/\s+/g, " ").trim()`))
	require.Equal(t, "three.zip", b.surface.one(`select string_agg(file_name, ' ') from builds where file_name in ('three.zip', 'four.zip')`))

	// A file that is dropped on another field of the form is left to the browser.
	do(chromedp.Navigate(b.base + frame.Base + "/builds/upload?app=" + b.app))
	require.Equal(t, "false 0", text(`(() => {
		const data = new DataTransfer(), event = new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
		data.items.add(new File(["content"], "mapping.txt"));
		document.querySelector("[name=symbols_file]").dispatchEvent(event);
		return event.defaultPrevented + " " + document.querySelector("[name=file]").files.length;
	})()`))

	// Symbol files go together: a script and its map are of one request.
	do(chromedp.Navigate(b.base + frame.Base + "/crashes/symbols"))
	require.Equal(t, "2 files are chosen. They are sent together.", text(drop+`("app.js", "app.js.map")`))
	text(`(() => {
		window.sent = [];
		XMLHttpRequest.prototype.send = (data) => window.sent.push(data.getAll("file").map((f) => f.name).join("+"));
		return "";
	})()`)
	do(chromedp.Click(chromedp.CSS(`form[data-upload] button[type="submit"]`)))
	require.Equal(t, "app.js+app.js.map", text(`window.sent.join(" ")`))
	require.Contains(t, text(`document.querySelector(".uploads").textContent`), "2 files")

	do(chromedp.Navigate(b.base + frame.Base + "/builds/upload?app=" + b.app))
	// The session ends while the form is open: the script says so, and stores nothing.
	require.Equal(t, "2 files are chosen. Each becomes an upload of its own.", text(drop+`("five.zip", "six.zip")`))
	require.Equal(t, "200", text(`(() => {
		const form = document.querySelector('form[action$="/sign-out"]'), request = new XMLHttpRequest();
		request.open("POST", form.action, false);
		request.send(new URLSearchParams(new FormData(form)));
		return String(request.status);
	})()`))
	do(chromedp.Click(chromedp.CSS(`form[data-upload] button[type="submit"]`)))
	said("0 of 2 files are stored.")
	require.Contains(t, text(`document.querySelector(".uploads").textContent`), "Your session has ended, and nothing was stored.")
}
