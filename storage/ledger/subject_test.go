package ledger_test

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/ledger"
)

// Each payload names its subject, also when it is gone.
func TestSubjects(t *testing.T) {
	t.Parallel()
	f := open(t)
	var webhook int64
	require.NoError(t, f.db.Get(&webhook, `insert into webhooks (organization_id, name, url, status, secret)
		values ($1, 'ours', 'https://example.com', 'active', 'x') returning id`, f.one))
	mail := uuid.New()
	_, err := f.db.Exec(`insert into mails (id, organization_id, kind, recipient, subject, text_body)
		values ($1, $2, 'k', 'a@b.c', 'New build', '')`, mail, f.one)
	require.NoError(t, err)
	id := uuid.MustParse("01a20793-3d5c-75d6-ae43-1185415be095")
	crash := id
	crash[15] = 3
	gone := func(kind, id string) ledger.Subject { return ledger.Subject{Type: kind, ID: id} }
	for _, c := range []struct {
		payload map[string]any
		want    ledger.Subject
	}{
		{map[string]any{"webhook_id": webhook}, ledger.Subject{Type: "webhook", ID: "1", Name: "ours", Path: "/api/v3/webhooks/1"}},
		{map[string]any{"mail_id": mail}, ledger.Subject{Type: "mail", ID: mail.String(), Name: "New build"}},
		{map[string]any{"batch_id": id, "entries": []int{3, 4}}, ledger.Subject{Type: "crash", ID: crash.String(), Name: "crash report",
			Path: "/api/v3/crashes/" + crash.String()}},
		{map[string]any{"key": "user", "value": "ann", "project_id": 3}, ledger.Subject{Type: "crash_purge", Name: "user"}},
		{map[string]any{"build_id": 9}, gone("build", "9")}, {map[string]any{"project_id": 9}, gone("project", "9")},
		{map[string]any{"target_key_id": 9}, gone("crash_group", "9")}, {map[string]any{"symbol_id": 9}, gone("symbol", "9")},
		{map[string]any{"mailing_id": 9}, gone("mailing", "9")}, {map[string]any{"job_id": id}, gone("test_run", id.String())},
		{map[string]any{"suite_run_id": id}, gone("suite_run", id.String())}, {map[string]any{"generation_id": id},
			gone("generation", id.String())},
		{map[string]any{}, ledger.Subject{}},
	} {
		doc, err := json.Marshal(c.payload)
		require.NoError(t, err)
		task := ledger.Task{ID: uuid.New(), Payload: doc}
		of, err := f.Subjects(t.Context(), []ledger.Task{task})
		require.NoError(t, err, "%s", doc)
		require.Equal(t, c.want, of[task.ID], "%s", doc)
	}
}
