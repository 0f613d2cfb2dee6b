package upload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/inspection"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/grant"
	"github.com/slipway-qa/slipway/storage/distribution/testergroup"
	"github.com/slipway-qa/slipway/storage/setting"
)

func TestSymbolsAreBestEffort(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, func(cfg *Config) { cfg.MaxSymbols = 64 << 10 })
	build := file("file", "a.ipa", ipa("com.example.demo", "1"))
	for name, tc := range map[string]struct {
		symbols field
		kept    bool
		warning string
	}{
		"dSYM":        {file("symbols_file", "s.zip", dSYM()), true, ""},
		"mapping":     {file("proguard_file", "mapping.txt", []byte(mappingText)), true, ""},
		"other alias": {file("symbols_mapping_file", "mapping.txt", []byte(mappingText)), true, ""},
		"empty":       {file("symbols_file", "mapping.txt", []byte{}), false, ""},
		"garbage":     {file("symbols_file", "s.zip", append([]byte("PK\x03\x04"), noise(1000, 1)...)), false, "symbols_file was ignored"},
		"too large":   {file("symbols_file", "s.zip", noise(64<<10+1, 1)), false, "longer than 65536 bytes"},
		"a path":      {textField("symbols_file", "/builds/mapping.txt"), false, "not a file part"},
		"no path":     {textField("symbols_file", ""), false, ""},
	} {
		for order, fields := range map[string][]field{"before": {tc.symbols, build, w.key()}, "after": {build, w.key(), tc.symbols},
			"before the key": {build, tc.symbols, w.key()}} {
			before := len(w.objects())
			got := w.upload(fields...)
			require.Equal(t, tc.kept, got["symbols_download_url"] != "", "%s, %s: %v", name, order, got)
			if tc.warning == "" {
				require.Equal(t, []any{}, notes(got), name)
			} else {
				require.Contains(t, got["warnings"].([]any)[0], tc.warning, name)
			}
			want := before + 2
			if tc.kept {
				want++
			}
			require.Eventually(t, func() bool { return len(w.objects()) == want }, waitFor, tick, "%s, %s", name, order)
		}
	}
	require.Zero(t, w.unfinished())
	got := w.upload(build, w.key(), file("symbols_file", "a.txt", []byte(mappingText)), file("symbols_file", "b.txt", []byte(mappingText)))
	require.Contains(t, got["warnings"].([]any)[0], "given twice")
}

func TestSymbolsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, nil)
	build := w.upload(w.key(), file("file", "a.ipa", ipa("com.example.demo", "1")))
	id, err := strconv.ParseFloat(build["build_id"].(string), 64)
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		fields []field
		status int
		code   int
	}{
		"no file":   {[]field{w.key()}, 400, 1},
		"no key":    {[]field{file("dsym", "s.zip", dSYM())}, 400, 1},
		"wrong key": {[]field{file("dsym", "s.zip", dSYM()), textField("api_key", "x")}, 401, 5},
		"garbage":   {[]field{w.key(), file("dsym", "s.zip", append([]byte("PK\x03\x04"), noise(1000, 1)...))}, 400, 105},
		"empty":     {[]field{w.key(), file("symbols_file", "mapping.txt", []byte{})}, 400, 112},
	} {
		status, out := w.post("/upload/dsym/", nil, tc.fields...)
		require.Equal(t, [2]int{tc.status, tc.code}, [2]int{status, code(out)}, "%s: %v", name, out)
		require.Eventually(t, func() bool { return len(w.objects()) == 2 }, waitFor, tick, name)
	}
	var first any
	symbols := dSYM()
	for i, name := range []string{"dsym", "file"} {
		status, out := w.post("/upload/dsym/", nil, file(name, "Demo.dSYM.zip", symbols), w.key())
		require.Equal(t, 200, status, out)
		require.Equal(t, "ok", out["status"])
		if i == 0 {
			require.Equal(t, []any{id}, out["builds"])
			require.Equal(t, false, out["waiting"])
			first = out["symbol"]
			continue
		}
		require.Empty(t, out["builds"], "the build has symbols by now")
		require.Equal(t, first, out["symbol"], "the file was there")
	}
	require.Eventually(t, func() bool { return len(w.objects()) == 3 }, waitFor, tick)
}

func TestGroupsAndTasks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, nil)
	org := w.boot.Organization.ID
	var group int64
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		for _, name := range []string{"QA", "Ops"} {
			g, err := testergroup.Create(ctx, tx, account.CLI(), org, name, false)
			if err != nil {
				return err
			}
			group = g.ID
		}
		return nil
	})
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		_, err := tx.ExecContext(ctx, `insert into webhooks (organization_id, name, url, actions, status, secret)
			values ($1, 'a', 'https://ci.example.invalid', '{upload}', 'active', '')`, org)
		return err
	})
	build := file("file", "a.ipa", ipa("com.example.demo", "1"))
	got := w.upload(build, w.key(), textField("groups", "qa, nobody"), textField("tester_groups", itoa(group)), textField("notify", "1"))
	require.Equal(t, []any{"nobody"}, got["invalid_groups"])
	id, err := strconv.ParseInt(got["build_id"].(string), 10, 64)
	require.NoError(t, err)
	names, err := grant.BuildGroups(t.Context(), w.db, id)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"QA", "Ops"}, names)
	require.Equal(t, 1, w.count(`select count(*) from webhook_deliveries d join events e on e.id = d.event_id
		where e.build_id = $1 and e.version = '1' and e.body->>'buildUrl' = $2
			and e.body ?& '{filesize,landingPageUrl,landingPageBuildUrl,appUrl,changeLog,iconUrl,communityUrl}'`,
		id, got["build_url"]))
	task, err := uuid.Parse(got["task_id"].(string))
	require.NoError(t, err)
	require.Equal(t, 1, w.count(`select count(*) from tasks where id = $1 and kind = 'build:notify' and organization_id = $2
		and payload->>'build_id' = $3`, task, org, itoa(id)))
	require.Equal(t, 1, w.count(`select count(*) from audit_events where type = $1 and detail->>'task_id' = $2`,
		account.TestersNotified, task))

	// An unknown or missing connection never loses a build.
	got = w.upload(build, w.key(), textField("upload_to_acme", "on"), textField("groups", "all"))
	require.Contains(t, got["warnings"].([]any)[0], "no connection")
	require.Equal(t, "", got["task_id"])
	require.Equal(t, 1, w.count(`select count(*) from builds where all_testers`))
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		return setting.SetConnection(ctx, tx, account.CLI(), org, setting.Connection{Kind: "http",
			Endpoint: "https://storage.example.com/files", AccessKey: "a", Secret: []byte("sealed")})
	})
	got = w.upload(build, w.key(), textField("sync_to_acme", "true"), textField("notify_testers", "on"))
	require.Len(t, got["task_ids"], 2)
	require.Equal(t, got["task_id"], got["task_ids"].([]any)[0])
	require.Equal(t, 1, w.count(`select count(*) from tasks where kind = 'build:sync' and id = $1::uuid`, got["task_ids"].([]any)[1]))

	// What nobody can install is not announced.
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		on := true
		_, err := setting.Update(ctx, tx, account.CLI(), org, setting.Change{GenericFiles: &on})
		return err
	})
	got = w.upload(file("file", "game.bin", noise(5000, 1)), w.key(), textField("platform", "xbox"),
		textField("notify", "on"), textField("app_name", "Game"))
	require.Equal(t, "Xbox", got["platform"])
	require.Equal(t, "Game", got["app_name"])
	require.Contains(t, got["warnings"].([]any)[0], "notify was ignored")
	require.Equal(t, "", got["task_id"])
	require.Equal(t, 2, w.count(`select count(*) from audit_events where type = $1`, account.TestersNotified))
	status, out := w.post("/upload/", nil, file("file", "a.apk", noise(5000, 1)), w.key())
	require.Equal(t, [2]int{400, 105}, [2]int{status, code(out)}, "a broken app is no generic file: %v", out)
	got = w.upload(file("file", "", ipa("com.example.demo", "1")), w.key())
	require.Equal(t, "build.ipa", w.text(`select file_name from builds where id = $1::bigint`, got["build_id"]))
}

func TestIdempotency(t *testing.T) {
	t.Parallel()
	now := time.Now()
	w := newWorld(t, false, func(cfg *Config) { cfg.Now = func() time.Time { return now } })
	build := file("file", "a.ipa", ipa("com.example.demo", "1"))
	header := map[string]string{"Idempotency-Key": "job-17"}
	status, first := w.post("/upload/", header, w.key(), build)
	require.Equal(t, 200, status, first)
	for name, fields := range map[string][]field{"key first": {w.key(), build}, "key last": {build, w.key()},
		"with symbols": {file("symbols_file", "s.zip", dSYM()), build, w.key()}} {
		status, again := w.post("/upload/", header, fields...)
		require.Equal(t, 200, status, "%s: %v", name, again)
		require.Equal(t, first, again, name)
	}
	header["X-API-Key"] = w.boot.Owner.APIKey
	status, again := w.post("/upload/", header, file("file", "a.ipa", noise(4<<20, 1)))
	require.Equal(t, 200, status, again)
	require.Contains(t, again["warnings"], warnOtherFile, "another file is not passed over in silence")
	again["warnings"] = first["warnings"]
	require.Equal(t, first, again)
	for name, fields := range map[string][]field{"key first": {w.key(), file("file", "a.ipa", []byte("x"))},
		"key last": {file("file", "a.ipa", []byte("x")), w.key()}} {
		status, other := w.post("/upload/", map[string]string{"Idempotency-Key": "job-17"}, fields...)
		require.Equal(t, 200, status, name)
		require.Contains(t, other["warnings"], warnOtherFile, name)
	}
	status, v3 := w.post("/api/v3/builds/upload", header, build)
	require.Equal(t, 201, status, v3)
	require.Eventually(t, func() bool { return len(w.objects()) == 2 }, waitFor, tick)
	require.Equal(t, 1, w.count(`select count(*) from builds`))
	status, out := w.post("/upload/", map[string]string{"Idempotency-Key": "job-17"}, build, textField("api_key", "wrong"))
	require.Equal(t, 401, status, out)

	// Two at once create one build, and both get it.
	header["Idempotency-Key"] = "job-18"
	var wait sync.WaitGroup
	ids := make([]any, 4)
	for i := range ids {
		wait.Go(func() {
			if status, out := w.post("/upload/", header, build); status == 200 {
				ids[i] = out["build_id"]
			}
		})
	}
	wait.Wait()
	for _, id := range ids {
		require.Equal(t, ids[0], id)
	}
	require.NotNil(t, ids[0])
	require.Equal(t, 2, w.count(`select count(*) from builds`))
	require.Eventually(t, func() bool { return len(w.objects()) == 4 }, waitFor, tick)
}

// TestConfirmCommit: a commit of unknown outcome is looked up, and its objects are
// never deleted here.
func TestConfirmCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, nil)
	got := w.upload(w.key(), file("file", "a.ipa", ipa("com.example.demo", "1")))
	id, err := strconv.ParseInt(got["build_id"].(string), 10, 64)
	require.NoError(t, err)
	lost := &storage.UnknownOutcomeError{Err: errors.New("connection reset")}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tc := range map[string]struct {
		id   int64
		away bool
		made bool
	}{"made": {id: id, made: true}, "made, sender gone": {id: id, away: true, made: true}, "not made": {id: id + 1}} {
		u := w.newUpload()
		if tc.away {
			u.c.Request = u.c.Request.WithContext(gone)
		}
		u.objects = []string{"builds/a"}
		err := u.confirmCommit(&distribution.Build{ID: tc.id, OrganizationID: w.boot.Organization.ID}, lost)
		require.True(t, u.keep, name)
		if tc.made {
			require.NoError(t, err, name)
			continue
		}
		require.Equal(t, lost, err, name)
		require.Equal(t, 503, respond.Explain(err).Status, name)
	}
	// Nor does the response say otherwise when the build cannot be looked for.
	u := w.newUpload()
	cfg := w.h.cfg
	u.cfg = &cfg
	cfg.DB, err = storage.Open(storage.Config{URL: "postgres://u:p@127.0.0.1:1/d"})
	require.NoError(t, err)
	err = u.confirmCommit(&distribution.Build{ID: id, OrganizationID: w.boot.Organization.ID}, lost)
	require.Equal(t, 503, respond.Explain(err).Status)
	require.ErrorContains(t, err, "connection reset")
}

// TestLostCommit lets the connection break inside of a commit.
func TestLostCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, nil)
	_, err := w.db.ExecContext(t.Context(), `create function lose() returns trigger language plpgsql as $$
		begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$`)
	require.NoError(t, err)
	_, err = w.db.ExecContext(t.Context(), `create constraint trigger lose after insert on builds
		deferrable initially deferred for each row execute function lose()`)
	require.NoError(t, err)
	body, kind := encodeForm([]field{file("file", "a.ipa", ipa("com.example.demo", "1")), w.key()})
	res, err := http.Post(w.url+"/upload/", kind, bytes.NewReader(body))
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 503, res.StatusCode)
	require.NotEmpty(t, res.Header.Get("Retry-After"))
	require.Zero(t, w.count(`select count(*) from builds`))
	require.Len(t, w.objects(), 2, "the sweep takes them once it is sure")
}

// TestNoTimeToInspect: that no process was free to read a file does not speak
// against it.
func TestNoTimeToInspect(t *testing.T) {
	t.Parallel()
	late := fmt.Errorf("read the file: %w", context.DeadlineExceeded)
	busy, symbolsBusy := true, true
	w := newWorld(t, false, func(cfg *Config) {
		cfg.Inspect = func(ctx context.Context, f inspection.File) (*artifact.Package, error) {
			if busy {
				return nil, late
			}
			return inspector().Package(ctx, f)
		}
		cfg.InspectSymbols = func(ctx context.Context, f inspection.File) (*artifact.Symbols, error) {
			if symbolsBusy {
				return nil, late
			}
			return inspector().Symbols(ctx, f)
		}
	})
	build, symbols := file("file", "a.ipa", ipa("com.example.demo", "1")), file("symbols_file", "s.zip", dSYM())
	for path, fields := range map[string][]field{"/upload/": {build, symbols, w.key()}, "/upload/dsym/": {symbols, w.key()}} {
		body, kind := encodeForm(fields)
		res, err := http.Post(w.url+path, kind, bytes.NewReader(body))
		require.NoError(t, err)
		answer, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, 503, res.StatusCode, path)
		require.Equal(t, "15", res.Header.Get("Retry-After"), path)
		require.Contains(t, string(answer), "try again later", path)
		w.nothingKept()
	}
	// Symbols are left out, as always when they cannot be read.
	busy = false
	got := w.upload(build, symbols, w.key())
	require.Contains(t, got["warnings"].([]any)[0], "send it to /upload/dsym/ later")
	symbolsBusy = false
	status, out := w.post("/upload/dsym/", nil, symbols, w.key())
	require.Equal(t, 200, status, out)
}

// TestWithoutIcon: an icon that cannot be drawn is no reason to refuse a build.
func TestWithoutIcon(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, func(cfg *Config) {
		cfg.Letter = func(string) ([]byte, error) { return nil, errors.New("no font") }
		cfg.Inspect = func(_ context.Context, f inspection.File) (*artifact.Package, error) {
			if f.Vendor != "slipway" || f.Platform != "" || !f.Generic || f.Organization == 0 {
				return nil, errors.New("wrong question")
			}
			return &artifact.Package{Kind: artifact.APK, Platform: artifact.Android, Name: "Demo", PackageName: "com.example",
				Version: "1", HasSDK: true, Warnings: []string{"the icon cannot be read"}}, nil
		}
	})
	got := w.upload(w.key(), file("file", "a.apk", noise(100, 1)))
	require.Equal(t, true, got["has_slipway_sdk"])
	require.Equal(t, []any{"the icon cannot be read"}, notes(got))
	require.Len(t, w.objects(), 1)
	require.Equal(t, "application/vnd.android.package-archive", w.text(`select content_type from files`))
}
