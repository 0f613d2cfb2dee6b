package ledger

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

const (
	// keptFailures bounds the attempts that a task remembers: the first and the last.
	keptFailures = 20
	// failureText bounds the error of each, in characters.
	failureText = 500
)

// Failed is an attempt that failed, as the column failures has it.
type Failed struct {
	Attempt   int        `json:"attempt"`
	StartedAt *time.Time `json:"started_at"`
	EndedAt   time.Time  `json:"ended_at"`
	Worker    *string    `json:"worker"`
	Error     string     `json:"error"`
	// Lost: the worker stopped sending heartbeats, by which the attempt ended.
	Lost bool `json:"lost"`
}

// PublicError is the error as members may read it.
func (f *Failed) PublicError() string { return publicError(f.Error) }

// FailedAttempts returns the attempts that failed, oldest first; where there were more
// than twenty, the first and the last of them.
func (t *Task) FailedAttempts() ([]Failed, error) {
	if t.Failures == nil {
		return nil, nil
	}
	var list []Failed
	if err := json.Unmarshal(*t.Failures, &list); err != nil {
		return nil, fmt.Errorf("failures of task %s: %w", t.ID, err)
	}
	return list, nil
}

// retriedFailures marks the failures of a task that is retried, as SQL: they were counted with
// the end that it had. Without any it is null.
const retriedFailures = `(select jsonb_agg(f || '{"retried": true}' order by n)
	from jsonb_array_elements(failures) with ordinality as of(f, n))`

// failuresToCount is the number of failures since the last retry, as SQL.
const failuresToCount = `jsonb_array_length(jsonb_path_query_array(coalesce(failures, '[]'), '$[*] ? (!(@.retried == true))'))`

// addFailure is the failures of a task with that of its running attempt, as SQL; text is
// the expression of its error. "- 1" leaves the second one out.
func addFailure(text string, lost bool) string {
	return `case when jsonb_array_length(coalesce(t.failures, '[]')) >= ` + strconv.Itoa(keptFailures) + `
		then t.failures - 1 else coalesce(t.failures, '[]') end
		|| jsonb_build_array(jsonb_build_object('attempt', t.attempt, 'started_at', t.started_at, 'ended_at', now(),
			'worker', t.worker, 'error', left((` + text + `)::text, ` + strconv.Itoa(failureText) + `), 'lost', ` + strconv.FormatBool(lost) + `))`
}
