package mail

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"golang.org/x/net/idna"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	store "github.com/slipway-qa/slipway/storage/mail"
)

// bounceView is what became of one recipient of a notification.
type bounceView struct {
	Recipient string `json:"recipient"`
	Action    string `json:"action"`
	Status    string `json:"status"`
	// Outcome: marked (the address gets no more mail), recorded (with the mail alone),
	// or ignored (no failure for good, or no mail from here).
	Outcome string `json:"outcome"`
}

// The outcomes.
const (
	outcomeMarked   = "marked"
	outcomeRecorded = "recorded"
	outcomeIgnored  = "ignored"
)

// Bounce serves POST /ops/mail/bounces, with a mail as its body.
func (h *Handlers) Bounce(c *gin.Context) error {
	n, err := ParseNotification(http.MaxBytesReader(c.Writer, c.Request.Body, maxNotification))
	if err != nil {
		return &storage.InvalidError{Field: "body", Msg: err.Error()}
	}
	views := make([]bounceView, len(n.Recipients))
	for i, r := range n.Recipients {
		views[i] = bounceView{Recipient: r.Final, Action: r.Action, Status: r.Status, Outcome: outcomeIgnored}
		if r.Action != "failed" || !strings.HasPrefix(r.Status, "5.") {
			continue
		}
		if views[i].Outcome, err = h.record(c, n, r); err != nil {
			return err
		}
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "recipients": views})
}

// record finds the mail among those that the notification names.
func (h *Handlers) record(c *gin.Context, n *Notification, r Recipient) (string, error) {
	for _, id := range n.MailIDs {
		var marked bool
		err := h.inTx(c, func(ctx context.Context, tx *storage.Tx) (err error) {
			marked, err = store.RecordBounce(ctx, tx, auth.Actor(c), store.Bounce{MailID: id, Recipient: r.Final, Status: r.Status,
				Detail: r.Diagnostic, Same: func(email string) bool { return same(email, r.Final) || same(email, r.Original) }})
			return err
		})
		switch {
		case errors.Is(err, storage.ErrNotFound):
			continue
		case err != nil:
			return "", err
		case marked:
			return outcomeMarked, nil
		}
		return outcomeRecorded, nil
	}
	return outcomeIgnored, nil
}

// same reports whether two addresses are one: mail servers change case, and write
// domains in ASCII.
func same(a, b string) bool { return b != "" && plain(a) == plain(b) }

func plain(address string) string {
	address = strings.ToLower(address)
	at := strings.LastIndexByte(address, '@')
	if at < 0 {
		return address
	}
	domain, err := idna.Lookup.ToASCII(address[at+1:])
	if err != nil {
		return address
	}
	return address[:at+1] + domain
}
