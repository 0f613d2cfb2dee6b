package replay_test

import (
	"bytes"
	"context"
	"image"
	_ "image/jpeg"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

const secret = `p&ss"w0rd/42`

func lookup(r step.Reference) (string, bool, bool) {
	switch r.Name {
	case "password":
		return secret, true, true
	case "user":
		return "ada", false, true
	}
	return "", false, false
}

func TestSecretsStayInside(t *testing.T) {
	t.Parallel()
	base := site(t,
		map[string]string{"/": `<input id=user>` +
			`<input id=f oninput="out.textContent = this.value; console.log('typed ' + this.value);` +
			` this.setAttribute('data-v', encodeURIComponent(this.value))">
		<p id=out></p><button id=b onclick="alert('you typed ' + f.value)">Go</button>`})
	var mu sync.Mutex
	artifacts := map[string]string{}
	var logged bytes.Buffer
	r := play(t, replay.Config{TestURL: base, Lookup: lookup, Screenshots: true, Log: logger(&logged),
		Steps: []step.Step{input("#user", "{{user}}"), input("#f", "{{password}}"), is("#f", step.ValueIs, "{{password}}"), click("#b"),
			not(is("#b", step.Hidden)), within(200, is("#out", step.TextIs, "not {{password}}"))},
		Capture: func(_ context.Context, a replay.Artifact) string {
			mu.Lock()
			defer mu.Unlock()
			artifacts[a.Kind] += string(a.Data)
			return "id"
		}})
	require.Equal(t, store.CodeAssertionFailed, r.Code, r.Message)
	require.Equal(t, `css #out: expected text equals "not ***"; it is "***"`, r.Message)
	require.Contains(t, r.Records[4].Result.Message, `dismissed the dialog "you typed ***"`)
	require.Equal(t, "{{password}}", *r.Records[1].Tool.Args.Text)
	require.Contains(t, artifacts[store.Source], "data-v=\"***\"")
	require.Contains(t, artifacts[store.Console], "typed ***")
	for name, text := range map[string]string{"source": artifacts[store.Source], "console": artifacts[store.Console],
		"message": r.Message + r.Records[4].Result.Message, "log": logged.String()} {
		require.NotContains(t, text, secret, name)
		require.NotContains(t, text, "w0rd", name)
	}
	for id, print := range r.Fingerprints {
		require.NotContains(t, print.Text+print.Name, "w0rd", id)
	}
	require.NotEmpty(t, artifacts[store.Screenshot])
	require.NotContains(t, artifacts[store.Source], "data-slipway-masked", "the mask goes with the screenshot")
}

// A field that holds a secret is a blur in the screenshot; the same text that is
// no secret is sharp.
func TestSecretsAreMasked(t *testing.T) {
	t.Parallel()
	base := site(t, map[string]string{"/": `<input id=f style="position:absolute;left:0;top:0;font:bold 40px ` +
		`monospace;width:600px;height:60px;border:0;outline:0;background:#fff;caret-color:transparent">`})
	contrast := func(value string, hidden bool) int {
		var screenshot []byte
		r := play(t, replay.Config{TestURL: base, Screenshots: true, Steps: []step.Step{input("#f", "{{v}}")},
			Lookup: func(step.Reference) (string, bool, bool) { return value, hidden, true },
			Capture: func(_ context.Context, a replay.Artifact) string {
				screenshot = a.Data
				return "id"
			}})
		require.Equal(t, "PASSED", r.Status, r.Message)
		require.Equal(t, "id", r.Records[0].ScreenshotID)
		img, _, err := image.Decode(bytes.NewReader(screenshot))
		require.NoError(t, err)
		dark := 0
		for x := range 300 {
			for y := range 60 {
				if r, _, _, _ := img.At(x, y).RGBA(); r < 0x4000 {
					dark++
				}
			}
		}
		return dark
	}
	text := strings.Repeat("H", 10)
	require.Greater(t, contrast(text, false), 500)
	require.Less(t, contrast(text, true), 20)
}

func TestVariables(t *testing.T) {
	t.Parallel()
	r := play(t, replay.Config{TestURL: site(t, map[string]string{"/": `<input id=ada>`}), Lookup: lookup,
		Steps: []step.Step{input("#{{user}}", "x"), input("#ada", "{{team:missing}}")}})
	require.Equal(t, store.CodeVariable, r.Code)
	require.Equal(t, "ERROR", r.Status)
	require.Contains(t, r.Message, "{{team:missing}}")
	require.False(t, r.Broken)
	r = play(t, replay.Config{TestURL: "{{nothing}}", Lookup: lookup, Steps: []step.Step{click("#a")}})
	require.Equal(t, store.CodeVariable, r.Code)
}

func TestScreenshots(t *testing.T) {
	t.Parallel()
	_, steps := shop(t)
	var kinds []string
	var at []int
	r := play(t, replay.Config{Steps: steps, Screenshots: true, Capture: func(_ context.Context, a replay.Artifact) string {
		kinds, at = append(kinds, a.ContentType), append(at, a.Step)
		_, _, err := image.Decode(bytes.NewReader(a.Data))
		require.NoError(t, err)
		return a.ContentType
	}})
	require.Equal(t, "PASSED", r.Status, r.Message)
	require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7}, at)
	for _, record := range r.Records {
		require.Equal(t, "image/jpeg", record.ScreenshotID)
	}
	require.Len(t, kinds, 8)
}
