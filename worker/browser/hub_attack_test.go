package browser

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// An argument of Chromium runs a program on the machine of a real driver where the hub
// takes anything, and is refused before a session where it does not.
func TestArgumentsRunProgramsOnUnsafeHubsOnly(t *testing.T) {
	t.Parallel()
	driver, err := startDriver()
	require.NoError(t, err)
	dir := t.TempDir()
	marker, script := filepath.Join(dir, "marker"), filepath.Join(dir, "script")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\necho attacked >"+marker+"\nexec \"$@\"\n"), 0o755))
	args := []any{"--headless=new", "--renderer-cmd-prefix=" + script}
	for _, a := range localservice.BrowserArguments() {
		args = append(args, a)
	}
	request := Request{Target: capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome",
		"goog:chromeOptions": map[string]any{"args": args}}}}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()

	_, err = newPool(t, Config{Hubs: []Hub{{URL: driver}}}).Acquire(ctx, request)
	var refused *SessionError
	require.ErrorAs(t, err, &refused)
	require.False(t, refused.Retry)
	require.Contains(t, refused.Text, "capabilities.goog:chromeOptions.args[1]")
	require.NoFileExists(t, marker)

	l, err := newPool(t, Config{Hubs: []Hub{{URL: driver, Unsafe: true}}}).Acquire(ctx, request)
	require.NoError(t, err)
	require.NoError(t, l.Session.Navigate(ctx, "data:text/html,<title>x</title>"))
	require.Eventually(t, func() bool { _, err := os.Stat(marker); return err == nil }, time.Minute, 5*time.Millisecond)
	l.Release(ctx, false)
}

func TestParseUnsafe(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text  string
		want  []bool
		fails bool
	}{
		{"", []bool{false, false}, false},
		{"false", []bool{false, false}, false},
		{"true", []bool{true, true}, false},
		{"GRID:4444", []bool{true, false}, false},
		{" appium:4723 ,", []bool{false, true}, false},
		{"grid:4444,appium:4723", []bool{true, true}, false},
		{"grid", nil, true},
		{"elsewhere:4444", nil, true},
	} {
		hubs, err := ParseHubs("http://u:secret@grid:4444;android=http://appium:4723")
		require.NoError(t, err)
		err = ParseUnsafe(test.text, hubs)
		if test.fails {
			require.Error(t, err)
			require.False(t, strings.Contains(err.Error(), "secret"))
			continue
		}
		require.NoError(t, err, test.text)
		require.Equal(t, test.want, []bool{hubs[0].Unsafe, hubs[1].Unsafe}, test.text)
	}
}
