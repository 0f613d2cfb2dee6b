package mail

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/mail"
	"github.com/slipway-qa/slipway/storage/run/reading"
	"github.com/slipway-qa/slipway/tasks/letter"
	"github.com/slipway-qa/slipway/tasks/link"
	"github.com/slipway-qa/slipway/tasks/mailtemplate"
	"github.com/slipway-qa/slipway/worker"
)

// Digest is the handler of mail:digest: for each organization whose digest is due it
// writes one mail to each recipient, in the transaction that sets when the next one is
// due. A week without anything has no mail. An organization whose digest fails is put
// off, so that it keeps no other from theirs.
type Digest struct {
	DB      *storage.DB
	Letters *letter.Writer
	Links   link.Links
	Now     func() time.Time // nil: time.Now
	Log     *slog.Logger     // nil: slog.Default
}

// DigestResult is the task's result.
type DigestResult struct {
	Organizations int `json:"organizations"`
	Mails         int `json:"mails"`
	// Failed is the number of organizations whose digest was put off.
	Failed int `json:"failed,omitempty"`
}

const (
	// digestItems is how many groups and suites a digest names.
	digestItems = 10
	week        = 7 * 24 * time.Hour
	// digestsOfRound bounds the work of one task; the next one goes on.
	digestsOfRound = 500
	// digestPause is how long a digest that failed is put off.
	digestPause = time.Hour
)

// Handle writes the digests that are due.
func (d *Digest) Handle(ctx context.Context, claim *worker.Claim) error {
	now := time.Now
	if d.Now != nil {
		now = d.Now
	}
	var sum DigestResult
	for range digestsOfRound {
		due, mails, err := d.next(ctx, claim.Tasks[0].RequestID, now())
		if errors.Is(err, storage.ErrNotFound) && due == nil {
			break
		}
		if err == nil {
			sum.Organizations++
			sum.Mails += mails
			continue
		}
		if due == nil || ctx.Err() != nil {
			return err
		}
		if err := d.putOff(ctx, due, now(), err); err != nil {
			return err
		}
		sum.Failed++
	}
	return claim.Finish(ctx, sum, nil)
}

// next writes the digest of the organization that is due the longest; the error is
// storage.ErrNotFound without an organization when none is due.
func (d *Digest) next(ctx context.Context, request string, now time.Time) (due *mail.DueDigest, mails int, err error) {
	err = d.DB.InTx(ctx, func(tx *storage.Tx) (err error) {
		if due, err = mail.ClaimDigest(ctx, tx, now); err != nil {
			return err
		}
		// After a longer stop there is one digest, of the last week. One that was put off
		// is of the week that it was due for.
		to := mail.NextDigest(due.Settings, now).Add(-week)
		if mails, err = d.write(ctx, tx, due, request, to); err != nil {
			return err
		}
		return mail.NextDigestAt(ctx, tx, due.OrganizationID, mail.NextDigest(due.Settings, now))
	})
	return due, mails, err
}

// putOff lets a digest that failed be tried again later.
func (d *Digest) putOff(ctx context.Context, due *mail.DueDigest, now time.Time, cause error) error {
	log := cmp.Or(d.Log, slog.Default())
	log.ErrorContext(ctx, "digest put off", "organization_id", due.OrganizationID, "error", cause)
	return d.DB.InTx(ctx, func(tx *storage.Tx) error {
		return mail.NextDigestAt(ctx, tx, due.OrganizationID, now.Add(digestPause))
	})
}

func (d *Digest) write(ctx context.Context, tx *storage.Tx, due *mail.DueDigest, request string, to time.Time) (int, error) {
	content, err := d.content(ctx, tx, due.OrganizationID, to.Add(-week), to)
	if err != nil || content.CrashGroups+content.Runs == 0 {
		return 0, err
	}
	people, err := recipients(ctx, tx, due)
	if err != nil {
		return 0, err
	}
	letters := make([]letter.Letter, len(people))
	for i, person := range people {
		letters[i] = letter.Letter{OrganizationID: due.OrganizationID, UserID: person.UserID, Recipient: person.Email, Content: content,
			DedupeKey: fmt.Sprintf("digest:%d:%d:%x", due.OrganizationID, to.Unix(),
				sha256.Sum256([]byte(strings.ToLower(person.Email)))), RequestID: request}
	}
	outcomes, err := d.Letters.WriteAll(ctx, tx, letters)
	mails := 0
	for _, outcome := range outcomes {
		if outcome.Reason == "" {
			mails++
		}
	}
	return mails, err
}

// recipients are those of the settings, else owners and admins.
func recipients(ctx context.Context, tx *storage.Tx, due *mail.DueDigest) ([]mail.Person, error) {
	if len(due.DigestRecipients) == 0 {
		return mail.Admins(ctx, tx, due.OrganizationID)
	}
	var people []mail.Person
	for _, email := range due.DigestRecipients {
		people = append(people, mail.Person{Email: email})
	}
	return people, nil
}

// content reads what happened in a week.
func (d *Digest) content(ctx context.Context, q storage.Querier, organizationID int64, from, to time.Time) (mailtemplate.Digest, error) {
	out := mailtemplate.Digest{From: from, To: to, Link: d.Links.Path("/")}
	total, groups, err := crash.NewGroups(ctx, q, organizationID, from, to, digestItems)
	if err != nil {
		return out, err
	}
	out.CrashGroups = total
	for _, g := range groups {
		out.CrashGroupList = append(out.CrashGroupList, mailtemplate.DigestItem{Title: g.Title,
			Detail: fmt.Sprintf("%s, %s", g.Project, count(g.Count, "crash", "crashes"))})
	}
	runs, suites, err := reading.FailedSuites(ctx, q, organizationID, from, to, digestItems)
	if err != nil {
		return out, err
	}
	out.Runs = runs
	for _, s := range suites {
		out.RunList = append(out.RunList, mailtemplate.DigestItem{Title: s.Suite,
			Detail: fmt.Sprintf("%s, last %s UTC", count(int64(s.Runs), "failed run", "failed runs"), s.LastAt.UTC().Format("2006-01-02 15:04"))})
	}
	return out, nil
}

func count(n int64, singular, plural string) string {
	if n == 1 {
		return "1 " + singular
	}
	return fmt.Sprintf("%d %s", n, plural)
}
