package dispatch

// The keys of asynq 0.26 that are read or changed here; tests compare them with those
// of the module in use.

// stateKey is the key that holds the ids of the tasks in a state.
func stateKey(queue, state string) string { return "asynq:{" + queue + "}:" + state }

// pendingKey is that of the tasks that wait for a worker.
func pendingKey(queue string) string { return stateKey(queue, "pending") }

// taskKey is the key of one task.
func taskKey(queue, id string) string { return "asynq:{" + queue + "}:t:" + id }

// uniqueKey is the lock of a unique task without a payload.
func uniqueKey(queue, typename string) string {
	return "asynq:{" + queue + "}:unique:" + typename + ":"
}

// historyKey is what an asynq scheduler notes of an entry.
func historyKey(entry string) string { return "asynq:scheduler_history:" + entry }
