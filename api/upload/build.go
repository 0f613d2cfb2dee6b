package upload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks"
)

// outcome is what an upload came to.
type outcome struct {
	project       *distribution.Project
	build         *distribution.Build
	invalidGroups []string
	tasks         []string // ids: the mail to testers first, then the copy
	warnings      []string // of this answer, beside the build's own
}

// upload receives, inspects and stores a build.
func (in *reception) upload() (*outcome, error) {
	if err := in.receive(); errors.Is(err, errSeen) {
		return in.again()
	} else if err != nil {
		return nil, err
	}
	pkg, err := in.inspect()
	if err != nil {
		return nil, err
	}
	u := in.request.upload
	in.override(pkg)
	u.Writer, u.IdempotencyKey = in.caller.Writer(auth.Actor(in.c)), in.key
	u.Package, u.FileName = pkg, in.file.name
	if u.FileName == "" {
		u.FileName = "build." + string(pkg.Kind)
	}
	if u.File = in.file.NewFile; contentTypes[pkg.Kind] != "" {
		u.File.ContentType = contentTypes[pkg.Kind]
	}
	if u.Symbols, err = in.inspectSymbols(pkg); err != nil {
		return nil, err
	}
	if u.Icon, err = in.icon(pkg, u.AppName); err != nil {
		return nil, err
	}
	return in.store(u)
}

// contentTypes are what downloads of files say; octets for the others.
var contentTypes = map[artifact.Kind]string{
	artifact.APK: "application/vnd.android.package-archive",
	artifact.Mac: "application/zip", artifact.DSYM: "application/zip",
	artifact.Mapping: "text/plain; charset=utf-8",
}

func (in *reception) override(pkg *artifact.Package) {
	if in.request.version != "" {
		pkg.Version = in.request.version
	}
	if in.request.versionCode != "" {
		pkg.VersionCode = in.request.versionCode
	}
}

// inspectTime bounds one inspection; a real package takes some ten milliseconds.
const inspectTime = 30 * time.Second

func (in *reception) input(ctx context.Context, f *stored) artifact.Input {
	return artifact.Input{Reader: object.NewReaderAt(ctx, in.h.cfg.Objects, f.Key, f.Size, 0), Size: f.Size,
		Name: f.name, Vendor: in.h.cfg.Vendor}
}

// inspect finds out what the file is and whether the organization takes it.
func (in *reception) inspect() (*artifact.Package, error) {
	settings, err := distribution.SettingsOf(in.ctx(), in.h.cfg.DB, in.caller.OrganizationID)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(in.ctx(), inspectTime)
	defer cancel()
	file := in.input(ctx, in.file)
	pkg, err := in.h.cfg.Inspect(ctx, file, in.request.platform, true)
	switch {
	case err != nil:
		return nil, inspection(err)
	case pkg.Kind == artifact.DSYM || pkg.Kind == artifact.Mapping:
		return nil, &artifact.InvalidError{Reason: "this is a symbols file: send it as symbols_file, or to /upload/dsym/"}
	case pkg.Kind != artifact.Generic:
		return pkg, nil
	case in.request.platform == "" && claimsApp(in.file.name):
		_, err := in.h.cfg.Inspect(ctx, file, "", false) // says why it is none
		return nil, cmp.Or(inspection(err), problemKind("the file is no app"))
	case !settings.GenericFiles:
		return nil, problemKind("the file is no app, and the organization does not allow generic files")
	}
	return pkg, nil
}

// claimsApp tells a broken app, by the name it has, from a file that never was
// one.
func claimsApp(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case "", ".apk", ".aab", ".apks", ".xapk", ".apkm", ".ipa":
		return true
	}
	return false
}

// inspectSymbols reads the symbols file, best effort: nil when there is none that
// can be kept.
func (in *reception) inspectSymbols(pkg *artifact.Package) (*distribution.NewSymbols, error) {
	if in.symbols == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(in.ctx(), inspectTime)
	defer cancel()
	what, err := in.h.cfg.InspectSymbols(ctx, in.input(ctx, in.symbols))
	if err == nil {
		return newSymbols(in.symbols, what), nil
	}
	if err := in.ctx().Err(); err != nil {
		return nil, err
	}
	reason := "it cannot be read"
	var bad *artifact.InvalidError
	switch {
	case errors.As(err, &bad):
		reason = bad.Reason
	case errors.Is(err, context.DeadlineExceeded):
		reason = "the service is too busy to read it now; send it to /upload/dsym/ later"
		fallthrough
	default:
		in.h.cfg.Log.WarnContext(ctx, "symbols of an upload could not be inspected", "error", err)
	}
	pkg.Warnings = append(pkg.Warnings, "symbols_file was ignored: "+reason)
	in.dropped = append(in.dropped, in.symbols.Key)
	return nil, nil
}

func newSymbols(f *stored, what *artifact.Symbols) *distribution.NewSymbols {
	s := &distribution.NewSymbols{File: f.NewFile, Name: f.name, What: what}
	if s.Name == "" {
		s.Name = "symbols." + string(what.Kind)
	}
	if s.File.ContentType = contentTypes[what.Kind]; s.File.ContentType == "" {
		s.File.ContentType = f.ContentType
	}
	return s
}

// store makes the build and its tasks in one transaction.
func (in *reception) store(u distribution.Upload) (*outcome, error) {
	ctx, cfg := in.ctx(), &in.h.cfg
	sync, err := in.maySync(ctx)
	if err != nil {
		return nil, err
	}
	var made *distribution.Uploaded
	var jobs []*ledger.NewTask
	err = cfg.DB.InTx(ctx, func(tx *storage.Tx) error {
		var err error
		if made, err = distribution.CreateBuild(ctx, tx, auth.Actor(in.c), u); err != nil {
			return err
		}
		jobs = in.jobs(made.Build, sync)
		for _, t := range jobs {
			t.Delivered = cfg.Fast != nil && cfg.Fast.Reserve(t.Queue, t.OrganizationID)
			if _, err := ledger.Insert(ctx, tx, t); err != nil {
				return err
			}
		}
		return nil
	})
	var unknown *storage.UnknownOutcomeError
	if errors.As(err, &unknown) {
		err = in.settle(made.Build, err)
	}
	if errors.Is(err, distribution.ErrSeen) {
		// The same upload came twice at once: the other one was quicker.
		if err := in.lookForSeen(); !errors.Is(err, errSeen) {
			return nil, errors.Join(&respond.Problem{Status: 409, Text: "an upload with this Idempotency-Key is under way"}, err)
		}
		return in.again()
	}
	if err != nil {
		return nil, err
	}
	in.keep = true
	out := &outcome{project: made.Project, build: made.Build, invalidGroups: made.InvalidGroups, warnings: in.warnings}
	for _, t := range jobs {
		out.tasks = append(out.tasks, t.ID.String())
		if cfg.Fast != nil {
			cfg.Fast.Deliver(t)
		}
	}
	return out, nil
}

// maySync says whether a copy was asked for and can be made. A build is worth
// more than its copy, so that a missing connection is a warning.
func (in *reception) maySync(ctx context.Context) (bool, error) {
	if !in.request.sync {
		return false, nil
	}
	_, err := distribution.ConnectionOf(ctx, in.h.cfg.DB, in.caller.OrganizationID)
	if errors.Is(err, storage.ErrNotFound) {
		in.warn("sync was ignored: the organization has no connection to an app storage (/api/v3/settings/storage)")
		return false, nil
	}
	return err == nil, err
}

// jobs are the tasks that the request asks for.
func (in *reception) jobs(b *distribution.Build, sync bool) []*ledger.NewTask {
	var jobs []*ledger.NewTask
	requestID := respond.RequestID(in.ctx())
	if in.request.notify {
		reason := b.Distributable()
		if !b.Installable() {
			reason = "a file of this kind cannot be installed"
		}
		if reason == "" {
			jobs = append(jobs, tasks.NewBuildNotify(b.OrganizationID, requestID, b.ID))
		} else {
			in.warn("notify was ignored: " + reason)
		}
	}
	if sync {
		jobs = append(jobs, tasks.NewBuildSync(b.OrganizationID, requestID, b.ID))
	}
	return jobs
}

// settleTime is what looking for a build may take whose commit broke.
const settleTime = 15 * time.Second

// settle finds out what became of a commit whose connection broke. As long as
// that is open, the objects stay: the sweep deletes those that no build names.
func (in *reception) settle(b *distribution.Build, cause error) error {
	in.keep = true
	ctx, cancel := context.WithTimeout(context.WithoutCancel(in.ctx()), settleTime)
	defer cancel()
	_, err := distribution.BuildByID(ctx, in.h.cfg.DB, b.OrganizationID, 0, b.ID)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return cause // what is not found is the build, not something of the request
	case err != nil:
		return fmt.Errorf("%w (%v)", cause, err)
	}
	return nil
}

// again answers an upload as the first one with its key was answered.
func (in *reception) again() (*outcome, error) {
	project, err := distribution.ProjectByID(in.ctx(), in.h.cfg.DB, in.caller.OrganizationID, in.seen.ProjectID)
	if err != nil {
		return nil, err
	}
	in.drain(in.h.cfg.maxBody(), drainSeen)
	return &outcome{project: project, build: in.seen}, nil
}
