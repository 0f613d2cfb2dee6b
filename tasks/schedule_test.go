package tasks

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTicksHaveSlots(t *testing.T) {
	keys := map[string]bool{}
	for slot := range ScheduleTick.Open {
		task := NewPeriodic(ScheduleTick, slot)
		require.Equal(t, ScheduleTick.Name, task.Kind)
		require.Equal(t, Schedule, task.Queue)
		require.Zero(t, task.OrganizationID)
		keys[task.DedupeKey] = true
	}
	require.Len(t, keys, ScheduleTick.Open, "each slot has a key of its own")
	require.Equal(t, NewMaintenance(ScheduleTick).DedupeKey, NewPeriodic(ScheduleTick, 0).DedupeKey)
}

// Nothing else may stand in front of a tick.
func TestTheTickHasItsQueue(t *testing.T) {
	for name, k := range Kinds() {
		require.Equal(t, name == ScheduleTick.Name, k.Queue == Schedule, name)
	}
	require.Equal(t, Schedule, Queues()[0])
	require.Zero(t, ScheduleTick.Every%time.Second, "the asynq scheduler counts whole seconds")
}
