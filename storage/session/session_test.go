package session_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	. "github.com/slipway-qa/slipway/storage/session"
)

func TestStartsCountOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Bounds{})
	one, two := uuid.New(), uuid.New()
	out := w.start(Start{ClientID: one, Version: "1.2", VersionCode: "12"}, Start{ClientID: one, Version: "1.2"},
		Start{ClientID: two, BuildID: w.build.ID}, Start{ClientID: uuid.New(), Version: "9.9"}, Start{ClientID: uuid.New(), BuildID: 999})
	require.Equal(t, w.build.ID, out[0].BuildID)
	require.False(t, out[0].Repeated)
	require.Equal(t, Started{ID: out[0].ID, BuildID: w.build.ID, Repeated: true}, out[1])
	require.Equal(t, w.build.ID, out[2].BuildID)
	require.Zero(t, out[3].BuildID, "a version without a build")
	require.NotZero(t, out[3].ID)
	require.True(t, out[4].NoBuild)
	require.Zero(t, out[4].ID)
	again := w.start(Start{ClientID: one, Version: "1.2"})
	require.Equal(t, Started{ID: out[0].ID, BuildID: w.build.ID, Repeated: true}, again[0])
	require.Equal(t, 3, w.Count(`select count(*) from app_sessions`))
	require.Equal(t, 2, w.Count(`select sessions from builds where id = $1`, w.build.ID))
}

func TestTesterOfSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Bounds{})
	client := uuid.New()
	w.start(Start{ClientID: client, Version: "1.2", Identity: Identity{Email: "MEMBER@acme.example.com", CorrelationID: "c\U0001F600",
		Attributes: [Attributes]string{"a", "b"}}, Device: Device{Model: "Pixel 8", OS: "Android", OSVersion: "15", Locale: "de-DE"},
		IPAddress: "192.0.2.7", StartedAt: time.Unix(0, 0)})
	s := w.session(client)
	require.Equal(t, "Pixel 8, Android 15", s.Device.Name())
	require.Equal(t, "b", s.Identity.Attributes[1])
	require.Equal(t, "192.0.2.7", s.IPAddress)
	require.WithinDuration(t, time.Now().Add(-30*24*time.Hour), s.StartedAt, time.Minute, "a clock of 1970")
	var bad *storage.InvalidError
	start := Start{Identity: Identity{Email: "a\nb@example.com"}}
	require.ErrorAs(t, start.Clean(time.Now()), &bad)
	require.Equal(t, "email", bad.Field)
}

// A session of a known tester shows that the build is installed; each session counts once.
func TestSessionShowsInstall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Bounds{})
	pixel, member := Device{Model: "Pixel 8", OS: "Android", OSVersion: "15"}, Identity{Email: "MEMBER@acme.example.com"}
	client := uuid.New()
	first := Start{ClientID: client, Version: "1.2", Identity: member, Device: pixel}
	w.start(first, first, Start{ClientID: uuid.New(), Version: "1.2", Identity: member, Device: pixel},
		Start{ClientID: uuid.New(), Version: "1.2", Device: pixel}, // nobody known
		Start{ClientID: uuid.New(), Version: "1.2", Identity: Identity{Email: "stranger@example.com"}, Device: pixel},
		Start{ClientID: uuid.New(), Version: "9.9", Identity: member, Device: pixel}) // no build
	w.start(first)
	require.Equal(t, 1, w.Count(`select count(*) from build_installs`))
	require.Equal(t, 1, w.Count(`select count(*) from build_installs where organization_id = $1 and build_id = $2 and channel = 'session'
		and device = 'Pixel 8, Android 15' and count = 2 and user_id = $3`, w.Org.ID, w.build.ID, w.Org.Member.ID))
}

func TestEventsCountOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Bounds{})
	client := uuid.New()
	w.start(Start{ClientID: client, Version: "1.2"})
	crash, err := w.store.NewBatch(w.build.ProjectID, client, 7, []Event{{Type: TypeCrash, Time: time.Now(), Text: "boom"}})
	require.NoError(t, err)
	out := w.add(crash, w.batch(client, 3, 2), w.batch(client, 3, 2), w.batch(uuid.New(), 1, 1))
	require.Equal(t, []Added{{}, {}, {Repeated: true}, {Unknown: true}}, out)
	require.Equal(t, []Added{{Repeated: true}}, w.add(w.batch(client, 3, 5)), "the first one stays")
	s := w.session(client)
	require.EqualValues(t, 3, s.Events)
	require.True(t, s.Crashed)
	events, err := w.store.Events(testContext(t), w.DB, s.ID)
	require.NoError(t, err)
	require.Len(t, events, 3)
	require.Equal(t, "boom", events[2].Text, "in the order of the batches, however they came")
	require.Equal(t, 2, w.Count(`select batches from app_sessions where id = $1`, s.ID))
}

func TestBoundsOfSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Bounds{Events: 5, Batches: 3})
	client := uuid.New()
	w.start(Start{ClientID: client})
	require.Equal(t, []Added{{}, {Dropped: 3}}, w.add(w.batch(client, 1, 4), w.batch(client, 2, 3)))
	require.Equal(t, []Added{{Repeated: true}}, w.add(w.batch(client, 2, 3)))
	require.Equal(t, []Added{{}}, w.add(w.batch(client, 3, 1)), "there is room for one")
	require.Equal(t, []Added{{Dropped: 1}}, w.add(w.batch(client, 4, 1)))
	s := w.session(client)
	require.EqualValues(t, 5, s.Events)
	require.EqualValues(t, 4, s.Dropped)
	require.Equal(t, 3, w.Count(`select count(*) from app_session_batches`))
}

// Many writers of the same few sessions neither lose nor double a batch, and do not
// wait for each other in a circle.
func TestEventsTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Bounds{})
	var clients []uuid.UUID
	for range 6 {
		clients = append(clients, uuid.New())
		w.start(Start{ClientID: clients[len(clients)-1], Version: "1.2"})
	}
	var group sync.WaitGroup
	errs := make(chan error, 8)
	for worker := range 8 {
		group.Go(func() {
			for seq := range 20 {
				var in []Batch
				for i := range clients {
					b := w.batch(clients[(i*(worker+1))%len(clients)], int64(seq*4+worker%4), 1) // each twice
					in = append(in, b)
				}
				if _, err := w.store.AddEvents(context.Background(), in); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	group.Wait()
	close(errs)
	require.NoError(t, <-errs)
	require.Equal(t, w.Count(`select count(*) from app_session_batches`), w.Count(`select sum(batches) from app_sessions`))
	require.Equal(t, w.Count(`select sum(events) from app_session_batches`), w.Count(`select sum(events) from app_sessions`))
}

func TestEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Bounds{})
	ctx := testContext(t)
	client, silent := uuid.New(), uuid.New()
	w.start(Start{ClientID: client}, Start{ClientID: silent, StartedAt: time.Now().Add(-time.Hour)})
	duration := 83 * time.Second
	end, err := EndSession(ctx, w.DB, End{ProjectID: w.build.ProjectID, ClientID: client, Duration: &duration})
	require.NoError(t, err)
	require.EqualValues(t, 83_000, end.DurationMS)
	again, err := EndSession(ctx, w.DB, End{ProjectID: w.build.ProjectID, ClientID: client, Crashed: true})
	require.NoError(t, err)
	require.Equal(t, end, again, "the first end stays")
	negative := -time.Hour
	_, err = EndSession(ctx, w.DB, End{ProjectID: w.build.ProjectID, ClientID: uuid.New(), Duration: &negative})
	require.ErrorIs(t, err, storage.ErrNotFound)

	require.Equal(t, []Added{{}}, w.add(w.batch(client, 1, 1)), "after the end")
	_, err = w.DB.ExecContext(ctx, `update app_sessions set ended_at = now() - interval '25 hours' where client_id = $1`, client)
	require.NoError(t, err)
	require.Equal(t, []Added{{Late: true}}, w.add(w.batch(client, 2, 1)))

	w.add(w.batch(silent, 1, 1))
	_, err = w.DB.ExecContext(ctx, `update app_sessions set received_at = now() - interval '3 hours', last_at = now() - interval '3 hours',
		last_event_at = started_at + interval '90 seconds' where client_id = $1`, silent)
	require.NoError(t, err)
	n, err := EndSilent(ctx, w.DB, time.Now().Add(-2*time.Hour), 10)
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
	s := w.session(silent)
	require.Equal(t, "silence", s.EndedBy)
	require.Equal(t, 90*time.Second, s.Duration)
	_, err = EndSession(ctx, w.DB, End{ProjectID: w.build.ProjectID, ClientID: silent, Duration: &negative, Crashed: true})
	require.NoError(t, err)
	s = w.session(silent)
	require.Equal(t, "app", s.EndedBy, "the app knows better")
	require.Zero(t, s.Duration)
	require.True(t, s.Crashed)
}

func TestLists(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Bounds{})
	ctx := testContext(t)
	var clients []uuid.UUID
	for _, email := range []string{"ann@example.com", "bob@example.com", ""} {
		clients = append(clients, uuid.New())
		w.start(Start{ClientID: clients[len(clients)-1], Version: "1.2", Identity: Identity{Email: email},
			Device: Device{Model: "Pixel 8", OS: "Android"}})
	}
	w.start(Start{ClientID: uuid.New(), Version: "9", Device: Device{Model: "Pixel 9"}})
	list, n, err := Sessions(ctx, w.DB, w.Org.ID, SessionFilter{BuildID: w.build.ID}, storage.Page{Limit: 2})
	require.NoError(t, err)
	require.Equal(t, Counted{3, true}, n)
	require.Equal(t, []uuid.UUID{clients[2], clients[1]}, []uuid.UUID{list[0].ClientID, list[1].ClientID}, "newest first")
	list, n, err = Sessions(ctx, w.DB, w.Org.ID, SessionFilter{BuildID: w.build.ID, Search: "BOB"}, storage.FirstPage())
	require.NoError(t, err)
	require.Equal(t, Counted{1, true}, n)
	require.Equal(t, clients[1], list[0].ClientID)
	_, n, err = Sessions(ctx, w.DB, w.Org.ID, SessionFilter{ProjectID: w.build.ProjectID}, storage.FirstPage())
	require.NoError(t, err)
	require.Equal(t, 4, n.Total)
	_, n, err = Sessions(ctx, w.DB, w.Rival.ID, SessionFilter{ProjectID: w.build.ProjectID}, storage.FirstPage())
	require.NoError(t, err)
	require.Zero(t, n.Total, "of another organization")
	models, kinds, err := Devices(ctx, w.DB, w.Org.ID, SessionFilter{ProjectID: w.build.ProjectID}, storage.Page{Limit: 1})
	require.NoError(t, err)
	require.Equal(t, 2, kinds)
	require.EqualValues(t, 3, models[0].Sessions)
	models, kinds, err = Devices(ctx, w.DB, w.Org.ID, SessionFilter{BuildID: 999}, storage.FirstPage())
	require.NoError(t, err)
	require.Zero(t, kinds)
	require.Empty(t, models)
}

func TestFeedback(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Bounds{})
	n := NewFeedback{OrganizationID: w.Org.ID, ProjectID: w.build.ProjectID, BuildID: w.build.ID, ClientID: uuid.New(),
		Text:  "It crashes\nhere",
		Email: "x@example.com", ScreenshotKey: ScreenshotPrefix + "1"}
	add := func(n NewFeedback) (id int64, err error) {
		err = w.Do(func(ctx context.Context, tx *storage.Tx) error {
			id, err = AddFeedback(ctx, tx, n)
			return err
		})
		return id, err
	}
	id, err := add(n)
	require.NoError(t, err)
	again, err := add(n)
	require.NoError(t, err)
	require.Equal(t, id, again)
	require.Equal(t, 1, w.Count(`select feedbacks from builds where id = $1`, w.build.ID))
	require.Equal(t, 1, w.Count(`select count(*) from audit_events where type = $1`, int(account.FeedbackReceived)))
	_, err = add(NewFeedback{OrganizationID: w.Org.ID, ProjectID: w.build.ProjectID, Text: " \n"})
	var bad *storage.InvalidError
	require.ErrorAs(t, err, &bad)
	_, err = add(NewFeedback{OrganizationID: w.Org.ID, ProjectID: w.build.ProjectID, BuildID: 999, Text: "x"})
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, err = add(NewFeedback{OrganizationID: w.Org.ID, ProjectID: w.build.ProjectID, Text: "other"})
	require.NoError(t, err)

	ctx := testContext(t)
	list, count, err := Feedbacks(ctx, w.DB, w.Org.ID, FeedbackFilter{}, storage.FirstPage())
	require.NoError(t, err)
	require.Equal(t, Counted{2, true}, count)
	require.Equal(t, id, list[1].ID)
	for _, f := range []FeedbackFilter{{BuildID: w.build.ID}, {ProjectID: w.build.ProjectID, Search: "CRASHES"}} {
		list, _, err = Feedbacks(ctx, w.DB, w.Org.ID, f, storage.FirstPage())
		require.NoError(t, err)
		require.Len(t, list, 1)
	}
	_, count, err = Feedbacks(ctx, w.DB, w.Rival.ID, FeedbackFilter{ProjectID: w.build.ProjectID}, storage.FirstPage())
	require.NoError(t, err)
	require.Zero(t, count.Total)
	unnamed, err := UnnamedScreenshots(ctx, w.DB, []string{ScreenshotPrefix + "1", ScreenshotPrefix + "2"})
	require.NoError(t, err)
	require.Equal(t, []string{ScreenshotPrefix + "2"}, unnamed)

	denied := distribution.ErrNotTeamAdmin
	remove := func(as account.Writer) (key string, err error) {
		err = w.Do(func(ctx context.Context, tx *storage.Tx) error {
			key, err = DeleteFeedback(ctx, tx, as, id, denied)
			return err
		})
		return key, err
	}
	_, err = remove(w.Rival.Owner.Writer)
	require.ErrorIs(t, err, storage.ErrNotFound)
	key, err := remove(w.Org.Owner.Writer)
	require.NoError(t, err)
	require.Equal(t, ScreenshotPrefix+"1", key)
	require.Zero(t, w.Count(`select feedbacks from builds where id = $1`, w.build.ID))
}

func TestRemoval(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Bounds{})
	ctx := testContext(t)
	client, old := uuid.New(), uuid.New()
	first := w.start(Start{ClientID: old, Version: "9"})[0]
	w.start(Start{ClientID: client, Version: "1.2"})
	w.add(w.batch(client, 1, 1), w.batch(old, 1, 100))
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := AddFeedback(ctx, tx, NewFeedback{OrganizationID: w.Org.ID, ProjectID: w.build.ProjectID, BuildID: w.build.ID,
			SessionID: first.ID, Text: "x", ScreenshotKey: ScreenshotPrefix + "1"})
		return err
	})
	freed, err := Trim(ctx, w.DB, 1000, 0)
	require.NoError(t, err)
	require.Positive(t, freed)
	require.True(t, w.session(old).Trimmed)
	require.False(t, w.session(client).Trimmed, "the newest stay")
	_, err = Trim(ctx, w.DB, 0, 1)
	require.NoError(t, err)
	require.Zero(t, w.Count(`select count(*) from app_session_batches`))

	_, err = w.DB.ExecContext(ctx, `update app_sessions set received_at = now() - interval '100 days' where client_id = $1`, old)
	require.NoError(t, err)
	n, err := Expire(ctx, w.DB, time.Now().Add(-90*24*time.Hour), 10)
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
	require.Equal(t, 1, w.Count(`select count(*) from feedbacks where session_id is null`))

	w.add(w.batch(client, 2, 1))
	var keys []string
	w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		n, keys, err = RemoveOfBuilds(ctx, tx, []int64{w.build.ID}, 10)
		return err
	})
	require.EqualValues(t, 2, n)
	require.Equal(t, []string{ScreenshotPrefix + "1"}, keys)
	for _, table := range []string{"app_sessions", "app_session_batches", "feedbacks"} {
		require.Zero(t, w.Count(`select count(*) from `+table), table)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t, Bounds{})
	ctx := testContext(t)
	denied := distribution.ErrNotTeamAdmin
	create := func(as account.Writer, n NewToken) (row *TokenRow, secret account.Secret, err error) {
		err = w.Do(func(ctx context.Context, tx *storage.Tx) error {
			row, secret, err = CreateToken(ctx, tx, as, w.Keys, n, denied)
			return err
		})
		return row, secret, err
	}
	row, secret, err := create(w.Org.Owner.Writer, NewToken{ProjectID: w.build.ProjectID, Name: "beta"})
	require.NoError(t, err)
	require.EqualValues(t, Scopes(), row.Scopes)
	key, err := account.ParseKey(secret.Text)
	require.NoError(t, err)
	require.Equal(t, account.KindSDK, key.Kind)
	token, err := TokenByDigest(ctx, w.DB, secret.Digest)
	require.NoError(t, err)
	require.Equal(t, w.build.ProjectID, token.ProjectID)
	require.Equal(t, "com.example.shop", token.PackageName)
	_, _, err = create(w.Rival.Owner.Writer, NewToken{ProjectID: w.build.ProjectID})
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, _, err = create(account.Writer{OrganizationID: w.Org.ID, Actor: account.CLI()}, NewToken{ProjectID: w.build.ProjectID})
	require.ErrorIs(t, err, denied)
	_, _, err = create(w.Org.Owner.Writer, NewToken{ProjectID: w.build.ProjectID, Scopes: []string{"all"}})
	var bad *storage.InvalidError
	require.ErrorAs(t, err, &bad)
	list, total, err := Tokens(ctx, w.DB, w.Org.ID, w.build.ProjectID, storage.FirstPage())
	require.NoError(t, err)
	require.Equal(t, 1, total)
	require.Equal(t, secret.Hint, list[0].Hint)
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		return RevokeToken(ctx, tx, w.Org.Owner.Writer, w.build.ProjectID, row.ID, denied)
	})
	_, err = TokenByDigest(ctx, w.DB, secret.Digest)
	require.ErrorIs(t, err, storage.ErrNotFound)
	require.ErrorIs(t, w.Do(func(ctx context.Context, tx *storage.Tx) error {
		return RevokeToken(ctx, tx, w.Org.Owner.Writer, w.build.ProjectID, row.ID, denied)
	}), storage.ErrNotFound)
}
