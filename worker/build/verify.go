package build

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/child"
	"github.com/slipway-qa/slipway/worker"
)

// Children run operations on files in child processes.
type Children interface {
	Run(ctx context.Context, call child.Call) error
}

// Verify is the handler of build:verify: it verifies the signature of a build's
// package, in a child process, and records the outcome. A tampered package makes the
// build invalid.
type Verify struct {
	DB       *storage.DB
	Objects  object.Store
	Children Children
	// Roots are certificates of Apple in PEM; "" leaves unchecked who signed profiles.
	Roots string
	Log   *slog.Logger
}

// VerifyResult is the task's result.
type VerifyResult struct {
	Verdict artifact.Verdict `json:"verification,omitempty"`
	Reason  string           `json:"reason,omitempty"`
}

const (
	// verifyBlock is how much of the file one request to the object store reads.
	verifyBlock = 4 << 20
	// verifyReads bounds what a child reads: the file for its digest, its entries, and
	// some of it again.
	verifyReads = 3
)

// Handle verifies the package.
func (v *Verify) Handle(ctx context.Context, claim *worker.Claim) error {
	task := claim.Tasks[0]
	payload, err := worker.Payload[tasks.BuildPayload](task)
	if err != nil {
		return err
	}
	b, err := distribution.BuildByID(ctx, v.DB, claim.OrganizationID(), 0, payload.BuildID)
	if errors.Is(err, storage.ErrNotFound) {
		return claim.Finish(ctx, VerifyResult{Reason: reasonDeleted}, nil)
	}
	if err != nil {
		return err
	}
	if !distribution.Verifiable(b.Kind) || b.Verification != artifact.Pending && b.Verification != "" {
		return claim.Finish(ctx, VerifyResult{Verdict: b.Verification}, nil)
	}
	found, err := v.verify(ctx, b)
	if err != nil && task.Attempt < tasks.BuildVerify.MaxAttempts {
		return err
	}
	if err != nil {
		// What cannot be read now must not keep everything waiting that waits for it.
		v.Log.ErrorContext(ctx, "signature of a build not verified", "build_id", b.ID, "error", err)
		found = &verdict{Verification: artifact.NewVerification(artifact.Unchecked, "the file could not be read")}
	}
	return claim.Finish(ctx, VerifyResult{Verdict: found.Verdict, Reason: found.Reason}, func(tx *storage.Tx) error {
		return distribution.RecordVerification(ctx, tx, b, signatures(b, found))
	})
}

func (v *Verify) verify(ctx context.Context, b *distribution.Build) (*verdict, error) {
	var found verdict
	err := v.Children.Run(ctx, child.Call{Operation: operation, Result: &found,
		Args: request{Kind: b.Kind, Roots: v.Roots, Now: time.Now()},
		File: object.NewReaderAt(ctx, v.Objects, b.File.Key, b.File.Size, verifyBlock), Size: b.File.Size,
		MaxRead: b.File.Size*verifyReads + 64<<20})
	var invalid *symbol.InvalidError
	switch {
	case child.Late(err):
		// Processor time is bounded apart: the store was slow, or the machine.
		return nil, fmt.Errorf("verify signature: %w", err)
	case errors.As(err, &invalid):
		// The reader was killed: for such a package the device decides.
		return &verdict{Verification: artifact.NewVerification(artifact.Failed, invalid.Reason)}, nil
	case errors.Is(err, object.ErrNotFound):
		return &verdict{Verification: artifact.NewVerification(artifact.Unchecked, "the file is not stored any more")}, nil
	case err != nil:
		return nil, fmt.Errorf("verify signature: %w", err)
	}
	return &found, nil
}

// signatures joins what the upload described with the verdict.
func signatures(b *distribution.Build, found *verdict) distribution.Signatures {
	s := distribution.Signatures{Verification: found.Verification}
	if b.Kind != artifact.APK {
		s.Provisioning = b.Provisioning.With(found.Verification)
		return s
	}
	described := b.Signer
	switch {
	case found.Signer != nil && (described == nil || described.SHA256 != found.Signer.SHA256):
		described = found.Signer // the upload described a signature that does not count
	case found.Verdict == artifact.Unsigned:
		described = nil // what the upload found is no signature
	}
	if s.Signer = described.With(found.Verification); s.Signer == nil {
		s.Signer = &artifact.Signer{Verification: found.Verification, Schemes: []string{}}
	}
	return s
}

const (
	// unverifiedAge is how long the task of an upload has before another is queued.
	unverifiedAge = 15 * time.Minute
	// unverifiedStep builds are queued each time, so that the many builds of an old
	// installation are verified within days and beside its other work.
	unverifiedStep = 100
)

// Unverified is a step of build:maintenance: it queues the verification of some
// builds that nobody verified, the newest first. These are builds from before
// signatures were verified, and those whose task is lost. One that still waits is
// not queued twice.
func Unverified(db *storage.DB) Step {
	return Step{Name: "builds_unverified", Run: func(ctx context.Context, limit int) (int64, error) {
		list, err := distribution.UnverifiedBuilds(ctx, db, time.Now().Add(-unverifiedAge), min(limit, unverifiedStep))
		if err != nil {
			return 0, err
		}
		made := make([]*ledger.NewTask, len(list))
		for i, b := range list {
			made[i] = tasks.NewBuildVerify(b.OrganizationID, "", b.ID)
		}
		return ledger.InsertAll(ctx, db, made)
	}}
}

// awaitVerification returns an error that puts a task off while the signature of its
// build is being verified: nobody is mailed about a tampered one.
func awaitVerification(b *distribution.Build) error {
	if b.Verification != artifact.Pending {
		return nil
	}
	if time.Since(b.CreatedAt) < time.Minute {
		return &tasks.SnoozeError{For: time.Second}
	}
	return &tasks.SnoozeError{For: 15 * time.Second}
}
