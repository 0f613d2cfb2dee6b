package run

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/object"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

const secret = "hunter2-hunter2"

func (w *world) variable(name, value string, isSecret bool) {
	w.t.Helper()
	w.must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := authoring.CreateVariable(ctx, tx, w.writer, sealKey,
			authoring.NewVariable{Scope: step.ScopeOrg, Name: name, Value: value, IsSecret: isSecret})
		return err
	})
}

// everywhere returns all texts that a job leaves behind: its row, its task, its
// event and the log.
func (w *world) everywhere(run *store.Run) string {
	w.t.Helper()
	var text string
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &text, `select
		(select coalesce(string_agg(j::text, ' '), '') from test_jobs j where run_id = $1)
		|| (select coalesce(string_agg(t::text, ' '), '') from tasks t)
		|| (select coalesce(string_agg(e::text, ' '), '') from events e)
		|| (select coalesce(string_agg(h::text, ' '), '') from test_healings h)`, run.ID))
	return text + w.log.String()
}

func TestVariablesOfATest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.variable("user", "dev", false)
	w.variable("password", secret, true)
	run := w.newRun(w.newCase("log in", "{{user}} {{password}} {{unknown}}"), store.NewRun{}, chrome)
	w.handler.Play = func(_ context.Context, cfg replay.Config) replay.Result {
		value, isSecret, ok := cfg.Lookup(step.Reference{Name: "user"})
		require.Equal(t, []any{"dev", false, true}, []any{value, isSecret, ok})
		value, isSecret, ok = cfg.Lookup(step.Reference{Name: "password"})
		require.Equal(t, []any{secret, true, true}, []any{value, isSecret, ok})
		_, _, ok = cfg.Lookup(step.Reference{Name: "unknown"})
		require.False(t, ok)
		records := []playback.Record{{StepID: "s1", Status: playback.Failed, Result: step.Outcome{Message: "typed " + secret},
			Healed: &playback.Healed{Reason: "says " + secret}}, {StepID: "s2", Status: playback.Failed,
			Suggested: &playback.Healed{Reason: "named " + secret,
				From: step.Selector{Type: step.CSS, Value: "#old"}, To: step.Selector{Type: step.CSS, Value: "#new",
					Fingerprint: &step.Fingerprint{Name: secret}}}},
			{StepID: "s3", Status: playback.Failed, Suggested: &playback.Healed{From: step.Selector{Type: step.CSS, Value: "#old"},
				To: step.Selector{Type: step.CSS, Value: "#new"}}}}
		cfg.Progress(records)
		return replay.Result{Status: playback.Failed, Code: store.CodeStepFailed, Message: "the page shows " + secret, Records: records}
	}
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
	got := w.read(run).Jobs[0]
	require.Equal(t, "the page shows ***", got.Error)
	require.Equal(t, "typed ***", got.Records[0].Result.Message)
	require.Equal(t, "says ***", got.Records[0].Healed.Reason)
	require.Equal(t, "named ***", got.Records[1].Suggested.Reason)
	require.Zero(t, got.Records[1].Suggested.To, "a selector that names a secret is left out")
	require.Empty(t, got.Records[1].HealingID)
	require.Equal(t, "#new", got.Records[2].Suggested.To.Value)
	require.Equal(t, []int{1, 1}, []int{w.number(`select count(*) from test_healings`),
		w.number(`select count(*) from test_healings where id::text = $1`, got.Records[2].HealingID)})
	require.NotContains(t, w.everywhere(run), secret)
}

func TestSecretsStayOutOfFailures(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(w *world){
		"panic": func(w *world) {
			w.handler.Play = func(context.Context, replay.Config) replay.Result { panic("cannot type " + secret) }
		},
		"session": func(w *world) {
			w.browser.fail = &browser.SessionError{Text: "refused " + secret, Err: errors.New("body: " + secret)}
		},
		"session, again": func(w *world) {
			w.browser.fail = &browser.SessionError{Text: "refused " + secret, Retry: true, Err: errors.New("body: " + secret)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.variable("password", secret, true)
			run := w.newRun(w.newCase("log in", "{{password}}"), store.NewRun{}, chrome)
			fail(w)
			if err := w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)); err != nil {
				require.NotContains(t, err.Error(), secret)
			}
			require.NotContains(t, w.everywhere(run), secret)
			require.Contains(t, w.log.String(), "***")
		})
	}
}

func TestSecretCannotBeDecrypted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.variable("password", secret, true)
	run := w.newRun(w.newCase("log in", "{{password}}"), store.NewRun{}, chrome)
	w.handler.Keys = seal.Ring{[]byte(strings.Repeat("x", 32))}
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
	got := w.read(run).Jobs[0]
	require.Equal(t, store.CodeInternal, got.ErrorCode)
	require.Contains(t, got.Error, "cannot be decrypted")
	require.NotContains(t, got.Error, "SLIPWAY_SIGNING_KEY")
}

func TestTunnelOfARun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := authoring.CreateTunnel(ctx, tx, w.writer, sealKey, "office", "http://me:pass-word-9@proxy.example.com:3128")
		return err
	})
	c := w.newCase("log in", "dev")
	run := w.newRun(c, store.NewRun{Tunnel: "office"}, chrome)
	w.handler.Play = func(context.Context, replay.Config) replay.Result {
		return replay.Result{Status: playback.Failed, Code: store.CodeUnreachable,
			Message: "no answer from http://me:pass-word-9@proxy.example.com:3128"}
	}
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
	require.Equal(t, "http://me:pass-word-9@proxy.example.com:3128", w.browser.requests[0].Proxy)
	require.NotContains(t, w.everywhere(run), "pass-word-9")

	run = w.newRun(c, store.NewRun{Tunnel: "gone"}, chrome)
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
	got := w.read(run).Jobs[0]
	require.Equal(t, store.Errored, got.Status)
	require.Equal(t, store.CodeTunnel, got.ErrorCode)
	require.Contains(t, got.Error, `"gone"`)
	require.Len(t, w.browser.requests, 1)
}

// newBuild stores a build of a file; all are of one app.
func (w *world) newBuild(fileName string) (id int) {
	w.t.Helper()
	project := w.number(`with have as (select id from projects where organization_id = $1),
		made as (insert into projects (organization_id, team_id, name, package_name, platform, token, landing_page_mode)
			select $1, id, 'Shop', 'org.example.shop', 'Android', $2, 'open' from teams where not exists (select from have) limit 1 returning id)
		select id from have union all select id from made`, w.org, uuid.NewString())
	key := "files/" + uuid.NewString()
	_, err := object.Put(w.t.Context(), w.objects, key, strings.NewReader("apk"), 3, object.WriteOptions{})
	require.NoError(w.t, err)
	file := w.number(`insert into files (organization_id, object_key, size, sha256, content_type)
		values ($1, $2, 3, '', 'application/octet-stream') returning id`, w.org, key)
	return w.number(`insert into builds (organization_id, project_id, token, app_name, version, version_code, platform, kind,
			file_id, file_name, release_notes)
		values ($1, $2, $3, 'Shop', '2.1', '21', 'Android', 'apk', $4, $5, '') returning id`, w.org, project, uuid.NewString(), file, fileName)
}

func TestAppOfATarget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	older, newer := w.newBuild("shop.apk"), w.newBuild("shop.apk")
	require.Less(t, older, newer)
	c := w.newCase("log in", "dev")
	played := func(capabilities capability.Capabilities) (store.Job, capability.Capabilities) {
		run := w.newRun(c, store.NewRun{}, capabilities)
		before := len(w.browser.requests)
		require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
		job := w.read(run).Jobs[0]
		require.Equal(t, capabilities, job.Target.Capabilities, "what is stored keeps the reference")
		if len(w.browser.requests) == before {
			return job, nil
		}
		return job, w.browser.requests[before].Target.Capabilities
	}
	isLink := func(value any) {
		t.Helper()
		link, err := url.Parse(value.(string))
		require.NoError(t, err)
		require.Equal(t, "slipway.example.com", link.Host)
		require.NotEmpty(t, link.Query().Get("sig"))
	}
	_, seen := played(capability.Capabilities{"platformName": "android", "appium:app": "storage:filename=shop.apk"})
	isLink(seen["appium:app"])
	_, seen = played(capability.Capabilities{"platformName": "android",
		"appium:options": map[string]any{"app": "storage:filename=shop.apk"}})
	isLink(seen["appium:options"].(map[string]any)["app"])
	_, seen = played(capability.Capabilities{"platformName": "android", "appium:app": "https://files.example.com/shop.apk"})
	require.Equal(t, "https://files.example.com/shop.apk", seen["appium:app"])

	for _, missing := range []string{"storage:filename=other.apk", "storage:999999"} {
		job, seen := played(capability.Capabilities{"platformName": "android", "appium:app": missing})
		require.Nil(t, seen)
		require.Equal(t, store.CodeApp, job.ErrorCode)
		require.Contains(t, job.Error, missing)
	}
	w.exec(`update builds set deleted_at = now()`)
	job, _ := played(capability.Capabilities{"platformName": "android", "appium:app": "storage:filename=shop.apk"})
	require.Equal(t, store.CodeApp, job.ErrorCode)
}
