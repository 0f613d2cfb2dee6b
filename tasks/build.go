package tasks

import (
	"errors"
	"strconv"
	"time"

	"github.com/slipway-qa/slipway/storage/ledger"
)

// The kinds of builds.
var (
	// BuildNotify writes the new-build mail of each tester; some thousand rows at
	// most, each mail once for the task, so a retry is harmless.
	BuildNotify = Kind{
		Name: "build:notify", Queue: Default, Timeout: 5 * time.Minute,
		MaxAttempts: 10, Backoff: time.Second, MaxBackoff: 5 * time.Minute,
	}
	// BuildVerify verifies the signature of a build's package, which takes the whole
	// file: seconds mostly, some minutes for one of several GiB. Mail about the build
	// waits for it. The tasks of an organization share two places, so that its many
	// builds keep nobody waiting.
	BuildVerify = Kind{
		Name: "build:verify", Queue: Default, Timeout: 10 * time.Minute,
		MaxAttempts: 6, Backoff: 2 * time.Second, MaxBackoff: time.Minute, KeyLimit: 2,
		Cancel: GrantAdmin, // what is not verified is not mailed
	}
	// BuildSync copies a build's file to the organization's connection. It sends
	// up to some GiB to somebody else's service, at a least rate: one copy of an
	// organization at a time, in a queue of its own.
	BuildSync = Kind{
		Name: "build:sync", Queue: Sync, Timeout: time.Hour,
		MaxAttempts: 8, Backoff: 10 * time.Second, MaxBackoff: 30 * time.Minute, KeyLimit: 1,
	}
	// BuildDelete removes what belongs to a deleted build: crashes, files, row.
	BuildDelete = Kind{
		Name: "build:delete", Queue: Bulk, Timeout: 30 * time.Minute,
		MaxAttempts: 10, Backoff: 5 * time.Second, MaxBackoff: 10 * time.Minute,
		Retry: GrantAdmin, Cancel: GrantOperator, // a half-deleted build must not stay
	}
	// ProjectDelete does so for a project and all its builds.
	ProjectDelete = Kind{
		Name: "project:delete", Queue: Bulk, Timeout: 30 * time.Minute,
		MaxAttempts: 10, Backoff: 5 * time.Second, MaxBackoff: 10 * time.Minute,
		Retry: GrantAdmin, Cancel: GrantOperator,
	}
	// BuildMaintenance marks builds whose provisioning profile ended, and forgets
	// idempotency keys, sign-in links, sessions, tokens and mails beyond their age.
	BuildMaintenance = maintenance("build:maintenance", 10*time.Minute, 10*time.Minute)
)

// BuildPayload names a build.
type BuildPayload struct {
	BuildID int64 `json:"build_id"`
}

// Validate refuses a payload without a build.
func (p BuildPayload) Validate() error {
	if p.BuildID <= 0 {
		return errors.New("build_id is missing")
	}
	return nil
}

// BuildNotifyPayload names a build to tell testers about. All of a build's
// notifications are wanted: each request sends again.
type BuildNotifyPayload struct {
	BuildID int64 `json:"build_id"`
}

// Validate refuses a payload without a build.
func (p BuildNotifyPayload) Validate() error { return BuildPayload(p).Validate() }

// ProjectPayload names a project.
type ProjectPayload struct {
	ProjectID int64 `json:"project_id"`
}

// Validate refuses a payload without a project.
func (p ProjectPayload) Validate() error {
	if p.ProjectID <= 0 {
		return errors.New("project_id is missing")
	}
	return nil
}

// NewBuildNotify returns the task.
func NewBuildNotify(organization int64, requestID string, buildID int64) *ledger.NewTask {
	return BuildNotify.new(organization, requestID, BuildNotifyPayload{BuildID: buildID})
}

// NewBuildVerify returns the task; one of a build is open at a time.
func NewBuildVerify(organization int64, requestID string, buildID int64) *ledger.NewTask {
	t := BuildVerify.new(organization, requestID, BuildPayload{BuildID: buildID})
	t.ConcurrencyKey = "build:verify:" + organizationKey(organization)
	t.DedupeKey = "build:verify:" + strconv.FormatInt(buildID, 10)
	return t
}

// NewBuildSync returns the task.
func NewBuildSync(organization int64, requestID string, buildID int64) *ledger.NewTask {
	t := BuildSync.new(organization, requestID, BuildPayload{BuildID: buildID})
	t.ConcurrencyKey = "build:sync:" + organizationKey(organization)
	return t
}

// NewBuildDelete returns the task.
func NewBuildDelete(organization int64, requestID string, buildID int64) *ledger.NewTask {
	return BuildDelete.new(organization, requestID, BuildPayload{BuildID: buildID})
}

// NewProjectDelete returns the task.
func NewProjectDelete(organization int64, requestID string, projectID int64) *ledger.NewTask {
	return ProjectDelete.new(organization, requestID, ProjectPayload{ProjectID: projectID})
}
