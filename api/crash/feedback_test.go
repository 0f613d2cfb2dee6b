package crash_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/object"
)

func TestFeedbackOfCrashesAndGroups(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second, pending := w.crash(w.project, "a", true), w.crash(w.project, "a", true), w.crash(w.project, "b", false)
	w.crash(w.project, "b", true)
	for i, id := range []uuid.UUID{first, second, pending} {
		_, err := w.store.AddFeedback(t.Context(), crash.NewFeedback{OrganizationID: w.org, ProjectID: w.project,
			CrashID: id, Name: "Ann", Text: fmt.Sprint("text ", i)})
		require.NoError(t, err)
	}
	texts := func(path string) (list []string) {
		for _, f := range w.get(path)["feedback"].([]any) {
			list = append(list, f.(members)["text"].(string))
			require.Equal(t, "Ann", f.(members)["name"])
			require.NotEmpty(t, f.(members)["created_at"])
		}
		return list
	}
	require.Equal(t, []string{"text 0"}, texts("/crashes/"+first.String()+"/feedback"))
	require.Equal(t, []string{"text 2"}, texts("/crashes/"+pending.String()+"/feedback"))
	group := fmt.Sprint("/crash-groups/", w.groupID("a"), "/feedback")
	require.Equal(t, []string{"text 1", "text 0"}, texts(group))
	require.Equal(t, []string{"text 0"}, texts(group+"?page=2&per_page=1"))
	require.Empty(t, texts(fmt.Sprint("/crash-groups/", w.groupID("b"), "/feedback")))
	for _, path := range []string{"/crashes/" + first.String() + "/feedback", group} {
		require.Equal(t, 404, w.call(w.other, "GET", path, "").Code, path)
	}
	require.Equal(t, 404, w.call(w.org, "GET", "/crashes/"+uuid.NewString()+"/feedback", "").Code)
}

// A crash says what it is of, and how far the clock of its client was off; lists filter by it.
func TestSeverityAndClock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.crash(w.project, "a", true)
	w.crash(w.project, "b", true)
	_, err := w.db.ExecContext(t.Context(), `update crashes set severity = 2 where id = $1`, id)
	require.NoError(t, err)
	_, err = w.db.ExecContext(t.Context(), `update crash_groups set severity = 2 where id = $1`, w.groupID("a"))
	require.NoError(t, err)
	_, err = w.db.ExecContext(t.Context(),
		`update crash_batches set entries = jsonb_set(entries, '{0,sent}', to_jsonb(extract(epoch from received_at)::bigint - 86400))`)
	require.NoError(t, err)
	view := w.get("/crashes/" + id.String())["crash"].(members)
	require.Equal(t, "hang", view["severity"])
	require.InDelta(t, 86400, view["clock_drift_seconds"], 1)
	require.Equal(t, false, view["truncated"])
	require.Equal(t, []any{}, view["annotations"])
	require.Equal(t, []string{"title a"}, w.titles("severity=hang"))
	require.Equal(t, []string{"title b"}, w.titles("severity[]=crash"))
	require.Len(t, w.get("/crashes?severity=hang,error")["crashes"], 1)
	for _, path := range []string{"/crashes?severity=bad", "/crash-groups?severity=bad"} {
		require.Equal(t, 400, w.call(w.org, "GET", path, "").Code, path)
	}
}

// The breadcrumbs of a client that sends them as a file are those of the crash.
func TestBreadcrumbsOfAttachments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.crash(w.project, "a", true)
	file := uuid.New()
	key, text := "attachments/"+file.String(), fmt.Sprintf(`{"id":1,"message":"pay","timestamp":%d}`+"\n"+`{"id":2,"mess`,
		time.Now().UnixMilli())
	_, err := object.Put(t.Context(), w.objects, key, strings.NewReader(text), int64(len(text)), object.WriteOptions{})
	require.NoError(t, err)
	require.NoError(t, w.store.AddAttachments(t.Context(), w.org, w.project, id,
		[]received.Attachment{{ID: file, Name: "bt-breadcrumbs-0", Size: int64(len(text)), ObjectKey: key},
			{ID: uuid.New(), Name: "bt-breadcrumbs-1", Size: 5, ObjectKey: "attachments/gone"}}, 9))
	steps := w.get("/crashes/" + id.String())["crash"].(members)["breadcrumbs"].([]any)
	require.Len(t, steps, 1)
	require.Equal(t, "pay", steps[0].(members)["message"])
}
