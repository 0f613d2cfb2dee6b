package tasks

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/ledger"
)

func TestBuildAndMailTasks(t *testing.T) {
	t.Parallel()
	mail := uuid.New()
	for _, tt := range []struct {
		task    *ledger.NewTask
		kind    Kind
		queue   string
		payload string
		key     string
	}{
		{NewBuildNotify(7, "r", 9), BuildNotify, Default, `{"build_id":9}`, ""},
		{NewBuildSync(7, "r", 9), BuildSync, Sync, `{"build_id":9}`, "build:sync:7"},
		{NewBuildDelete(7, "r", 9), BuildDelete, Bulk, `{"build_id":9}`, ""},
		{NewProjectDelete(7, "r", 9), ProjectDelete, Bulk, `{"project_id":9}`, ""},
		{NewMailSend(7, "r", mail), MailSend, Mail, `{"mail_id":"` + mail.String() + `"}`, ""},
		{NewMailSendNow(7, "r", mail), MailUrgent, Critical, `{"mail_id":"` + mail.String() + `"}`, ""},
	} {
		require.Equal(t, tt.kind.Name, tt.task.Kind)
		require.Equal(t, tt.queue, tt.task.Queue)
		require.Equal(t, tt.kind.MaxAttempts, tt.task.MaxAttempts)
		require.EqualValues(t, 7, tt.task.OrganizationID)
		require.Equal(t, "r", tt.task.RequestID)
		require.Equal(t, tt.key, tt.task.ConcurrencyKey)
		require.Empty(t, tt.task.DedupeKey, "each request sends again")
		doc, err := json.Marshal(tt.task.Payload)
		require.NoError(t, err)
		require.JSONEq(t, tt.payload, string(doc))
	}
	for _, p := range []interface{ Validate() error }{BuildPayload{}, BuildNotifyPayload{-1}, ProjectPayload{}, MailSendPayload{}} {
		require.Error(t, p.Validate())
	}
	for _, p := range []interface{ Validate() error }{BuildPayload{1}, BuildNotifyPayload{1}, ProjectPayload{1}, MailSendPayload{mail}} {
		require.NoError(t, p.Validate())
	}
}
