package mail_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/mail"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func letter() mail.New {
	return mail.New{Kind: "new-build", Recipient: "ann@example.com", Subject: "A build", TextBody: "text\r\n", HTMLBody: "<p>text</p>"}
}

func TestMailIsKeptOnce(t *testing.T) {
	t.Parallel()
	db, ctx := servicetest.DB(t), testContext(t)
	n := letter()
	n.DedupeKey = "build 1 to ann"
	id, err := mail.Insert(ctx, db, n)
	require.NoError(t, err)
	require.EqualValues(t, 7, id.Version())
	again, err := mail.Insert(ctx, db, n)
	require.NoError(t, err)
	require.Equal(t, uuid.Nil, again)
	n.DedupeKey = ""
	for range 2 {
		_, err = mail.Insert(ctx, db, n)
		require.NoError(t, err)
	}
	m, err := mail.ByID(ctx, db, id)
	require.NoError(t, err)
	require.Equal(t, &mail.Mail{ID: id, Kind: "new-build", Recipient: "ann@example.com", Subject: "A build", TextBody: "text\r\n",
		HTMLBody: "<p>text</p>", State: mail.Queued, CreatedAt: m.CreatedAt}, m)

	require.NoError(t, mail.SetState(ctx, db, id, mail.Failed, "550 \xff\x00 "+strings.Repeat("x", 5000)))
	m, err = mail.ByID(ctx, db, id)
	require.NoError(t, err)
	require.Equal(t, mail.Failed, m.State)
	require.Contains(t, m.Error, "550 \uFFFD")
	require.NoError(t, mail.SetState(ctx, db, id, mail.Sent, ""))
	m, err = mail.ByID(ctx, db, id)
	require.NoError(t, err)
	require.Empty(t, m.Error)
	require.WithinDuration(t, time.Now(), *m.SentAt, time.Minute)
	require.ErrorIs(t, mail.SetState(ctx, db, uuid.New(), mail.Sent, ""), storage.ErrNotFound)
	var bad *storage.InvalidError
	require.ErrorAs(t, mail.SetState(ctx, db, id, "lost", ""), &bad)
	_, err = mail.ByID(ctx, db, uuid.New())
	require.ErrorIs(t, err, storage.ErrNotFound)

	list, total, err := mail.List(ctx, db, 2, 0)
	require.NoError(t, err)
	require.Equal(t, 3, total)
	require.Len(t, list, 2)
	rest, _, err := mail.List(ctx, db, 2, 2)
	require.NoError(t, err)
	require.Len(t, rest, 1)
	require.Equal(t, id, rest[0].ID, "newest first")

	n2, err := mail.Prune(ctx, db, time.Now().Add(-time.Hour), 10)
	require.NoError(t, err)
	require.Zero(t, n2)
	n2, err = mail.Prune(ctx, db, time.Now().Add(time.Hour), 2)
	require.NoError(t, err)
	require.EqualValues(t, 2, n2)
}

func TestMailThatBreaksOutIsRefused(t *testing.T) {
	t.Parallel()
	db, ctx := servicetest.DB(t), testContext(t)
	for _, row := range []struct {
		field  string
		change func(*mail.New)
	}{
		{"recipient", func(n *mail.New) { n.Recipient = "a@example.com\r\nBcc: b@example.com" }},
		{"recipient", func(n *mail.New) { n.Recipient = "Ann <ann@example.com>" }},
		{"recipient", func(n *mail.New) { n.Recipient = "a@example.com, b@example.com" }},
		{"subject", func(n *mail.New) { n.Subject = "a\r\nBcc: b@example.com" }},
		{"subject", func(n *mail.New) { n.Subject = "" }},
		{"subject", func(n *mail.New) { n.Subject = strings.Repeat("é", 256) }},
		{"kind", func(n *mail.New) { n.Kind = "" }},
		{"dedupe_key", func(n *mail.New) { n.DedupeKey = "\x00" }},
		{"text_body", func(n *mail.New) { n.TextBody = strings.Repeat("x", 256<<10+1) }},
		{"html_body", func(n *mail.New) { n.HTMLBody = "\xff" }},
	} {
		n := letter()
		row.change(&n)
		_, err := mail.Insert(ctx, db, n)
		var bad *storage.InvalidError
		require.ErrorAs(t, err, &bad)
		require.Equal(t, row.field, bad.Field)
	}
}
