package upload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/commitstatus"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/announcement"
	"github.com/slipway-qa/slipway/storage/gate"
	"github.com/slipway-qa/slipway/storage/idempotency"
	"github.com/slipway-qa/slipway/storage/ledger"
	quotas "github.com/slipway-qa/slipway/storage/quota"
	"github.com/slipway-qa/slipway/storage/resumable"
	"github.com/slipway-qa/slipway/storage/setting"
	"github.com/slipway-qa/slipway/storage/symbolfile"
	"github.com/slipway-qa/slipway/storage/webhook"
	"github.com/slipway-qa/slipway/tasks"
)

// outcome is the result of an upload.
type outcome struct {
	project       *distribution.Project
	build         *distribution.Build
	invalidGroups []string
	tasks         []string // ids: the mail to testers first, then the copy
	// symbols are what the file was, instead of a build; the other members are zero then.
	symbols  *symbolfile.Upload
	warnings []string // of this response, beside the build's own
	held     bool     // the mail to testers waits for the gate
	notified bool     // it is queued
}

// createBuild receives the form, inspects its files and stores the build.
func (u *upload) createBuild() (*outcome, error) {
	err := u.receive()
	if errors.Is(err, errRepeated) {
		return u.earlierOutcome()
	}
	if err != nil {
		return nil, err
	}
	if u.file.used() {
		return u.usedForSymbols()
	}
	pkg, err := u.inspect()
	if errors.Is(err, errNativeSymbols) {
		return u.storeNativeSymbols()
	}
	if err != nil {
		return nil, err
	}
	n := u.params.upload
	n.Writer, n.IdempotencyKey = u.caller.Writer(auth.Actor(u.c)), u.idempotencyKey
	n.Client = clientOf(u.c.Request.UserAgent())
	n.Package, n.FileName = pkg, cmp.Or(u.file.name, "build."+string(pkg.Kind))
	n.File = u.file.NewFile
	n.File.ContentType = cmp.Or(contentTypes[pkg.Kind], n.File.ContentType)
	if n.Symbols, err = u.inspectSymbols(pkg); err != nil {
		return nil, err
	}
	if n.Icon, err = u.storeIcon(pkg, n.AppName); err != nil {
		return nil, err
	}
	return u.store(n)
}

// store inserts the build and its tasks in one transaction.
func (u *upload) store(n distribution.Upload) (*outcome, error) {
	ctx, cfg := u.ctx(), u.cfg
	sync, err := u.canSync(ctx)
	if err != nil {
		return nil, err
	}
	var made *distribution.Uploaded
	var list []*ledger.NewTask
	var begun gate.Begun
	err = cfg.DB.InTx(ctx, func(tx *storage.Tx) error {
		var err error
		if err := cfg.Quotas.Lock(ctx, tx, n.Writer.OrganizationID); err != nil {
			return err
		}
		if err := u.useNamed(tx, u.named(&n)...); err != nil {
			return err
		}
		if made, err = distribution.CreateBuild(ctx, tx, n); err != nil {
			return err
		}
		if err := u.setResult(tx, resumable.Result{BuildID: made.Build.ID}, u.named(&n)...); err != nil {
			return err
		}
		if err := u.indexSymbols(ctx, tx, made.Build, n.Symbols); err != nil {
			return err
		}
		if err := cfg.Quotas.Check(ctx, tx, n.Writer.OrganizationID, 0, quotas.Builds, quotas.StoredBytes); err != nil {
			return err
		}
		if err := webhook.Emit(ctx, tx, u.event(made)); err != nil {
			return err
		}
		list = u.newTasks(made.Build, sync)
		further := u.verification(made.Build)
		if made.Policy {
			if begun, err = u.beginGate(ctx, tx, n.Writer, made.Build, &list); err != nil {
				return err
			}
			if begun.RunSuites {
				further = append(further, tasks.NewGateStart(made.Build.OrganizationID, respond.RequestID(ctx), made.Build.ID))
			}
		}
		if err := cfg.Queue.Insert(ctx, tx, append(further, list...)...); err != nil {
			return err
		}
		for _, task := range list {
			if task.Kind != tasks.BuildNotify.Name {
				continue
			}
			if err := announcement.AuditNotified(ctx, tx, n.Writer.Actor, made.Build, task); err != nil {
				return err
			}
		}
		return nil
	})
	var unknown *storage.UnknownOutcomeError
	if errors.As(err, &unknown) {
		err = u.confirmCommit(made.Build, err)
	}
	if errors.Is(err, resumable.ErrNotComplete) {
		if err := u.usedMeanwhile(); !errors.Is(err, errRepeated) {
			return nil, err
		}
		return u.earlierOutcome()
	}
	if errors.Is(err, idempotency.ErrSeen) {
		// The same upload came twice at once: the other one was quicker.
		if err := u.findEarlier(); !errors.Is(err, errRepeated) {
			return nil, errors.Join(&respond.Problem{Status: 409, Text: "an upload with this Idempotency-Key is under way"}, err)
		}
		return u.earlierOutcome()
	}
	if err != nil {
		return nil, err
	}
	u.keep = true
	if begun.Held {
		u.warn(warnHeld)
	}
	out := &outcome{project: made.Project, build: made.Build, invalidGroups: made.InvalidGroups, warnings: u.warnings, held: begun.Held}
	for _, t := range list {
		out.tasks, out.notified = append(out.tasks, t.ID.String()), out.notified || t.Kind == tasks.BuildNotify.Name
	}
	return out, nil
}

// warnHeld says why nobody hears of the build.
const warnHeld = "the mail to testers waits until the gate of this build is pass"

// beginGate asks the policy of the app about a build. A notification that it holds is taken out
// of the tasks; the commit's status is that nothing is decided.
func (u *upload) beginGate(ctx context.Context, tx *storage.Tx, w account.Writer, b *distribution.Build,
	list *[]*ledger.NewTask) (gate.Begun, error) {
	isNotification := func(t *ledger.NewTask) bool { return t.Kind == tasks.BuildNotify.Name }
	begun, err := gate.Begin(ctx, tx, w, b, slices.ContainsFunc(*list, isNotification), respond.RequestID(ctx))
	if err != nil || !begun.Gated {
		return begun, err
	}
	if begun.Held {
		*list = slices.DeleteFunc(*list, isNotification)
	}
	return begun, commitstatus.Set(ctx, tx, commitstatus.Change{OrganizationID: b.OrganizationID, ProjectID: b.ProjectID, BuildID: b.ID,
		State: commitstatus.Pending, Text: "The gate has not decided yet", RequestID: respond.RequestID(ctx)})
}

// canSync reports whether a copy was requested and is possible. A build is worth
// more than its copy, so that a missing connection is a warning.
func (u *upload) canSync(ctx context.Context) (bool, error) {
	if !u.params.sync {
		return false, nil
	}
	_, err := setting.ConnectionOf(ctx, u.cfg.DB, u.caller.OrganizationID)
	if errors.Is(err, storage.ErrNotFound) {
		u.warn("sync was ignored: the organization has no connection to an app storage (/api/v3/settings/storage)")
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, nil
}

// verification returns the task that verifies the build's signature. The mail to
// testers waits for it.
func (u *upload) verification(b *distribution.Build) []*ledger.NewTask {
	if b.Verification != artifact.Pending {
		return nil
	}
	return []*ledger.NewTask{tasks.NewBuildVerify(b.OrganizationID, respond.RequestID(u.ctx()), b.ID)}
}

// newTasks returns the tasks that were requested: the mail to testers first, then
// the copy.
func (u *upload) newTasks(b *distribution.Build, sync bool) []*ledger.NewTask {
	requestID := respond.RequestID(u.ctx())
	var list []*ledger.NewTask
	if u.params.notify {
		reason := b.Distributable()
		if !b.Installable() {
			reason = "a file of this kind cannot be installed"
		}
		if reason == "" {
			list = append(list, tasks.NewBuildNotify(b.OrganizationID, requestID, b.ID))
		} else {
			u.warn("notify was ignored: " + reason)
		}
	}
	if sync {
		list = append(list, tasks.NewBuildSync(b.OrganizationID, requestID, b.ID))
	}
	return list
}

// confirmTime bounds the look-up of a build whose commit broke.
const confirmTime = 15 * time.Second

// confirmCommit finds out what became of a commit whose connection broke. As long
// as that is open, the objects stay: the sweep deletes those that no build names.
func (u *upload) confirmCommit(b *distribution.Build, cause error) error {
	u.keep = true
	ctx, cancel := context.WithTimeout(context.WithoutCancel(u.ctx()), confirmTime)
	defer cancel()
	_, err := distribution.BuildByID(ctx, u.cfg.DB, b.OrganizationID, 0, b.ID)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return cause // what is not found is the build, not something of the request
	case err != nil:
		return fmt.Errorf("%w (%v)", cause, err) //nolint:errorlint // the second is only said
	}
	return nil
}

// earlierOutcome is that of the first upload with this idempotency key. A notification of it is
// shown while it waits.
func (u *upload) earlierOutcome() (*outcome, error) {
	project, err := distribution.ProjectByID(u.ctx(), u.cfg.DB, u.caller.OrganizationID, u.earlier.ProjectID)
	if err != nil {
		return nil, err
	}
	waiting, err := gate.WaitingOf(u.ctx(), u.cfg.DB, u.caller.OrganizationID, u.earlier.ID, tasks.BuildNotify.Name)
	if err != nil {
		return nil, err
	}
	u.discardRepeated()
	out := &outcome{project: project, build: u.earlier, held: waiting.Held, notified: waiting.Task != nil}
	if waiting.Held {
		u.warn(warnHeld)
	}
	if out.warnings = u.warnings; out.notified {
		out.tasks = []string{waiting.Task.String()}
	}
	return out, nil
}
