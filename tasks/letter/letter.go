// Package letter writes mail to people: it applies the organization's template,
// leaves out those who must not get it, and inserts the mail with its task.
//
// A person who unsubscribed gets transactional mail only; an address that is marked
// as unreachable gets none. A dedupe key lets a caller that may run twice write one
// mail for each person and event. All of it happens in the caller's transaction: a
// mail is written with what it is about or not at all, and never without the task
// that sends it.
//
// Mail that is for choosing has a link that ends it, in the text and in its
// headers. The link names the organization and the person under an HMAC by the
// installation's secret; it works for as long as the membership stands.
//
// A recipient that is no mail address is left out like one that is marked, so that
// one broken address does not keep thousands from theirs. Errors are those of the
// database.
package letter

import (
	"context"
	"errors"
	"sync"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/mail"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
	"github.com/slipway-qa/slipway/tasks/link"
	"github.com/slipway-qa/slipway/tasks/mailtemplate"
)

// Config is what a Writer needs.
type Config struct {
	Links link.Links
	// Queue inserts the tasks; nil leaves their delivery to the relay.
	Queue *dispatch.Enqueuer
}

// Writer writes mail. It is safe for concurrent use.
type Writer struct {
	cfg Config

	mu     sync.Mutex
	secret []byte // of the installation, once it was read
}

// New returns a Writer.
func New(cfg Config) *Writer { return &Writer{cfg: cfg} }

// Letter is a mail to one person.
type Letter struct {
	OrganizationID int64
	UserID         int64 // 0: an address without a person, who then cannot unsubscribe
	Recipient      string
	Content        mailtemplate.Content
	// DedupeKey, when set, is unique: a second mail with it is not written.
	DedupeKey string
	// Urgent mail is not put behind the thousands of a notification.
	Urgent    bool
	RequestID string
}

// Reasons why no mail was written.
const (
	Duplicate    = "duplicate"
	Unsubscribed = mail.ReasonUnsubscribed
	Bounced      = mail.ReasonBounced
	Invalid      = "invalid" // the recipient is no mail address
)

// Outcome is what became of a letter: the id of its mail, or why there is none.
type Outcome struct {
	ID     uuid.UUID
	Reason string
}

// Write writes one letter. The id is zero when nothing was written: the person
// unsubscribed, the address is marked, or the letter was written before.
func (w *Writer) Write(ctx context.Context, tx *storage.Tx, l Letter) (uuid.UUID, error) {
	outcomes, err := w.WriteAll(ctx, tx, []Letter{l})
	if err != nil {
		return uuid.Nil, err
	}
	return outcomes[0].ID, nil
}

// WriteAll writes letters of one kind and organization in a few statements, and
// returns an outcome for each.
func (w *Writer) WriteAll(ctx context.Context, tx *storage.Tx, letters []Letter) ([]Outcome, error) {
	outcomes := make([]Outcome, len(letters))
	if len(letters) == 0 {
		return outcomes, nil
	}
	first := &letters[0]
	kind, err := mailtemplate.KindOf(first.Content.Kind())
	if err != nil {
		return nil, err
	}
	for i := range letters {
		if letters[i].OrganizationID != first.OrganizationID || letters[i].Content.Kind() != kind.Name {
			return nil, errors.New("letters of several kinds or organizations")
		}
	}
	b, err := w.begin(ctx, tx, first.OrganizationID, kind)
	if err != nil {
		return nil, err
	}
	silent, err := mail.Silent(ctx, tx, first.OrganizationID, people(letters), kind.Transactional)
	if err != nil {
		return nil, err
	}
	var list []mail.New
	var places []int
	for i := range letters {
		if outcomes[i].Reason = silent[i]; outcomes[i].Reason != "" {
			continue
		}
		n, err := b.mail(&letters[i])
		var invalid *storage.InvalidError
		switch {
		case errors.As(err, &invalid) && invalid.Field == "recipient":
			outcomes[i].Reason = Invalid
			continue
		case err != nil:
			return nil, err
		}
		list, places = append(list, n), append(places, i)
	}
	ids, err := mail.InsertAll(ctx, tx, list)
	if err != nil {
		return nil, err
	}
	var send []*ledger.NewTask
	for j, id := range ids {
		i := places[j]
		if outcomes[i].ID = id; id == uuid.Nil {
			outcomes[i].Reason = Duplicate
			continue
		}
		send = append(send, sendTask(&letters[i], id))
	}
	if len(send) == 0 {
		return outcomes, nil
	}
	return outcomes, w.cfg.Queue.Insert(ctx, tx, send...)
}

func people(letters []Letter) []mail.Person {
	list := make([]mail.Person, len(letters))
	for i, l := range letters {
		list[i] = mail.Person{UserID: l.UserID, Email: l.Recipient}
	}
	return list
}

func sendTask(l *Letter, id uuid.UUID) *ledger.NewTask {
	if l.Urgent {
		return tasks.NewMailSendNow(l.OrganizationID, l.RequestID, id)
	}
	return tasks.NewMailSend(l.OrganizationID, l.RequestID, id)
}

// batch is what letters of one kind and organization share.
type batch struct {
	kind         mailtemplate.Kind
	render       *mailtemplate.Render
	own          bool // render is the organization's template
	organization string
	links        link.Links
	secret       []byte
}

func (w *Writer) begin(ctx context.Context, tx *storage.Tx, organizationID int64, kind mailtemplate.Kind) (*batch, error) {
	b := &batch{kind: kind, links: w.cfg.Links}
	var own *mailtemplate.Template
	if organizationID != 0 {
		var err error
		if b.organization, err = mail.OrganizationName(ctx, tx, organizationID); err != nil {
			return nil, err
		}
		stored, err := mail.TemplateOf(ctx, tx, organizationID, kind.Name)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return nil, err
		}
		if stored != nil {
			own = &mailtemplate.Template{Subject: stored.Subject, Text: stored.Text}
			b.own = true
		}
	}
	var err error
	if b.render, err = mailtemplate.NewRender(kind.Name, own); err != nil {
		return nil, err
	}
	b.secret, err = w.installationSecret(ctx, tx)
	return b, err
}

// installationSecret reads the secret once.
func (w *Writer) installationSecret(ctx context.Context, q storage.Querier) ([]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.secret != nil {
		return w.secret, nil
	}
	secret, err := account.InstallationSecret(ctx, q)
	w.secret = secret
	return secret, err
}

// mail returns a mail that can be stored. Where the organization's own template has made
// too much of long values, it is the built-in one's: a mail that says it another way is
// better than none.
func (b *batch) mail(l *Letter) (mail.New, error) {
	n := b.rendered(b.render, l)
	err := n.Check()
	var invalid *storage.InvalidError
	if !b.own || !errors.As(err, &invalid) || invalid.Field == "recipient" {
		return n, err
	}
	builtIn, err := mailtemplate.NewRender(b.kind.Name, nil)
	if err != nil {
		return n, err
	}
	n = b.rendered(builtIn, l)
	return n, n.Check()
}

func (b *batch) rendered(render *mailtemplate.Render, l *Letter) mail.New {
	to := mailtemplate.To{Organization: b.organization, Recipient: l.Recipient}
	if !b.kind.Transactional && l.UserID != 0 {
		to.Unsubscribe = b.links.Unsubscribe(UnsubscribeToken(b.secret, l.OrganizationID, l.UserID))
	}
	out := render.Mail(l.Content, to)
	return mail.New{OrganizationID: l.OrganizationID, UserID: l.UserID, Kind: b.kind.Name, Recipient: l.Recipient,
		Subject: out.Subject, TextBody: out.Text, HTMLBody: out.HTML, Icon: out.Icon, QR: out.QR,
		Unsubscribe: to.Unsubscribe, DedupeKey: l.DedupeKey}
}
