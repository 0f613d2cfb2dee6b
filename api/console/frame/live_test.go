package frame

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/wait"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/live"
)

// What a page waits for is what it showed to this session; nobody waits for anything else.
func TestWatch(t *testing.T) {
	t.Parallel()
	now := time.Now()
	of := func(signingKey string) *Frame {
		key, err := deriveWatchKey([]byte(signingKey), rand.Reader)
		require.NoError(t, err)
		return &Frame{cfg: Config{Changes: wait.NewChanges(wait.ChangesConfig{}), Now: func() time.Time { return now }}, watchKey: key}
	}
	f, mine := of("the installation's"), &auth.Caller{OrganizationID: 7, SessionID: 3}
	by := func(caller *auth.Caller) *http.Request {
		c, _ := request("GET", "/console/live", nil)
		c.Request.AddCookie(&http.Cookie{Name: auth.ConsoleCookie(false), Value: "secret"})
		return c.Request.WithContext(auth.WithCaller(c.Request.Context(), caller, auth.ReadTasks))
	}
	id := uuid.NewString()
	text := f.watchOf(mine, []live.Topic{live.Of(live.Task, id), live.List(live.Tasks)})
	require.NotEmpty(t, text)
	topics, isOld, err := of("the installation's").readWatch(by(mine), text) // another process
	require.NoError(t, err)
	require.False(t, isOld)
	require.Equal(t, []live.Topic{{Kind: live.Task, ID: id, OrganizationID: 7}, {Kind: live.Tasks, OrganizationID: 7},
		{Kind: live.Session, ID: "3", OrganizationID: 7}}, topics)
	now = now.Add(watchLife + time.Second)
	_, isOld, err = f.readWatch(by(mine), text)
	require.NoError(t, err)
	require.True(t, isOld)

	var invalid *storage.InvalidError
	_, _, err = f.readWatch(by(&auth.Caller{OrganizationID: 7, SessionID: 4}), text)
	require.ErrorAs(t, err, &invalid, "of another session")
	body, sum, _ := strings.Cut(text, ".")
	other, _, _ := strings.Cut(f.watchOf(mine, []live.Topic{live.List(live.Tasks)}), ".")
	for name, other := range map[string]*Frame{"the cookie": of("secret"), "none": of(""), "none again": of("")} {
		_, _, err = f.readWatch(by(mine), other.watchOf(mine, []live.Topic{live.List(live.Tasks)}))
		require.ErrorAs(t, err, &invalid, "signed with %s", name)
	}
	now = now.Add(maxSkew + 2*time.Second)
	late := f.watchOf(mine, []live.Topic{live.List(live.Tasks)})
	now = now.Add(-maxSkew - 2*time.Second)
	_, _, err = f.readWatch(by(mine), late)
	require.ErrorAs(t, err, &invalid, "made later than now")
	for _, odd := range []string{"", ".", "x", body, body + ".", "." + sum, other + "." + sum, text + "a", strings.Repeat("a", maxWatch+1)} {
		_, _, err = f.readWatch(by(mine), odd)
		require.ErrorAs(t, err, &invalid, "%.80q", odd)
	}
	_, _, err = f.readWatch(by(mine), f.watchOf(mine, []live.Topic{live.Of(live.Task, "no id")}))
	require.ErrorAs(t, err, &invalid, "one that would fail for all")

	require.Empty(t, f.watchOf(mine, nil), "a page that shows nothing that changes")
	require.Empty(t, f.watchOf(&auth.Caller{OrganizationID: 7}, []live.Topic{live.List(live.Tasks)}), "no session")
	var many []live.Topic
	for range 10 * maxTopics {
		many = append(many, live.Of(live.Generation, uuid.NewString()))
	}
	text = f.watchOf(mine, many)
	require.Less(t, len(text), maxWatch)
	topics, _, err = f.readWatch(by(mine), text)
	require.NoError(t, err)
	require.Len(t, topics, maxTopics+1)

	doc, err := json.Marshal(watch{Topics: slices.Repeat([][2]string{{string(live.Tasks), ""}}, maxTopics+1), Made: now.Unix(), Session: 3})
	require.NoError(t, err)
	_, _, err = f.readWatch(by(mine), base64.RawURLEncoding.EncodeToString(doc)+"."+
		base64.RawURLEncoding.EncodeToString(signature(f.watchKey, doc)))
	require.ErrorAs(t, err, &invalid, "more than a page shows")
}

func TestSessionWaits(t *testing.T) {
	t.Parallel()
	var w sessionWaits
	for i := range maxSessionWaits {
		require.True(t, w.enter(1), fmt.Sprint(i))
	}
	require.False(t, w.enter(1))
	require.True(t, w.enter(2), "another session")
	w.leave(1)
	require.True(t, w.enter(1))
	w.leave(2)
	require.Len(t, w.bySession, 1)
}
