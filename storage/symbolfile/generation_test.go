package symbolfile_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/sourcemap"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

func (w *world) generations() symbolfile.Generations {
	w.t.Helper()
	g, err := symbolfile.ReadGenerations(w.t.Context(), w.db, w.org)
	require.NoError(w.t, err)
	return g
}

func TestGenerations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Empty(t, w.generations(), "nothing is there")
	w.upload(0, file(symbol.ELF, symbolfile.Failed))
	require.Empty(t, w.generations(), "a file that failed is none")

	id := w.upload(0, file(symbol.SourceMap, symbolfile.Indexed), file(symbol.SourceMap, symbolfile.Indexed),
		file(symbol.Source, symbolfile.Indexed))
	require.Equal(t, symbolfile.Generations{symbol.SourceMap: 1, symbol.Source: 1}, w.generations(), "once for a transaction")
	w.upload(w.project, file(symbol.ProGuard, symbolfile.Indexed))
	require.Equal(t, symbolfile.Generations{symbol.SourceMap: 1, symbol.Source: 1, symbol.ProGuard: 1}, w.generations())
	require.True(t, w.generations().Has(symbol.ELF, symbol.Source))
	require.False(t, w.generations().Has(symbol.ELF, symbol.PE))
	require.EqualValues(t, 2, w.generations().Of(symbol.Source, symbol.SourceMap, symbol.ELF))

	// Read anew: what was there is replaced.
	require.NoError(t, w.db.InTx(t.Context(), func(tx *storage.Tx) error {
		return symbolfile.RecordFiles(t.Context(), tx, id, []symbolfile.File{file(symbol.SourceMap, symbolfile.Indexed)}, "", "")
	}))
	require.Equal(t, symbolfile.Generations{symbol.SourceMap: 2, symbol.Source: 2, symbol.ProGuard: 1}, w.generations())

	// Nothing of a transaction that is rolled back stays, and it is not seen before its commit.
	stop := errors.New("stop")
	err := w.db.InTx(t.Context(), func(tx *storage.Tx) error {
		if err := symbolfile.RecordFiles(t.Context(), tx, id, nil, "", ""); err != nil {
			return err
		}
		require.Equal(t, symbolfile.Generations{symbol.SourceMap: 2, symbol.Source: 2, symbol.ProGuard: 1}, w.generations())
		return stop
	})
	require.ErrorIs(t, err, stop)
	require.Equal(t, symbolfile.Generations{symbol.SourceMap: 2, symbol.Source: 2, symbol.ProGuard: 1}, w.generations())

	require.NoError(t, w.db.InTx(t.Context(), func(tx *storage.Tx) error {
		_, err := symbolfile.Delete(t.Context(), tx, account.Writer{OrganizationID: w.org, Actor: account.CLI()}, id)
		return err
	}))
	require.Equal(t, symbolfile.Generations{symbol.SourceMap: 3, symbol.Source: 2, symbol.ProGuard: 1}, w.generations())

	// An organization goes with all it has.
	_, err = w.db.ExecContext(t.Context(), `delete from crash_projects where organization_id = $1`, w.org)
	require.NoError(t, err)
	_, err = w.db.ExecContext(t.Context(), `delete from organizations where id = $1`, w.org)
	require.NoError(t, err)
	require.Empty(t, w.generations())
}

// Uploads that have the same kinds in another order do not wait for one another for ever.
func TestGenerationsAreRaisedOneAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kinds := []symbol.Kind{symbol.SourceMap, symbol.Source, symbol.ELF, symbol.ProGuard}
	const each, uploaders = 10, 4
	var all sync.WaitGroup
	for n := range uploaders {
		all.Go(func() {
			for range each {
				var files []symbolfile.File
				for i := range kinds {
					files = append(files, file(kinds[(i*(2*(n%2)+1)+n)%len(kinds)], symbolfile.Indexed))
				}
				assert.NotPanics(t, func() { w.upload(0, files...) })
			}
		})
	}
	all.Wait()
	for _, k := range kinds {
		require.EqualValues(t, each*uploaders, w.generations()[k])
	}
}

// Every spelling of an address under which a script or its map is looked for has its name.
func TestScriptName(t *testing.T) {
	t.Parallel()
	for address, name := range map[string]string{
		"https://shop.example.com/static/js/main.3f9a1c.js?v=/a/b#x": "main.3f9a1c.js",
		"/srv/app/dist/part7/file.js":                                "file.js",
		`C:\app\dist\file.js`:                                        "file.js",
		"C:file.js":                                                  "file.js",
		"app:main.js":                                                "main.js",
		"app:///a/main.js":                                           "main.js",
		"async /a/b/main.js":                                         "main.js",
		"~/a/main.js.map":                                            "main.js",
		"main.js.map.map":                                            "main.js",
		"blob:https://shop.example.com/1b4e28ba":                     "1b4e28ba",
		"webpack:///./src/cart.ts":                                   "cart.ts",
		"//cdn.example.com/x.js":                                     "x.js",
		"./x.js":                                                     "x.js",
		"index.android.bundle":                                       "index.android.bundle",
	} {
		require.Equal(t, name, symbolfile.ScriptName(address), address)
		for _, spelling := range append(sourcemap.Candidates(address), sourcemap.MapCandidates(address, "")...) {
			require.Equal(t, name, symbolfile.ScriptName(spelling), "%s as %s", address, spelling)
		}
	}
}

func TestScriptNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	url := func(value string) symbol.Identifier { return symbol.Identifier{Type: symbol.URL, Value: value} }
	w.upload(0, file(symbol.SourceMap, symbolfile.Indexed, url("~/a/main.js.map"), url("main.js.map")),
		file(symbol.Source, symbolfile.Indexed, url("https://x/src/cart.ts"), symbol.Identifier{Type: symbol.ScriptID, Value: "1"}))
	names, ok, err := symbolfile.ScriptNames(t.Context(), w.db, w.org, 3)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, map[string]bool{"main.js": true, "cart.ts": true}, names)
	_, ok, err = symbolfile.ScriptNames(t.Context(), w.db, w.org, 2)
	require.NoError(t, err)
	require.False(t, ok, "more than the limit")
}
