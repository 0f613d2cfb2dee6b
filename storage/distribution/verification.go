package distribution

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution/text"
)

// Verifiable reports whether a build of the kind has a signature that is verified.
func Verifiable(kind artifact.Kind) bool { return kind == artifact.APK || kind == artifact.IPA }

// verdictAt is what is known of the signature of a package that was just uploaded.
func verdictAt(pkg *artifact.Package) artifact.Verdict {
	if !Verifiable(pkg.Kind) {
		return artifact.Unchecked
	}
	return artifact.Pending
}

// Signatures are the outcome of verifying a build's package.
type Signatures struct {
	Signer       *artifact.Signer       // of an Android package
	Provisioning *artifact.Provisioning // of an Apple package; nil when it has none
	artifact.Verification
}

// lockFileBuilds locks all copies of a build: they name the same file, so that one
// verification is for all of them.
const lockFileBuilds = `
select id from builds where organization_id = $1 and file_id = $2 and deleted_at is null order by id for no key update`

const recordVerification = `
update builds set verification = $2, signer = coalesce($3, signer), provisioning = coalesce($4, provisioning),
	state = case when $5 then 'invalid' else state end, state_reason = case when $5 then $6 else state_reason end,
	updated_at = now()
where id = any($1)`

// compareSigner compares once more: the upload compared with another signer than the one that
// was verified. The index builds_project has the build before.
const compareSigner = `
update builds b set cautions = array_remove(b.cautions, $3::text) || case when coalesce(nullif((
	select o.signer ->> 'sha256' from builds o
	where o.project_id = b.project_id and o.deleted_at is null and o.id < b.id and o.state <> 'invalid'
	order by o.id desc limit 1), ''), $2) <> $2 then array[$3::text] else '{}'::text[] end
where b.id = any($1)`

// RecordVerification writes what was found out about the signature of a build, and
// of the copies that have its file. Those of a tampered package become invalid,
// whatever they were before.
func RecordVerification(ctx context.Context, tx *storage.Tx, b *Build, s Signatures) error {
	var ids pq.Int64Array
	if err := tx.SelectContext(ctx, &ids, lockFileBuilds, b.OrganizationID, b.File.ID); err != nil {
		return storage.Wrap(err, "lock builds of a file")
	}
	signer, err := storage.Document(s.Signer)
	if err != nil {
		return err
	}
	provisioning, err := storage.Document(s.Provisioning)
	if err != nil {
		return err
	}
	reason := ""
	if s.Tampered {
		reason = tamperedReason(s.Verification)
	}
	_, err = tx.ExecContext(ctx, recordVerification, ids, s.Verdict, signer, provisioning, s.Tampered, reason)
	if err != nil {
		return storage.Wrap(err, fmt.Sprintf("verification of build %d", b.ID))
	}
	if s.Verdict == artifact.Verified && s.Signer != nil && (b.Signer == nil || b.Signer.SHA256 != s.Signer.SHA256) {
		if _, err := tx.ExecContext(ctx, compareSigner, ids, s.Signer.SHA256, CautionSignerChanged); err != nil {
			return storage.Wrap(err, fmt.Sprintf("compare the signer of build %d", b.ID))
		}
	}
	if !s.Tampered {
		return nil
	}
	events := make([]account.Event, 0, len(ids))
	for _, id := range ids {
		events = append(events, account.Event{OrganizationID: b.OrganizationID, Type: account.BuildInvalid,
			Actor: account.Actor{Name: verifierName}, Subject: BuildSubject(id, b.AppName, b.Version),
			Detail: map[string]any{"id": id, "reason": reason,
				"failed_scheme": s.FailedScheme, "sha256": b.File.SHA256}})
	}
	return account.Audit(ctx, tx, events...)
}

// Signature is what is known of the signature of the build's package.
func (b *Build) Signature() artifact.Verification {
	switch {
	case b.Signer != nil:
		return b.Signer.Verification
	case b.Provisioning != nil:
		return b.Provisioning.Verification
	}
	return artifact.NewVerification(cmp.Or(b.Verification, artifact.Unchecked), "")
}

// tamperedText is "" for a package that was not tampered with.
func tamperedText(v artifact.Verification) string {
	if !v.Tampered {
		return ""
	}
	return tamperedReason(v)
}

// verifierName is the actor of the audit log that verifies packages.
const verifierName = "signature verification"

func tamperedReason(v artifact.Verification) string {
	reason := "the package was changed after it was signed"
	if v.FailedScheme != "" {
		reason += " (scheme " + v.FailedScheme + ")"
	}
	if v.Reason != "" {
		reason += ": " + v.Reason
	}
	return text.Scrub(reason, maxWarning)
}

const unverifiedBuilds = `
select b.id, b.organization_id from builds b
where b.verification in ('', 'pending') and b.kind in ('apk', 'ipa') and b.deleted_at is null and b.created_at < $1
order by b.id desc limit $2`

// UnverifiedBuild names a build whose signature nobody verified yet.
type UnverifiedBuild struct {
	ID             int64 `db:"id"`
	OrganizationID int64 `db:"organization_id"`
}

// UnverifiedBuilds returns the newest builds from before a time whose signature
// nobody verified: those from before signatures were verified, and those whose task
// is lost.
func UnverifiedBuilds(ctx context.Context, q storage.Querier, before time.Time, limit int) ([]UnverifiedBuild, error) {
	var list []UnverifiedBuild
	err := q.SelectContext(ctx, &list, unverifiedBuilds, before, limit)
	return list, storage.Wrap(err, "look for builds that are not verified")
}
