package ops

import (
	_ "embed"
	"encoding/base64"
	"errors"
	"html/template"
	"net/http"
	netmail "net/mail"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"rsc.io/qr"

	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/mail"
	"github.com/slipway-qa/slipway/tasks/mailmessage"
	"github.com/slipway-qa/slipway/tasks/mailtemplate"
)

// MailPath is where operators read the installation's mail.
const MailPath = "/ops/mail"

//go:embed mail.html
var mailText string

// mailPolicy lets the page have its style and nothing else: no script, no
// picture, no form.
const mailPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// mailView is a mail as operators see it.
type mailView struct {
	ID             uuid.UUID  `json:"id"`
	OrganizationID *int64     `json:"organization_id"`
	Kind           string     `json:"kind"`
	Recipient      string     `json:"recipient"`
	Subject        string     `json:"subject"`
	State          mail.State `json:"state"`
	Error          string     `json:"error"`
	// Text is empty with Hidden: the text is another person's secret.
	Text      string     `json:"text"`
	Hidden    bool       `json:"hidden"`
	CreatedAt time.Time  `json:"created_at"`
	SentAt    *time.Time `json:"sent_at"`
}

// viewMail shows a mail. A sign-in link is the tester's secret as long as it is
// on its way to the tester. Where there is no mail server, operators are the way.
func viewMail(m mail.Mail) mailView {
	v := mailView{ID: m.ID, OrganizationID: m.OrganizationID, Kind: m.Kind, Recipient: m.Recipient, Subject: m.Subject,
		State: m.State, Error: m.Error, Text: m.TextBody, CreatedAt: m.CreatedAt.UTC(), SentAt: m.SentAt}
	if m.Kind == mailtemplate.KindSignIn && m.State != mail.Kept {
		v.Text, v.Hidden = "", true
	}
	return v
}

// mail serves MailPath: the newest mails as a page, or as JSON where the caller
// accepts it or asks by format=json. Parameters: format, page, per_page.
func (h *Handlers) mail(c *gin.Context) error {
	format := c.Query("format")
	if !slices.Contains([]string{"", "json", "html"}, format) {
		return &storage.InvalidError{Field: "format", Msg: "must be html or json"}
	}
	request, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	rows, total, err := mail.List(c, h.DB, request.Limit(), request.Offset())
	if err != nil {
		return err
	}
	views := make([]mailView, 0, len(rows))
	for _, m := range rows {
		views = append(views, viewMail(m))
	}
	at := request.Envelope(total)
	if format == "json" || format == "" && wantsJSON(c.Request) {
		return respond.JSON(c, http.StatusOK, gin.H{"mails": views, "pagination": at})
	}
	return showMail(c, views, at)
}

// wantsJSON reports whether JSON is asked for before a page is.
func wantsJSON(r *http.Request) bool {
	for kind := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
		kind, _, _ = strings.Cut(kind, ";")
		switch strings.ToLower(strings.TrimSpace(kind)) {
		case "application/json":
			return true
		case "text/html":
			return false
		}
	}
	return false
}

// mailPage is the page of the newest mails.
var mailPage = template.Must(template.New("mail.html").Parse(mailText))

// showMail writes the page.
func showMail(c *gin.Context, mails []mailView, at pagination.Pagination) error {
	c.Header("Cache-Control", "no-store")
	return respond.Page(c, mailPage, mailPolicy, struct {
		Mails    []mailView
		At       pagination.Pagination
		Previous int
		Next     int
	}{mails, at, at.Page - 1, at.Page + 1})
}

// wholeMailView is a mail with its HTML part and its head.
type wholeMailView struct {
	mailView
	// HTML is empty where the mail has none, and with Hidden.
	HTML    string               `json:"html"`
	Headers []mailmessage.Header `json:"headers"`
}

// oneMail serves MailPath/{id}: a mail with its HTML part, and the head that it has by the
// settings of today.
func (h *Handlers) oneMail(c *gin.Context) error {
	id, err := uuid.Parse(c.Param("id"))
	if err != nil {
		return storage.ErrNotFound
	}
	ctx := c.Request.Context()
	m, err := mail.ByID(ctx, h.DB, id)
	if err != nil {
		return err
	}
	out := &mailmessage.Outgoing{Mail: m}
	if m.OrganizationID != nil {
		settings, err := mail.SettingsOf(ctx, h.DB, *m.OrganizationID)
		if err != nil {
			return err
		}
		out.SenderName, out.ReplyTo = settings.SenderName, settings.ReplyTo
	}
	view := wholeMailView{mailView: viewMail(*m), Headers: []mailmessage.Header{}}
	if !view.Hidden {
		view.HTML = withCode(m)
	}
	if from, err := netmail.ParseAddress(h.MailFrom); err == nil {
		message, err := mailmessage.Compose(from, out)
		var refused *mailmessage.RefusedError
		if err != nil && !errors.As(err, &refused) {
			return err
		}
		if message != nil {
			view.Headers = message.Headers()
		}
	}
	respond.Private(c)
	return respond.JSON(c, http.StatusOK, gin.H{"mail": view})
}

// noPicture is a picture of one clear dot.
const noPicture = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="

// withCode is the HTML part with the QR code in it, which a mail has as a part of its own. The
// icon is left out: it is an object, which is read when the mail is sent.
func withCode(m *mail.Mail) string {
	picture := noPicture
	if code, err := qr.Encode(m.QR, qr.M); m.QR != "" && err == nil {
		picture = "data:image/png;base64," + base64.StdEncoding.EncodeToString(code.PNG())
	}
	return strings.NewReplacer("cid:qr@mail", picture, "cid:icon@mail", noPicture).Replace(m.HTMLBody)
}
