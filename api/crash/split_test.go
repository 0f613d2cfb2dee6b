package crash_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
)

// stacked records a crash of the group "k" with a stack and attributes.
func (w *world) stacked(stack byte, attributes string) {
	w.t.Helper()
	id, err := uuid.NewV7()
	require.NoError(w.t, err)
	batch := crash.Crash{ID: id, ProjectID: w.project, UUID: uuid.New(), State: crash.Processed, Format: "json",
		OccurredAt: time.Now(), ReceivedAt: time.Now(), Duplicates: 1, Attributes: attributes,
		StackKey: bytes.Repeat([]byte{stack}, 16),
		Explanation: fmt.Appendf(nil, `{"version":2,"frames":[{"index":0,"function":"abort()","text":"abort","kept":false,"stack":false},`+
			`{"index":1,"function":"pay(int)","text":"pay","kept":true,"stack":true},{"index":2,"text":"caller%d","kept":false,"stack":true}]}`,
			stack),
		Group: &crash.Grouping{Key: sha256.Sum256([]byte("k")), Algorithm: 2, Title: "title k"}}
	batch.ID[15] = 0
	require.NoError(w.t, w.db.InTx(w.t.Context(), func(tx *storage.Tx) error {
		_, err := tx.ExecContext(w.t.Context(), `insert into crash_batches (id, organization_id, entries, body) values ($1, $2, '[]', '')`,
			batch.ID, w.org)
		if err != nil {
			return err
		}
		if err := crash.Record(w.t.Context(), tx, w.org, []crash.Crash{batch}); err != nil {
			return err
		}
		return crash.RecordExplanations(w.t.Context(), tx, w.store.PackExplanations([]crash.Crash{batch}))
	}))
}

func TestStacksAndSplit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.stacked(1, `{"device.model":"X"}`)
	w.stacked(1, `{"device.model":"Y"}`)
	w.stacked(2, `{"device.model":"Y"}`)
	path := fmt.Sprint("/crash-groups/", w.groupID("k"))
	tree := w.get(path + "/stacks")
	require.Equal(t, []any{2.0, 3.0, false}, []any{tree["total"], tree["reports"], tree["sampled"]})
	first := tree["stacks"].([]any)[0].(map[string]any)
	require.Equal(t, strings.Repeat("01", 16), first["stack"])
	require.Equal(t, 2.0, first["count"])
	require.Equal(t, []any{map[string]any{"function": "pay(int)", "text": "pay", "kept": true},
		map[string]any{"function": "", "text": "caller1", "kept": false}}, first["frames"])
	require.Equal(t, 200, w.call(w.org, "GET", "/crashes/"+first["crash_id"].(string), "").Code)

	for body, text := range map[string]string{
		``: "either stacks or attribute", `{"stacks":[]}`: "either", `{"stacks":["zz"]}`: "stacks[0]", `{"stacks":"x"}`: "stacks",
		`{"stacks":["` + strings.Repeat("09", 16) + `"]}`:  "no report of the group has the stack 0909",
		`{"attribute":{"key":"device.model","value":"Z"}}`: "no report of the group has device.model = Z",
		`{"attribute":{"key":"","value":"Z"}}`:             "attribute", `{"attribute":"x"}`: "attribute",
		`{"stacks":["` + strings.Repeat("01", 16) + `","` + strings.Repeat("02", 16) + `"]}`: "nothing would stay",
	} {
		rec := w.call(w.org, "POST", path+"/split", body)
		require.Equal(t, 400, rec.Code, "%s: %s", body, rec.Body)
		require.Contains(t, rec.Body.String(), text)
	}
	in := `{"attribute":{"key":"device.model","value":"X"}}`
	require.Equal(t, 404, w.call(w.other, "POST", path+"/split", in).Code)
	require.Equal(t, 404, w.call(w.other, "GET", path+"/stacks", "").Code)

	made := w.tree(w.call(w.org, "POST", path+"/split", in), http.StatusAccepted)
	group := made["crash_group"].(map[string]any)
	require.Equal(t, 1.0, group["count"])
	require.Equal(t, "title k", group["title"])
	require.Equal(t, 2.0, w.get(path)["crash_group"].(map[string]any)["count"])
	var payload string
	require.NoError(t, w.db.GetContext(t.Context(), &payload,
		`select payload from tasks where id = $1 and kind = 'crash:split' and organization_id = $2`, made["task_id"], w.org))
	require.Regexp(t, `^{"target_key_id": *[0-9]+}$`, payload)
	var audit string
	require.NoError(t, w.db.GetContext(t.Context(), &audit, `select action || subject || detail from audit_events`))
	require.Contains(t, audit, "crash_group.split")
	require.NotContains(t, audit, `"X"`, "the trail cannot forget")
	rec := w.call(w.org, "POST", path+"/split", in)
	require.Equal(t, 400, rec.Code, rec.Body)

	w.stacked(1, `{"device.model":"X"}`)
	newPath := fmt.Sprint("/crash-groups/", group["id"])
	require.Equal(t, 2.0, w.get(newPath)["crash_group"].(map[string]any)["count"])
	require.Equal(t, []any{map[string]any{"stack": nil, "attribute": map[string]any{"key": "device.model", "value": "X"},
		"group_id": group["id"]}}, w.get(path + "/stacks")["splits"])
	require.Equal(t, 403, w.callAs(w.org, account.Tester, "POST", path+"/split", in).Code)

	w.must(200, w.org, "PATCH", newPath, map[string]any{"merge_into": w.groupID("k")})
	w.must(202, w.org, "POST", path+"/split", map[string]any{"stacks": []string{strings.Repeat("02", 16)}})
	require.Len(t, w.get(path + "/stacks")["splits"], 2, "the rule of a group and of its part is shown once")
}
