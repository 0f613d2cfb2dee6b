package attempt

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/run"
)

type attemptRow struct {
	JobID      uuid.UUID  `db:"job_id"`
	Number     int        `db:"number"`
	Status     run.Status `db:"state"`
	ErrorCode  string     `db:"error_code"`
	Error      string     `db:"error"`
	Healed     int        `db:"healed"`
	Drifted    int        `db:"drifted"`
	StartedAt  time.Time  `db:"started_at"`
	FinishedAt time.Time  `db:"finished_at"`
	Records    []byte     `db:"records"` // null: too many to be read
}

func (r *attemptRow) attempt() (run.Attempt, error) {
	a := run.Attempt{Number: r.Number, Status: r.Status, ErrorCode: r.ErrorCode, Error: r.Error, Healed: r.Healed, Drifted: r.Drifted,
		StartedAt: r.StartedAt, FinishedAt: r.FinishedAt}
	if r.Records != nil {
		if err := json.Unmarshal(r.Records, &a.Records); err != nil {
			return a, fmt.Errorf("records of attempt %d of test job %s: %w", r.Number, r.JobID, err)
		}
	}
	return a, nil
}
