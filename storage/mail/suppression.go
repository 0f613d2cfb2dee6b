package mail

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// Suppression is an address to which an organization's mail cannot be delivered.
type Suppression struct {
	ID     int64  `db:"id"`
	Email  string `db:"email"`
	Source string `db:"source"` // smtp: refused when it was sent; notification: it came back
	Status string `db:"status"` // of RFC 3463, such as 5.1.1; "" if unknown
	Detail string `db:"detail"` // the mail server's words
	// MailID is the mail that showed it.
	MailID    *uuid.UUID `db:"mail_id"`
	CreatedAt time.Time  `db:"created_at"`
}

// The sources of suppressions.
const (
	BySMTP         = "smtp"
	ByNotification = "notification"
)

const suppress = `
insert into mail_suppressions (organization_id, email, source, status, detail, mail_id)
select n.organization_id, lower(n.email), n.source, n.status, n.detail, n.mail_id
from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::uuid[])
	as n(organization_id, email, source, status, detail, mail_id)
order by n.organization_id, lower(n.email)
on conflict (organization_id, email) do nothing
returning mail_id`

// Refusal says that the recipient of a mail can get none.
type Refusal struct {
	Mail           *Mail
	Source         string // BySMTP, ByNotification
	Status, Detail string
}

// Suppress marks the recipients of mails: their organizations send no more mail there.
// Marking twice keeps the first mark. Mail of the installation marks nobody.
func Suppress(ctx context.Context, q storage.Querier, actor account.Actor, refusals ...Refusal) error {
	var organizations []int64
	var emails, sources, statuses, details, ids []string
	for _, r := range refusals {
		if r.Mail.OrganizationID != nil {
			organizations, emails = append(organizations, *r.Mail.OrganizationID), append(emails, r.Mail.Recipient)
			sources, statuses = append(sources, r.Source), append(statuses, r.Status)
			details, ids = append(details, clip(r.Detail)), append(ids, r.Mail.ID.String())
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var marked []uuid.UUID
	err := q.SelectContext(ctx, &marked, suppress, pq.Array(organizations), pq.Array(emails), pq.Array(sources),
		pq.Array(statuses), pq.Array(details), pq.Array(ids))
	if err != nil {
		return storage.Wrap(err, "suppress addresses")
	}
	var events []account.Event
	for _, r := range refusals {
		if slices.Contains(marked, r.Mail.ID) {
			events = append(events, account.Event{OrganizationID: *r.Mail.OrganizationID, Type: account.MailSuppressionAdded, Actor: actor,
				Subject: r.Mail.Recipient, Detail: map[string]any{"email": r.Mail.Recipient, "source": r.Source,
					"status": r.Status, "mail_id": r.Mail.ID}})
		}
	}
	return account.Audit(ctx, q, events...)
}

// Reasons why a person gets no mail.
const (
	ReasonBounced      = "bounced"
	ReasonUnsubscribed = "unsubscribed"
)

// Person is somebody to write to: UserID 0 for an address alone.
type Person struct {
	UserID int64  `db:"user_id"`
	Email  string `db:"email"`
}

// silentPeople looks each recipient up by index: mail_suppressions_email and the primary key
// of mail_unsubscribes.
const silentPeople = `
select n.i, case when s.id is not null then 'bounced' else 'unsubscribed' end as reason
from unnest($2::bigint[], $3::text[]) with ordinality as n (user_id, email, i)
left join mail_suppressions s on s.organization_id = $1 and s.email = lower(n.email)
left join mail_unsubscribes u on u.organization_id = $1 and u.user_id = n.user_id and $4
where s.id is not null or u.user_id is not null`

// Silent returns why some of the people get no mail from an organization, by their
// place in the list. Transactional mail goes to those who unsubscribed as well.
func Silent(ctx context.Context, q storage.Querier, organizationID int64, people []Person, transactional bool) (map[int]string, error) {
	silent := map[int]string{}
	if len(people) == 0 || organizationID == 0 {
		return silent, nil
	}
	ids, emails := make([]int64, len(people)), make([]string, len(people))
	for i, p := range people {
		ids[i], emails[i] = p.UserID, p.Email
	}
	var rows []struct {
		Place  int    `db:"i"`
		Reason string `db:"reason"`
	}
	if err := q.SelectContext(ctx, &rows, silentPeople, organizationID, pq.Array(ids), pq.Array(emails), !transactional); err != nil {
		return nil, storage.Wrap(err, "people who get no mail")
	}
	for _, row := range rows {
		silent[row.Place-1] = row.Reason
	}
	return silent, nil
}

// Suppressions lists the marked addresses of an organization, newest first: those
// that contain search in any case ("" for all). It also returns their number.
func Suppressions(ctx context.Context, q storage.Querier, organizationID int64, search string, p storage.Page) ([]Suppression, int, error) {
	const where = ` from mail_suppressions where organization_id = $1 and ($2 = '' or position(lower($2) in email) > 0)`
	var total int
	if err := q.GetContext(ctx, &total, `select count(*)`+where, organizationID, search); err != nil {
		return nil, 0, storage.Wrap(err, "count suppressions")
	}
	list := []Suppression{}
	err := q.SelectContext(ctx, &list, `select id, email, source, status, detail, mail_id, created_at`+where+`
		order by id desc limit $3 offset $4`, organizationID, search, p.RowLimit(), p.RowOffset())
	return list, total, storage.Wrap(err, "list suppressions")
}

// RemoveSuppression lets an organization write to an address again; ErrNotFound.
func RemoveSuppression(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID, id int64) error {
	var email string
	err := tx.GetContext(ctx, &email, `delete from mail_suppressions where organization_id = $1 and id = $2 returning email`,
		organizationID, id)
	if err != nil {
		return storage.Wrap(err, fmt.Sprintf("suppression %d", id))
	}
	return account.Audit(ctx, tx, account.Event{OrganizationID: organizationID, Type: account.MailSuppressionRemoved, Actor: actor,
		Subject: email, Detail: map[string]any{"id": id, "email": email}})
}

// IsAddressRefused reports whether a status of RFC 3463 says that the address itself
// can get no mail: it does not exist (5.1.1, 5.1.2, 5.1.3, 5.1.6, 5.1.10), or is
// disabled (5.2.1). A full mailbox (5.2.2), a policy (5.7.1) and what concerns the
// message or our side say nothing about the person.
func IsAddressRefused(status string) bool {
	switch strings.TrimSpace(status) {
	case "5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1":
		return true
	}
	return false
}

// senderWords are in replies about who sends, such as Exim's "550 relay not permitted":
// taken for one about the address, it would mark everybody that is written to.
var senderWords = regexp.MustCompile(`(?i)relay|permit|denied|authent|polic|spam|junk|block|black ?list|reputation|\b(dns|rbl|spf|dkim|dmarc|ptr|helo)|sender|your (ip|host|server)|rate|too many|quota|full|over limit`)

// IsAboutSender reports whether the text of a refusal whose status says nothing is about
// the sender, a policy or a limit.
func IsAboutSender(text string) bool { return senderWords.MatchString(text) }
