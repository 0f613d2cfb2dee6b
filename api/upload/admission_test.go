package upload

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/remote"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// TestAdmission fills all slots from one address without a key: who has a key in a header
// is not held up, and a slot passes to the organization of a key that comes.
func TestAdmission(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, func(cfg *Config) { cfg.Slots, cfg.Headroom, cfg.AdmissionWait = 3, 1, 50*time.Millisecond })
	body, kind := encodeForm([]field{file("file", "a.ipa", ipa("com.example.demo", "1", noise(4000, 1))), w.key()})
	var finish []func() int
	for range 3 {
		finish = append(finish, w.begin(nil, body, kind, 2000))
	}
	require.Eventually(t, func() bool { return w.h.unauthenticated() == 3 }, waitFor, tick)
	status, out := w.send("/upload/", nil, kind, body)
	require.Equal(t, 429, status)
	require.Equal(t, 429, code(out))
	require.Contains(t, out["message"], "without a key")
	status, out = w.send("/upload/", map[string]string{"X-API-Key": w.boot.Owner.APIKey}, kind, body)
	require.Equal(t, 200, status, out)
	for _, f := range finish {
		require.Equal(t, 200, f())
	}
	require.Eventually(t, w.h.idle, waitFor, tick)

	// The key ends what only callers without one have, long before the form ends.
	long, longKind := encodeForm([]field{file("file", "a.ipa", ipa("com.example.demo", "1")), w.key(),
		textField("comment", string(make([]byte, 5000)))})
	last := w.begin(nil, long, longKind, len(long)-1000)
	require.Eventually(t, func() bool { return w.h.held(w.boot.Organization.ID) == 1 }, waitFor, tick)
	require.Zero(t, w.h.unauthenticated())
	require.Zero(t, w.h.rooms.bytes.Stats(0).Held)
	require.Equal(t, 200, last())
	require.Eventually(t, w.h.idle, waitFor, tick)
}

// begin sends the first bytes of a body; finish sends the rest and returns the
// status of the response.
func (w *world) begin(headers map[string]string, body []byte, kind string, first int) (finish func() int) {
	r, feed := io.Pipe()
	done := make(chan int, 1)
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url+"/upload/", r)
	require.NoError(w.t, err)
	req.Header.Set("Content-Type", kind)
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	go func() {
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			done <- 0
			return
		}
		res.Body.Close()
		done <- res.StatusCode
	}()
	_, err = feed.Write(body[:first])
	require.NoError(w.t, err)
	return func() int {
		_, _ = feed.Write(body[first:])
		_ = feed.Close()
		return <-done
	}
}

// organization makes another organization, with a key.
func (w *world) organization(slug string) (key string) {
	w.t.Helper()
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		made, err := account.CreateOrganization(ctx, tx, account.CLI(), account.NewOrganization{Slug: slug})
		if err != nil {
			return err
		}
		team, err := account.CreateTeam(ctx, tx, account.CLI(), account.NewTeam{OrganizationID: made.ID, Name: "Team"})
		if err != nil {
			return err
		}
		u, err := account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: made.ID, Email: slug + "@example.com",
			Role: account.Member, TeamID: team.ID})
		if err != nil {
			return err
		}
		_, s, err := account.CreateKey(ctx, tx, account.CLI(), w.keys, account.NewKey{OrganizationID: made.ID, UserID: u.ID,
			Kind: account.KindAPI})
		if err == nil {
			key = s.Text
		}
		return err
	})
	return key
}

// TestSlowOrganization: one organization holds all slots with connections on which next to
// nothing comes, and has more of them waiting. Another one's upload takes no second longer.
func TestSlowOrganization(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, func(cfg *Config) { cfg.Slots, cfg.Headroom = 9, 1 })
	other := map[string]string{"X-API-Key": w.organization("other")}
	own := map[string]string{"X-API-Key": w.boot.Owner.APIKey}
	body, kind := encodeForm([]field{file("file", "a.ipa", ipa("com.example.demo", "1", noise(4000, 1)))})
	var finish []func() int
	for range 20 {
		finish = append(finish, w.begin(own, body, kind, 2000))
	}
	require.Eventually(t, func() bool { return w.h.held(w.boot.Organization.ID) == 9 }, waitFor, tick)
	// One takes the headroom; the next one has slow senders evicted.
	held := w.begin(other, body, kind, 2000)
	require.Eventually(t, func() bool { return w.h.rooms.slots.Stats(0).Held == 10 }, waitFor, tick)
	status, out := w.send("/upload/", other, kind, body)
	require.Equal(t, 200, status, out)
	require.NotZero(t, w.h.rooms.slots.Stats(0).Evicted)
	require.Equal(t, 200, held())
	statuses := map[int]int{}
	for _, f := range finish {
		statuses[f()]++
	}
	require.NotZero(t, statuses[408], "the slow ones are told why: %v", statuses)
	require.NotZero(t, statuses[200], "not all of them: %v", statuses)
	require.Eventually(t, w.h.idle, waitFor, tick)
	require.Zero(t, w.unfinished())
}

// A slot is taken when something has come.
func TestSilentUploadsTakeNoSlot(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, func(cfg *Config) {
		cfg.Slots,
			cfg.AdmissionWait = 1, waitFor
	}) // for the one before, which leaves behind its answer
	body, kind := encodeForm([]field{file("file", "a.ipa", ipa("com.example.demo", "1", noise(4000, 1)))})
	own := map[string]string{"X-API-Key": w.boot.Owner.APIKey}
	var finish []func() int
	for range 5 {
		finish = append(finish, w.begin(own, body, kind, 500))
	}
	for range 2 {
		status, out := w.send("/upload/", own, kind, body)
		require.Equal(t, 200, status, out)
	}
	require.EqualValues(t, 2, w.h.rooms.slots.Stats(0).Admitted)
	for _, f := range finish {
		require.Equal(t, 200, f())
	}
}

// TestBytesAreCountedAsTheyArrive: what a header announces reserves nothing.
func TestBytesAreCountedAsTheyArrive(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, func(cfg *Config) {
		cfg.AdmissionWait, cfg.Slots = 50*time.Millisecond, 4
		cfg.MaxBytes, cfg.MaxSymbols, cfg.UnauthenticatedBytes = 1<<20, 1<<20, 240<<20
	})
	rooms := w.h.rooms
	require.EqualValues(t, 60<<20, rooms.step)
	at := func(address string) *permit { return &permit{rooms: rooms, from: remote.Network(address)} }
	first, second := at("192.0.2.1"), at("192.0.2.1")
	require.NoError(t, first.acquire(t.Context(), nil))
	require.NoError(t, first.reserveBytes(t.Context(), 240<<20), "alone it may have all")
	require.Equal(t, 429, respond.Explain(first.reserveBytes(t.Context(), 240<<20+1)).Status)
	other := at("192.0.2.2")
	require.NoError(t, other.reserveBytes(t.Context(), 1), "another address finds room")
	require.Equal(t, 429, respond.Explain(second.reserveBytes(t.Context(), 1)).Status)
	first.releaseBytes()
	require.NoError(t, second.reserveBytes(t.Context(), 1))
	for _, p := range []*permit{first, second, other} {
		p.release()
	}
	require.True(t, w.h.idle())
	require.NoError(t, first.authenticated(t.Context(), &auth.Caller{OrganizationID: 1}), "without a slot there is nothing to pass on")
}

// TestSlowUnauthenticatedUpload: a sender without a key that stalls is ended, one
// that has shown its key is not.
func TestSlowUnauthenticatedUpload(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, func(cfg *Config) { cfg.UnauthenticatedGrace = 300 * time.Millisecond })
	app := file("file", "a.ipa", ipa("com.example.demo", "1", noise(4000, 1)))
	before, kind := encodeForm([]field{w.key(), app})
	first := w.begin(nil, before, kind, 1700)
	behind, kind2 := encodeForm([]field{app, w.key(), textField("comment", strings.Repeat("x", 5000))})
	second := w.begin(nil, behind, kind2, len(behind)-1000)
	require.Eventually(t, func() bool { return w.h.held(w.boot.Organization.ID) == 2 }, waitFor, tick)

	last, kind3 := encodeForm([]field{app, w.key()})
	r, feed := io.Pipe()
	defer feed.Close()
	go func() { _, _ = feed.Write(last[:1300]) }()
	res, err := http.Post(w.url+"/upload/", kind3, r)
	require.NoError(t, err)
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, 408, res.StatusCode)
	require.Contains(t, string(answer), `"code":408`)
	require.Contains(t, string(answer), "send the key in a header, or before the file")
	require.Equal(t, 200, first())
	require.Equal(t, 200, second())
	require.Eventually(t, w.h.idle, waitFor, tick)
	require.Zero(t, w.unfinished())
	require.Equal(t, 2, w.count(`select count(*) from builds`))
}
