package crash

import (
	"log/slog"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/tasks"
)

// The version is found under the names that clients use.
func TestVersionOfClients(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ attributes, want string }{
		"Crashpad":      {`"prod":"Chrome_Linux","ver":"119.0.6045.105","plat":"Linux","ptype":"browser"`, "119.0.6045.105"},
		"Breakpad":      {`"prod":"App","ver":"1.2"`, "1.2"},
		"Mozilla":       {`"ProductName":"Firefox","Version":"120.0","BuildID":"20231106"`, "120.0"},
		"Electron":      {`"prod":"Electron","ver":"27.0.0","_productName":"App","_version":"3.1.4"`, "3.1.4"},
		"WebView":       {`"ver":"119.0","app-package-version-code":"7"`, "119.0"},
		"JavaScript":    {`"application.version":"2.0.0","ver":"1"`, "2.0.0"},
		"both":          {`"ver":"1","version":"4"`, "4"},
		"a number":      {`"ver":3`, "3"},
		"nothing":       {`"verbose":"1","prod":"App"`, ""},
		"an empty name": {`"version":"","ver":"5"`, "5"},
	} {
		r, err := report.Parse(doc{function: "f", attributes: tt.attributes}.bytes())
		require.NoError(t, err)
		var c crash.Crash
		fillColumns(&c, r)
		require.Equal(t, tt.want, c.Version, name)
	}
}

// One report stands for at most as many occurrences as the setting allows.
func TestDuplicatesAreBounded(t *testing.T) {
	t.Parallel()
	for bound, want := range map[int]int64{0: DefaultDuplicates + 3, 5: 5 + 3, MaxDuplicates: MaxDuplicates + 3} {
		w := newWorld(t)
		w.accept(doc{function: "f", attributes: `"_mod_duplicate":"99999999999999999999"`}, doc{function: "f", attributes: `"_mod_duplicate":3`})
		p := &Process{Store: w.store, Duplicates: bound, Log: slog.New(slog.DiscardHandler)}
		require.NoError(t, p.Handle(t.Context(), w.claim(tasks.CrashProcess, uuid.Nil)))
		require.Equal(t, want, w.number(`select count from crash_groups`))
		require.Equal(t, want, w.number(`select sum(duplicates) from crashes`))
	}
}
