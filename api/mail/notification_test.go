package mail

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// Exchange refers to the mail by References and leaves the returned header out.
func TestParseNotificationWithReferences(t *testing.T) {
	t.Parallel()
	id := uuid.New()
	n, err := ParseNotification(strings.NewReader("References: <x@y> <" + id.String() + "@qa.example.com>\r\n" +
		"Content-Type: Multipart/Report; boundary=b; report-type=delivery-status\r\n\r\n" +
		"--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns;mx\r\n\r\nFinal-Recipient: RFC822;<ann@example.org>\r\n" +
		"Action: Failed\r\nStatus: 5.1.10 (null mx)\r\n\r\nFinal-Recipient: rfc822;bob@example.org\r\nAction: delayed\r\nStatus: 4.0.0\r\n"))
	require.NoError(t, err)
	require.Equal(t, &Notification{MailIDs: []uuid.UUID{id}, Recipients: []Recipient{
		{Final: "ann@example.org", Action: "failed", Status: "5.1.10"}, {Final: "bob@example.org", Action: "delayed", Status: "4.0.0"}}}, n)
}

func FuzzParseNotification(f *testing.F) {
	f.Add("Content-Type: multipart/report; boundary=b\r\n\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\nA: b\r\n\r\n" +
		"Final-Recipient: rfc822;a@b\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n--b\r\nContent-Type: message/rfc822\r\n\r\nMessage-ID: <x@y>\r\n" +
		"\r\n--b--\r\n")
	f.Add("Content-Type: multipart/report; boundary=\"\"\r\n\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		n, err := ParseNotification(strings.NewReader(text))
		if err != nil {
			require.Nil(t, n)
			return
		}
		require.NotEmpty(t, n.Recipients)
		require.LessOrEqual(t, len(n.Recipients), maxRecipients)
		require.LessOrEqual(t, len(n.MailIDs), maxRecipients)
		for _, r := range n.Recipients {
			require.LessOrEqual(t, len(r.Diagnostic), maxText)
			require.Empty(t, strings.Trim(r.Status, "0123456789."))
		}
	})
}
