package authoring_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/authoring/handler"
)

// Capabilities that run programs are refused wherever a request may name them, and pass
// where a hub takes any.
func TestHostileCapabilitiesAreRefused(t *testing.T) {
	t.Parallel()
	const hostile = `{"capabilities":{"browserName":"chrome","goog:chromeOptions":{"args":["--lang=de","--renderer-cmd-prefix=/bin/sh"]}}}`
	const member = "capabilities.goog:chromeOptions.args[1]"
	w := newWorld(t)
	id := w.newCase(w.member, "case", nil)
	steps := `"steps":[{"tool":{"type":"go_to_url","args":{"url":"https://a.example/"}}}]`
	requests := []struct{ path, text, says string }{
		{"/testcases/generate", `{"name":"x","promptSettings":{"intent":"Open the page."},"runSettings":{"testUrl":"https://a.example/",` +
			`"target":` + hostile + `}}`, "runSettings.target." + member},
		{"/testcases/" + id + "/generate", `{"promptSettings":{"intent":"Open the page."},"runSettings":{"target":` +
			hostile + `}}`, "runSettings.target." + member},
		{"/testcases/" + id + "/run", `{"targets":[` + chrome + `,` + hostile + `]}`, "targets[1]." + member},
		{"/testcases", `{"name":"x",` + steps + `,"runSettings":{"target":` + hostile + `}}`, "runSettings.target." + member},
		{"/testcases", `{"name":"x",` + steps + `,"runSettings":{"primaryTarget":` + hostile + `}}`, "runSettings.primaryTarget." + member},
		{"/testcases", `{"name":"x",` + steps + `,"runSettings":{"runTargets":[` + hostile + `]}}`, "runSettings.runTargets[0]." + member},
		{"/testcases/" + id, `{"runSettings":{"target":` + hostile + `}}`, "runSettings.target." + member},
		{"/testcases/" + id + "/run", `{"targets":[{"capabilities":{"platformName":"android","appium:app":"` + metadata + `"}}]}`, "appium:app"},
		{"/testcases/" + id + "/run", `{"targets":[{"capabilities":{"platformName":"android","appium:app":"/etc/passwd"}}]}`,
			"targets[0].capabilities.appium:app"},
	}
	for _, r := range requests {
		w.refused(w.member, 400, "INVALID_BODY", "POST", r.path, r.text, r.says)
	}
	require.Zero(t, w.count(`select count(*) from test_runs`)+w.count(`select count(*) from test_generations`))

	open := newWorld(t, func(cfg *handler.Config) { cfg.UnsafeCapabilities = true })
	id = open.newCase(open.member, "case", nil)
	open.ok(open.member, 200, "POST", "/testcases/"+id+"/run", `{"targets":[`+hostile+`]}`)
}
