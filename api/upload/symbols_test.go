package upload

import (
	"archive/zip"
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

func zipOf(names ...string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range names {
		f, _ := z.Create(name)
		_, _ = f.Write([]byte("\x7fELF " + name))
	}
	_ = z.Close()
	return b.Bytes()
}

// A dSYM may come before its build: it waits, is read at once, and the build has it.
func TestSymbolsBeforeTheirBuild(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, nil)
	status, out := w.post("/upload/dsym/", nil, file("dsym", "Demo.dSYM.zip", dSYM()), w.key())
	require.Equal(t, 200, status, out)
	require.Equal(t, []any{}, out["builds"])
	require.Equal(t, true, out["waiting"])
	symbol := out["symbol"].(map[string]any)
	require.Equal(t, []any{"pending", "Demo.dSYM.zip", "upload", nil}, []any{symbol["state"], symbol["name"], symbol["source"],
		symbol["build_id"]})
	require.Equal(t, 1, w.count(`select count(*) from tasks where kind = 'symbol:index' and id = $1`, symbol["task_id"]))
	require.NotZero(t, w.count(`select count(*) from symbol_images`))

	build := w.upload(w.key(), file("file", "a.ipa", ipa("com.example.demo", "1")))
	require.NotEmpty(t, build["symbols_download_url"])
	require.Equal(t, 1, w.count(`select count(*) from builds b join symbols s on s.file_id = b.symbols_file_id
		where b.symbols_name = 'Demo.dSYM.zip' and b.symbols is not null`))
	other := w.upload(w.key(), file("file", "a.ipa", ipa("com.example.demo", "2")), file("symbols_file", "own.zip", dSYM()))
	require.NotEmpty(t, other["symbols_download_url"])
	require.Equal(t, 1, w.count(`select count(*) from symbols s join builds b on b.id = s.build_id and b.symbols_file_id = s.file_id
		where s.name = 'own.zip'`))
	require.Equal(t, 2, w.count(`select count(*) from tasks where kind = 'symbol:index'`))
}

// Symbols of a member serve the builds of that member's teams alone.
func TestWaitingSymbolsKeepToTheirTeams(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, nil)
	_, key := w.user("m@example.com", account.Member)
	status, out := w.post("/upload/dsym/", nil, file("dsym", "d.zip", dSYM()), textField("api_key", key))
	require.Equal(t, 200, status, out)
	var team int64
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		other, err := account.CreateTeam(ctx, tx, account.CLI(), account.NewTeam{OrganizationID: w.boot.Organization.ID, Name: "Other"})
		if err == nil {
			team = other.ID
		}
		return err
	})
	foreign := w.upload(w.key(), textField("team_id", itoa(team)), file("file", "a.ipa", ipa("com.example.demo", "1")))
	require.Empty(t, foreign["symbols_download_url"])
	own := w.upload(w.key(), textField("team_id", itoa(w.boot.Team.ID)), file("file", "a.ipa", ipa("com.example.demo", "1")))
	require.NotEmpty(t, own["symbols_download_url"])
}

func TestBuildAndSymbolsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, nil)
	symbols := dSYM()
	for range 3 {
		var group sync.WaitGroup
		group.Add(2)
		go func() {
			defer group.Done()
			status, _ := w.post("/upload/dsym/", nil, file("dsym", "d.zip", symbols), w.key())
			require.Equal(t, 200, status)
		}()
		go func() {
			defer group.Done()
			status, _ := w.post("/api/upload/", nil, file("file", "a.ipa", ipa("com.example.demo", "1")), w.key())
			require.Equal(t, 200, status)
		}()
		group.Wait()
	}
	require.Zero(t, w.count(`select count(*) from builds where symbols_file_id is null`))
	require.Equal(t, 1, w.count(`select count(*) from symbols`))
	require.Equal(t, 1, w.count(`select count(*) from tasks where kind = 'symbol:index'`))
}

// The zip that a build plugin for Android makes of its native libraries.
func TestNativeLibraries(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, nil)
	libraries := zipOf("obj/arm64-v8a/libapp.so", "obj/x86_64/libapp.so", "obj/x86_64/objs/app.o")
	for i, path := range []string{"/api/upload", "/api/upload/", "/upload/dsym/"} {
		status, out := w.post(path, nil, w.key(), file("file", "0.zip", libraries))
		require.Equal(t, 200, status, out)
		require.Equal(t, "ok", out["status"])
		if i < 2 {
			require.Equal(t, []any{"", "Android", float64(len(libraries)), nil}, []any{out["build_id"], out["platform"],
				out["file_size"], out["attachments"]})
			require.NotContains(t, out, "message")
			require.NotEmpty(t, out["task_id"])
		}
	}
	require.Zero(t, w.count(`select count(*) from builds`))
	require.Equal(t, 1, w.count(`select count(*) from symbols where source = 'upload' and name = '0.zip'`))
	require.Equal(t, 1, w.count(`select count(*) from tasks where kind = 'symbol:index'`))
	require.Eventually(t, func() bool { return len(w.objects()) == 1 }, waitFor, tick)
	status, out := w.post("/api/v3/builds/upload", nil, w.key(), file("file", "1.zip", zipOf("libapp.so")))
	require.Equal(t, 201, status, out)
	require.Nil(t, out["build"])
	require.Equal(t, "1.zip", out["symbol"].(map[string]any)["name"])

	for name, content := range map[string][]byte{"text": zipOf("a.txt"), "some library": zipOf("lib/libapp.so", "readme.txt"),
		"nothing": zipOf()} {
		status, out := w.post("/api/upload", nil, w.key(), file("file", "a.zip", content))
		require.Equal(t, []any{400, 121}, []any{status, code(out)}, name)
	}
	build := w.upload(w.key(), file("file", "a.ipa", ipa("com.example.demo", "1")), file("symbols_file", "native.zip", libraries))
	require.Empty(t, notes(build))
	require.NotEmpty(t, build["symbols_download_url"])
}

func TestSymbolFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, func(cfg *Config) { cfg.MaxSymbols = 64 << 10 })
	project := itoa(w.boot.Crash.Project)
	key := map[string]string{"X-API-Key": w.boot.Owner.APIKey}
	const path = "/api/v3/symbols"
	fields := []field{textField("crash_project_id", project), textField("release", "1.2"), textField("url_prefix", "~/static"),
		file("file", "a/b/app.js.map", []byte("{}"))}
	status, first := w.post(path, key, fields...)
	require.Equal(t, 201, status, first)
	symbol := first["symbol"].(map[string]any)
	require.Equal(t, []any{"app.js.map", "1.2", "~/static", "api", float64(w.boot.Crash.Project)},
		[]any{symbol["name"], symbol["release"], symbol["url_prefix"], symbol["source"], symbol["crash_project_id"]})
	status, again := w.post(path, key, fields...)
	require.Equal(t, 200, status)
	require.Equal(t, first, again)
	require.Equal(t, 1, w.count(`select count(*) from tasks where kind = 'symbol:index'`))
	require.Eventually(t, func() bool { return len(w.objects()) == 1 }, waitFor, tick)

	status, out := w.post(path, nil, w.key(), textField("id", "abc"), textField("format", "proguard"),
		textField("crash_project", w.boot.Crash.ProjectName),
		file("file", "one.txt", []byte("1")), file("file[]", "two.txt", []byte("2")))
	require.Equal(t, 201, status, out)
	require.Len(t, out["symbols"], 2)
	status, out = w.post(path, nil, file("file", "three.txt", []byte("3")), w.key())
	require.Equal(t, 201, status, "the key may follow one file: %v", out)
	require.Nil(t, out["symbol"].(map[string]any)["crash_project_id"])

	_, member := w.user("m@example.com", account.Member)
	status, _ = w.post(path, map[string]string{"X-API-Key": member}, file("file", "a.sym", []byte("4")))
	require.Equal(t, 201, status)
	_, tester := w.user("t@example.com", account.Tester)
	kept := len(w.objects())
	for name, c := range map[string]struct {
		headers map[string]string
		fields  []field
		status  int
		text    string
	}{
		"no key":          {nil, []field{file("file", "a", []byte("5"))}, 401, "authentication"},
		"wrong key":       {map[string]string{"X-API-Key": "slp_x"}, []field{file("file", "a", []byte("5"))}, 401, "invalid"},
		"wrong key after": {nil, []field{file("file", "a", []byte("5")), textField("api_key", "x")}, 401, "invalid"},
		"late key":        {nil, []field{file("file", "a", []byte("5")), file("file", "b", []byte("6")), w.key()}, 400, "api_key"},
		"no file":         {key, []field{textField("release", "1")}, 400, "file"},
		"no file part":    {key, []field{textField("file", "/a/b")}, 400, "file"},
		"empty":           {key, []field{file("file", "a", []byte{})}, 400, "empty"},
		"too long":        {key, []field{file("file", "a", noise(65<<10, 1))}, 413, "longer than 65536"},
		"format":          {key, []field{file("file", "a", []byte("5")), textField("format", "elf")}, 400, "format"},
		"project":         {key, []field{file("file", "a", []byte("5")), textField("crash_project_id", "999999")}, 400, "crash_project_id"},
		"release":         {key, []field{file("file", "a", []byte("5")), textField("release", strings.Repeat("r", 300))}, 400, "release"},
		"query":           {key, nil, 400, "no parameter"},
	} {
		target := path
		if name == "query" {
			target += "?release=1"
		}
		status, out := w.post(target, c.headers, c.fields...)
		require.Equal(t, c.status, status, "%s: %v", name, out)
		require.Contains(t, out["error"], c.text, name)
		require.Eventually(t, func() bool { return len(w.objects()) == kept }, waitFor, tick, name)
	}
	status, _ = w.post(path, map[string]string{"X-API-Key": tester}, file("file", "a", []byte("5")))
	require.Contains(t, []int{401, 403}, status)
}

// Fifty uploads of the same file at once are one row, one task and one object.
func TestSameSymbolFileAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, nil)
	var group sync.WaitGroup
	statuses := make([]int, 50)
	for i := range statuses {
		group.Add(1)
		go func() {
			defer group.Done()
			statuses[i], _ = w.post("/api/v3/symbols", map[string]string{"X-API-Key": w.boot.Owner.APIKey}, file("file", "a.sym", []byte("same")))
		}()
	}
	group.Wait()
	created := 0
	for _, status := range statuses {
		if status == 201 {
			created++
		} else {
			require.Equal(t, 200, status)
		}
	}
	require.Equal(t, 1, created)
	require.Equal(t, 1, w.count(`select count(*) from symbols`))
	require.Equal(t, 1, w.count(`select count(*) from tasks where kind = 'symbol:index'`))
	require.Equal(t, 1, w.count(`select count(*) from files`))
	require.Eventually(t, func() bool { return len(w.objects()) == 1 }, waitFor, tick)
}

// Removing a build takes its symbols along, unless a copy has the same file.
func TestRemovalOfABuildWithSymbols(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, nil)
	w.upload(w.key(), file("file", "a.ipa", ipa("com.example.demo", "1")), file("symbols_file", "own.zip", dSYM()))
	org := w.boot.Organization.ID
	var id, upload int64
	require.NoError(t, w.db.GetContext(t.Context(), &id, `select id from builds`))
	require.NoError(t, w.db.GetContext(t.Context(), &upload, `select id from symbols`))
	writer := account.Writer{OrganizationID: org, AllTeams: true, Admin: true, Actor: account.CLI()}
	var heir int64
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		err := symbolfile.RecordFiles(ctx, tx, upload, []symbolfile.File{{State: symbolfile.Indexed, Kind: "macho",
			SHA256: "x", IndexKey: "symbols/1/x", Features: []string{}}}, "", "")
		if err != nil {
			return err
		}
		copied, err := distribution.CopyBuild(ctx, tx, writer, 0, id, distribution.BuildCopy{})
		if err == nil {
			heir = copied.Build.ID
		}
		return err
	})
	for _, build := range []int64{id, heir} {
		files, err := symbolfile.OfBuild(t.Context(), w.db, org, build)
		require.NoError(t, err)
		require.Len(t, files, 1)
		require.Equal(t, upload, files[0].UploadID)
	}
	remove := func(build int64) (keys []string) {
		w.tx(func(ctx context.Context, tx *storage.Tx) (err error) {
			if err = distribution.DeleteBuild(ctx, tx, writer, 0, build); err != nil {
				return err
			}
			keys, err = storedfile.RemoveBuilds(ctx, tx, []int64{build})
			return err
		})
		return keys
	}
	remove(id)
	require.EqualValues(t, heir, w.count(`select build_id from symbols where id = $1`, upload))
	keys := remove(heir)
	require.Contains(t, keys, "symbols/1/x")
	require.Zero(t, w.count(`select count(*) from symbols`)+w.count(`select count(*) from symbol_files`)+w.count(`select count(*) from files`))
}
