package widget_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/widget"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

func TestCases(t *testing.T) {
	t.Parallel()
	all, err := widget.Cases()
	require.NoError(t, err)
	seen, libraries, tools := map[string]bool{}, map[string]int{}, map[string]bool{}
	for _, c := range all {
		name := c.FullName()
		require.False(t, seen[name], "%s: a second case of this name", name)
		seen[name] = true
		libraries[c.Library]++
		require.NotEmpty(t, c.Steps, name)
		for i := range c.Steps {
			tools[c.Steps[i].Tool.Type] = true
			tools[step.Inner(&c.Steps[i].Tool).Type] = true
		}
		switch c.Expect {
		case playback.Passed:
			require.Empty(t, c.Error+c.Playwright, "%s: nothing fails", name)
			last := c.Steps[len(c.Steps)-1].Tool
			require.Equal(t, step.Assert, step.Inner(&last).Type, "%s: ends without an assertion", name)
		case playback.Failed:
			require.NotEmpty(t, c.Error, "%s: says not how it fails", name)
			require.NotEmpty(t, c.Playwright, "%s: says not how Playwright fails", name)
			for _, pattern := range []string{c.Error, c.Playwright} {
				_, err := regexp.Compile(pattern)
				require.NoError(t, err, name)
			}
		default:
			t.Errorf("%s: expects %q", name, c.Expect)
		}
	}
	require.GreaterOrEqual(t, len(all), 120)
	require.GreaterOrEqual(t, len(libraries), 12, "ten libraries, plain HTML and what a browser keeps")
	for _, tool := range step.Tools() {
		none := step.IsNetwork(&step.Tool{Type: tool}) || step.IsMobile(&step.Tool{Type: tool}) || tool == step.WaitForURL ||
			tool == step.Pause || tool == step.Finish ||
			tool == step.RunGroup // its steps are elsewhere
		require.True(t, tools[tool] || none, "no case has the tool %s", tool)
	}
}

// Each case has a function for Playwright, and each function a case.
func TestFunctionsForPlaywright(t *testing.T) {
	t.Parallel()
	all, err := widget.Cases()
	require.NoError(t, err)
	want := map[string][]string{}
	for _, c := range all {
		want[c.Library] = append(want[c.Library], c.Name)
	}
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, widget.Scripts()))
	node := exec.Command("node", "-e", `const names = {};
		for (const file of fs.readdirSync('.')) if (file.endsWith('.cjs')) names[file.slice(0, -4)] = Object.keys(require('./' + file));
		console.log(JSON.stringify(names))`)
	node.Dir = dir
	out, err := node.Output()
	require.NoError(t, err)
	var got map[string][]string
	require.NoError(t, json.Unmarshal(out, &got))
	require.Equal(t, want, got)
}

// What the pages load is there: a library that moved a file would fail every case.
func TestPagesFindTheirFiles(t *testing.T) {
	t.Parallel()
	site, err := widget.Start(servicetest.NodeModules(t))
	require.NoError(t, err)
	defer site.Close()
	all, err := widget.Cases()
	require.NoError(t, err)
	links := regexp.MustCompile(`(?:src|href)="(/[^"]+)"`)
	seen := map[string]bool{}
	for _, c := range all {
		page, _, _ := strings.Cut(c.Page, "?")
		if seen[page] {
			continue
		}
		seen[page] = true
		body := get(t, site.BaseURL()+page)
		for _, link := range links.FindAllStringSubmatch(body, -1) {
			if !seen[link[1]] && strings.HasPrefix(link[1], "/npm/") {
				get(t, site.BaseURL()+link[1])
				seen[link[1]] = true
			}
		}
	}
}

func get(t *testing.T, address string) string {
	t.Helper()
	response, err := http.Get(address)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode, address)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(body)
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	passes := widget.Case{Expect: playback.Passed}
	require.Empty(t, passes.Verdict(playback.Passed, ""))
	require.Contains(t, passes.Verdict(playback.Failed, "covered"), "covered")
	fails := widget.Case{Expect: playback.Failed, Error: "covered by", Playwright: "intercepts"}
	require.NotEmpty(t, fails.Verdict(playback.Passed, ""))
	require.NotEmpty(t, fails.Verdict(playback.Failed, "not found"))
	require.Empty(t, fails.Verdict(playback.Failed, "#b is covered by div"))
	require.Empty(t, fails.PlaywrightVerdict(playback.Failed, "div intercepts pointer events"))
	require.NotEmpty(t, fails.PlaywrightVerdict(playback.Failed, "covered by"))
}

func TestStartWithoutLibraries(t *testing.T) {
	t.Parallel()
	_, err := widget.Start(t.TempDir())
	require.ErrorContains(t, err, "make deps")
}
