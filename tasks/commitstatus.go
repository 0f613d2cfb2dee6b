package tasks

import (
	"errors"
	"time"

	"github.com/slipway-qa/slipway/storage/commitstatus"
)

// CommitStatus sends the status of a build's commit to GitHub, GitLab or Gitea; package
// storage/commitstatus inserts it. One task of a commit and an app runs at a time, so that statuses
// arrive in the order in which they were set. The attempts are more than those that fit into the day
// for which a status is tried: the handler ends it then. A cancelled failure would leave an older
// success on the commit, so that takes an admin.
var CommitStatus = Kind{
	Name: commitstatus.TaskKind, Queue: commitstatus.Queue, Timeout: time.Minute,
	MaxAttempts: commitstatus.TaskAttempts, Backoff: 5 * time.Second, MaxBackoff: time.Hour, KeyLimit: 1,
	KeepSucceeded: 24 * time.Hour, Cancel: GrantAdmin,
}

// CommitStatusPayload names a change of a build's status.
type CommitStatusPayload struct {
	BuildID  int64 `json:"build_id"`
	Sequence int64 `json:"sequence"`
}

// Validate refuses a payload without a build or a change.
func (p CommitStatusPayload) Validate() error {
	if p.BuildID <= 0 || p.Sequence <= 0 {
		return errors.New("build_id or sequence are missing")
	}
	return nil
}
