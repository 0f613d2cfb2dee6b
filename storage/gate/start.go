package gate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/quota"
	"github.com/slipway-qa/slipway/storage/run"
)

// StartedSuite is a suite run that a build has started.
type StartedSuite struct {
	RunID uuid.UUID
	Suite uuid.UUID
}

const uploaderOf = `
select coalesce(u.id, 0) as id, coalesce(u.uuid, '00000000-0000-0000-0000-000000000000') as uuid, b.uploaded_by_name as name
from builds b left join users u on u.id = b.uploaded_by where b.id = $1`

// StartSuites starts the suites that the policy of a build's app has run on each new build, in the
// name of who uploaded it. The caller inserts the task of each run in the same transaction. A
// suite that cannot run is left out: its gate says why. Runs count against the quota of the day.
func StartSuites(ctx context.Context, tx *storage.Tx, quotas *quota.Quotas, organizationID, buildID int64, vendor,
	requestID string) ([]StartedSuite, error) {
	b, err := distribution.BuildByID(ctx, tx, organizationID, 0, buildID)
	if isNotFound(err) {
		return nil, nil // it was deleted meanwhile
	}
	if err != nil {
		return nil, err
	}
	p, err := PolicyOf(ctx, tx, organizationID, b.ProjectID)
	if isNotFound(err) || err == nil && !p.Covers(b.Channel()) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var uploader struct {
		ID   int64     `db:"id"`
		UUID uuid.UUID `db:"uuid"`
		Name string    `db:"name"`
	}
	if err := tx.GetContext(ctx, &uploader, uploaderOf, buildID); err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("who uploaded build %d", buildID))
	}
	// The policy was set by somebody who may run its suites.
	w := account.Writer{OrganizationID: organizationID, UserUUID: uploader.UUID, AllTeams: true,
		Actor: account.Actor{UserID: uploader.ID, Name: cmp.Or(uploader.Name, "gate"), RequestID: requestID}}
	return startAll(ctx, tx, quotas, w, b, &p.Policy, vendor)
}

func startAll(ctx context.Context, tx *storage.Tx, quotas *quota.Quotas, w account.Writer, b *distribution.Build,
	p *Policy, vendor string) ([]StartedSuite, error) {
	day, err := quotas.Begin(ctx, tx, quota.RunsPerDay, w.OrganizationID)
	if err != nil {
		return nil, err
	}
	var started []StartedSuite
	refused := map[string]string{}
	for _, s := range p.RunSuites {
		address, err := p.address(s, b)
		if err != nil {
			refused[s.SuiteID.String()] = "its url " + err.Error()
			continue
		}
		var made *run.SuiteRun
		// What a suite that is refused has written is undone.
		err = tx.Savepoint(ctx, func() error {
			n := run.NewSuiteRun{SuiteID: s.SuiteID, BuildName: nameOf(b), Vendor: vendor, OwnEnvironment: true, RequestID: w.Actor.RequestID,
				Inputs: run.Inputs{TestURL: address, BuildID: &b.ID}}
			if made, err = run.StartSuite(ctx, tx, w, n); err != nil {
				return err
			}
			return day.Take(w.OrganizationID, int64(made.RunCount))
		})
		if reason, known := refusal(err); known {
			refused[s.SuiteID.String()] = reason
			continue
		}
		if err != nil {
			return nil, err
		}
		started = append(started, StartedSuite{made.ID, s.SuiteID})
	}
	if err := day.Store(ctx, tx); err != nil {
		return nil, err
	}
	return started, noteRefused(ctx, tx, b.ID, refused)
}

// refusal is why a suite cannot run, in words for people; false for failures that pass.
func refusal(err error) (string, bool) {
	var invalid *storage.InvalidError
	var exceeded *quota.ExceededError
	switch {
	case errors.As(err, &invalid):
		return invalid.Error(), true
	case errors.As(err, &exceeded):
		return exceeded.Error() + ", then the suite can be started on the build", true
	case errors.Is(err, storage.ErrNotFound):
		return "the suite was deleted", true
	case errors.Is(err, authoring.ErrNoJobs):
		return "the suite has no case that can run", true
	case errors.Is(err, run.ErrNoBuild):
		return "the build was deleted", true
	}
	return "", false
}

// notStarted is why suites did not start whose task failed for good.
const notStarted = "the task gate:start of the build failed; retry it, or start the suite on the build"

// NoteStartFailed notes, when the task that starts suites ends without success, that none of the
// suites of the policy was started.
func NoteStartFailed(ctx context.Context, tx *storage.Tx, organizationID, buildID int64) error {
	b, err := distribution.BuildByID(ctx, tx, organizationID, 0, buildID)
	if isNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	p, err := PolicyOf(ctx, tx, organizationID, b.ProjectID)
	if isNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	refused := map[string]string{}
	for _, s := range p.RunSuites {
		refused[s.SuiteID.String()] = notStarted
	}
	return noteRefused(ctx, tx, buildID, refused)
}

func noteRefused(ctx context.Context, tx *storage.Tx, build int64, refused map[string]string) error {
	doc, err := json.Marshal(refused)
	if err != nil {
		return fmt.Errorf("suites that did not start: %w", err)
	}
	_, err = tx.ExecContext(ctx, `update gates set not_started = $2::jsonb where build_id = $1`, build, storage.WithoutNUL(string(doc)))
	if err != nil {
		return storage.Wrap(err, "note which suites did not start")
	}
	_, err = tx.ExecContext(ctx, insertDue, ids([]int64{build}), false)
	return storage.Wrap(err, "have a gate evaluated")
}

// nameOf is what runs call the build.
func nameOf(b *distribution.Build) string {
	return storage.Cut(strings.TrimSpace(b.AppName+" "+b.Version), authoring.MaxBuildName)
}

// address is where a suite runs for a build; "" where it says nothing.
func (p *Policy) address(s SuiteToRun, b *distribution.Build) (string, error) {
	if s.URL == "" {
		return "", nil
	}
	a, err := parseAddress(s.URL)
	if err != nil {
		return "", err
	}
	return a.fill(p.AllowedHosts, func(name string) (string, bool) { return valueOf(b, name) })
}

// valueOf is what a placeholder of an address stands for.
func valueOf(b *distribution.Build, name string) (string, bool) {
	switch name {
	case "version":
		return b.Version, true
	case "version_code":
		return b.VersionCode, true
	case "build_id":
		return strconv.FormatInt(b.ID, 10), true
	}
	key, isMetadata := strings.CutPrefix(name, "metadata.")
	value, there := b.Metadata[key]
	return value, isMetadata && there
}
