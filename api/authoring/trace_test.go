package authoring_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/storage/object"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

// endTraced ends a job that failed, with a trace.
func (w *world) endTraced(objects object.Store, job uuid.UUID, text string) {
	w.t.Helper()
	file := uuid.New()
	key := store.FileKey(job, file)
	_, err := object.Put(w.t.Context(), objects, key, strings.NewReader(text), int64(len(text)),
		object.WriteOptions{ContentType: "application/zip"})
	require.NoError(w.t, err)
	w.end(job, store.JobEnd{Status: store.Failed, ErrorCode: store.CodeStepFailed, Error: "no",
		Files: []store.NewFile{{ID: file, Kind: store.Trace, Key: key, ContentType: "application/zip", Size: int64(len(text))}}})
}

func TestTraceOfARun(t *testing.T) {
	t.Parallel()
	var objects object.Store
	files := withObjects(t)
	w := newWorld(t, func(cfg *handler.Config) { files(cfg); objects = cfg.Objects })
	id := w.newCase(w.member, "Buy", tree{})
	run := w.start(id, `{"targets":[{"capabilities":{"browserName":"chrome"}},{"capabilities":{"browserName":"firefox"}}],"trace":"on"}`)
	first, second := idOf(jobOf(run, 0)), idOf(jobOf(run, 1))
	at := "/testcases/" + id + "/runs/" + run["id"].(string) + "/trace"
	w.refused(w.member, 404, "TEST_CASE_RUN_TRACE_NOT_FOUND", "GET", at, "", "still runs")
	w.begin(first)
	w.begin(second)
	w.end(first, store.JobEnd{Status: store.Passed})
	w.refused(w.member, 404, "TEST_CASE_RUN_TRACE_NOT_FOUND", "GET", at+"?job="+first.String(), "", "no trace was kept")
	w.refused(w.member, 404, "TEST_CASE_RUN_TRACE_NOT_FOUND", "GET", at+"?job="+second.String(), "", "still runs")
	w.endTraced(objects, second, "a zip")
	for _, path := range []string{at, at + "?job=" + second.String()} {
		answer := w.call(w.member, "GET", path, "")
		require.Equal(t, 302, answer.Code, answer.Body)
		require.Contains(t, answer.Header().Get("Location"), "/objects/")
		require.Equal(t, "no-store", answer.Header().Get("Cache-Control"))
	}
	answer := w.call(w.member, "GET", at+"?content=1", "")
	require.Equal(t, 200, answer.Code, answer.Body)
	require.Equal(t, "application/zip", answer.Header().Get("Content-Type"))
	require.Equal(t, "a zip", answer.Body.String())

	w.refused(w.member, 400, "INVALID_QUERY", "GET", at+"?job="+uuid.NewString(), "", "job")
	w.refused(w.member, 400, "INVALID_QUERY", "GET", at+"?job=x", "", "job")
	w.refused(w.member, 404, "TEST_CASE_RUN_NOT_FOUND", "GET", "/testcases/"+id+"/runs/"+uuid.NewString()+"/trace", "")
	w.refused(w.member, 400, "INVALID_BODY", "POST", "/testcases/"+id+"/run",
		`{"targets":[{"capabilities":{"browserName":"chrome"}}],"trace":"always"}`, "trace")

	report := w.call(w.member, "GET", "/testcases/"+id+"/runs/"+run["id"].(string)+"?format=junit", "").Body.String()
	link := base + "/v1/ai-authoring" + at + "?job=" + second.String()
	require.Equal(t, 1, strings.Count(report, `<property name="trace" value="`+link+`">`), report)
	require.Contains(t, report, "trace: "+link)
}

// A report names the pictures by which people decide, and no others.
func TestReportNamesPictures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCase(w.member, "Buy", tree{})
	run := w.start(id, `{"targets":[{"capabilities":{"browserName":"chrome"}}]}`)
	job := idOf(jobOf(run, 0))
	w.begin(job)
	records := []playback.Record{{StepID: "s1", Status: playback.Passed}, {StepID: "s2", Status: playback.Failed,
		Look: &step.Look{State: step.LookDifferent}}}
	end, want := store.JobEnd{Status: store.Failed, ErrorCode: store.CodeAssertionFailed, Error: "no", Records: records}, map[string]string{}
	for _, f := range []struct {
		kind string
		step int
		name string // of the property; "" for none
	}{{store.Screenshot, 0, ""}, {store.Screenshot, 1, "screenshot:s2"}, {store.Expected, 1, "expected:s2"}, {store.Actual, 1, "actual:s2"},
		{store.Difference, 1, "difference:s2"}, {store.Source, 1, ""}} {
		file := uuid.New()
		end.Files = append(end.Files, store.NewFile{ID: file, Kind: f.kind, Step: f.step, Key: store.FileKey(job, file),
			ContentType: "image/png", Size: 1})
		if f.name != "" {
			want[f.name] = base + "/v1/ai-authoring/files/" + file.String()
		}
	}
	w.end(job, end)
	report := w.call(w.member, "GET", "/testcases/"+id+"/runs/"+run["id"].(string)+"?format=junit", "").Body.String()
	require.Equal(t, len(want), strings.Count(report, "/ai-authoring/files/")/2, report)
	for name, link := range want {
		require.Contains(t, report, `<property name="`+name+`" value="`+link+`">`)
		require.Contains(t, report, name+": "+link)
	}
}
