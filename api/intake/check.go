package intake

import (
	"crypto/sha256"
	"time"

	"github.com/slipway-qa/slipway/storage/report"
)

// check checks the report. Of one that is cut off, what can be read is kept.
func (in *intake) check() error {
	head, err := report.Check(in.doc.b, in.r.cfg.Report)
	if err != nil {
		// Its digest is of the bytes that came: a report without a time gets that of now.
		digest := sha256.Sum256(in.doc.b)
		mended, mendedHead, ok := report.Mend(in.doc.b, in.r.cfg.Report, in.r.cfg.Now())
		if !ok {
			return refusal(err)
		}
		in.doc.b, head, in.digest = mended, mendedHead, &digest
		in.r.cfg.Log.WarnContext(in.c.Request.Context(), "crash report is cut off, what can be read is kept",
			"crash_project_id", in.token.ProjectID, "bytes", len(mended))
	}
	in.head, in.checked = head, true
	return nil
}

// sentAt is when the client sent the report, by its clock: the address says it, the envelope
// or the report. Zero: none of them.
func (in *intake) sentAt() time.Time {
	seconds := report.Instant(in.ask.sentAt)
	if seconds == 0 {
		seconds = in.head.SentAt
	}
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}
