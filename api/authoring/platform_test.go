package authoring_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// Steps that none of the targets can do are refused when they are written.
func TestStepsFitTheTargets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	settings := func(capabilities ...tree) tree {
		var targets []any
		for _, c := range capabilities {
			targets = append(targets, tree{"capabilities": c})
		}
		return tree{"testUrl": "https://a.example/", "runTargets": targets}
	}
	chrome, app := tree{"browserName": "chrome"}, tree{"platformName": "Android", "appium:appPackage": "com.example.shop"}
	tap := json.RawMessage(`[{"tool":{"type":"tap","args":{"selector":"//a"}}}]`)
	open := json.RawMessage(`[{"tool":{"type":"go_to_url","args":{"url":"/"}}}]`)
	view := json.RawMessage(`[{"tool":{"type":"switch_context","args":{"name":"WEBVIEW*"}}},{"tool":{"type":"go_to_url","args":{"url":"/"}}}]`)
	body := func(steps json.RawMessage, settings tree) string {
		return importText(t, "x", tree{"steps": steps, "runSettings": settings})
	}
	w.refused(w.member, 400, "INVALID_BODY", "POST", "/testcases", body(tap, settings(chrome)), "steps[0].tool.type: tap is of native apps")
	w.refused(w.member, 400, "INVALID_BODY", "POST", "/testcases", body(open, settings(app)), "steps[0].tool.type: go_to_url is of web pages")
	for _, fits := range []string{body(tap, settings(app)), body(tap, settings(app, chrome)), body(view, settings(app)),
		body(open, settings(chrome)), body(tap, tree{})} {
		w.ok(w.member, 201, "POST", "/testcases", fits)
	}
	made := w.ok(w.member, 201, "POST", "/testcases", body(tap, settings(app)))
	id, ok := made["id"].(string)
	require.True(t, ok)
	w.refused(w.member, 400, "INVALID_BODY", "POST", "/testcases/"+id, `{"steps":`+string(open)+`}`, "steps[0].tool.type")
	w.ok(w.member, 200, "POST", "/testcases/"+id, `{"steps":`+string(view)+`}`)
	w.refused(w.member, 400, "INVALID_BODY", "POST", "/testcases/"+id,
		`{"steps":[{"tool":{"type":"tap","args":{"point":{"x":0,"y":0,"z":1}}}}]}`, "steps[0].tool.args.point.z")
	w.refused(w.member, 400, "INVALID_BODY", "POST", "/testcases/"+id,
		`{"steps":[{"tool":{"type":"tap","args":{"point":{"x":2,"y":0}}}}]}`, "steps[0].tool.args.point")
}
