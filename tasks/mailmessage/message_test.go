package mailmessage

import (
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/mail"
)

func TestHeaders(t *testing.T) {
	t.Parallel()
	from := &netmail.Address{Name: "Slipway", Address: "qa@example.com"}
	id := uuid.MustParse("0197f3a0-2b1c-7d3e-8f40-5a6b7c8d9e0f")
	m := &mail.Mail{ID: id, Recipient: "bo@example.com", Subject: "New: " + strings.Repeat("über ", 40), TextBody: "Hello\r\nX-Not: a header",
		HTMLBody: "<p>Hello</p>", Unsubscribe: "https://qa.example.com/mail/unsubscribe/slp_secret", CreatedAt: time.Unix(0, 0)}
	message, err := Compose(from, &Outgoing{Mail: m, SenderName: "Ships", ReplyTo: "team@example.com"})
	require.NoError(t, err)
	require.Contains(t, string(message.Bytes), "slp_secret", "the recipient has it")
	found := map[string]string{}
	for _, h := range message.Headers() {
		require.NotContains(t, h.Value, "slp_secret")
		require.NotContains(t, h.Value, "\n")
		require.NotEmpty(t, h.Name)
		found[h.Name] = h.Value
	}
	require.Equal(t, "<https://qa.example.com/mail/unsubscribe/...>", found["List-Unsubscribe"])
	require.Equal(t, "<"+id.String()+"@example.com>", found["Message-ID"])
	require.Contains(t, found["From"], "Ships")
	require.Contains(t, found["Reply-To"], "team@example.com")
	require.Contains(t, found["Subject"], "=?UTF-8?", "as it goes over the wire")
	require.NotContains(t, found, "X-Not", "the body is no header")

	m.Subject = "two\r\nBcc: all@example.com"
	_, err = Compose(from, &Outgoing{Mail: m})
	var refused *RefusedError
	require.ErrorAs(t, err, &refused)
}
