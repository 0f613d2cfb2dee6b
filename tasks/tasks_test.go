package tasks

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestKindsAreWellFormed(t *testing.T) {
	queues := map[string]bool{}
	for _, q := range Queues() {
		queues[q] = true
	}
	for name, k := range Kinds() {
		require.Equal(t, name, k.Name)
		require.True(t, queues[k.Queue], "%s: queue %q", name, k.Queue)
		// asynq rounds to whole seconds, and 500 ms would become half an hour.
		require.Zero(t, k.Timeout%time.Second, name)
		require.GreaterOrEqual(t, k.Timeout, time.Second, name)
		require.GreaterOrEqual(t, k.MaxAttempts, 2, name)
		require.Positive(t, k.Backoff, name)
		require.GreaterOrEqual(t, k.MaxBackoff, k.Backoff, name)
		if k.Batch > 1 {
			require.Positive(t, k.MaxWeight, name)
		}
	}
}

func TestDelayDoublesUpToItsBound(t *testing.T) {
	k := Kind{Backoff: time.Second, MaxBackoff: 10 * time.Second}
	for attempt, want := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 4: 8 * time.Second, 5: 10 * time.Second,
		60: 10 * time.Second} {
		for range 20 {
			got := k.Delay(attempt)
			require.InDelta(t, want.Seconds(), got.Seconds(), want.Seconds()*0.21, "attempt %d", attempt)
		}
	}
}

func TestPayloadsAreValidated(t *testing.T) {
	require.Error(t, CrashProcessPayload{}.Validate())
	require.NoError(t, CrashProcessPayload{BatchID: uuid.New()}.Validate())
	require.Error(t, CrashPurgePayload{Value: "x"}.Validate())
	require.NoError(t, CrashPurgePayload{Key: "user.id"}.Validate())
}

func TestConstructors(t *testing.T) {
	batch := uuid.New()
	p := NewCrashProcess(7, batch, 10_000)
	require.Equal(t, batch, p.ID)
	require.Equal(t, 10, p.Weight)
	doc, err := json.Marshal(p.Payload)
	require.NoError(t, err)
	require.JSONEq(t, fmt.Sprintf(`{"batch_id":%q}`, batch), string(doc))

	require.Equal(t, NewCrashPurge(7, "r", CrashPurgePayload{Key: "a"}).ConcurrencyKey,
		NewCrashPurge(7, "s", CrashPurgePayload{Key: "b"}).ConcurrencyKey)
	require.NotEqual(t, NewCrashPurge(7, "r", CrashPurgePayload{Key: "a"}).ConcurrencyKey,
		NewCrashPurge(8, "r", CrashPurgePayload{Key: "a"}).ConcurrencyKey)
	require.Equal(t, "ledger:retention", NewMaintenance(LedgerRetention).DedupeKey)
}

func TestPermanentSurvivesWrapping(t *testing.T) {
	cause := errors.New("x")
	err := fmt.Errorf("layer: %w", Permanent(cause))
	require.True(t, IsPermanent(err))
	require.ErrorIs(t, err, cause)
	require.False(t, IsPermanent(cause))
}
