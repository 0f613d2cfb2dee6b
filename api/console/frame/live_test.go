package frame

import (
	"fmt"
	"net/http"
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
	f := &Frame{cfg: Config{Changes: wait.NewChanges(wait.ChangesConfig{}), Now: func() time.Time { return now }}}
	by := func(secret string) *http.Request {
		c, _ := request("GET", "/console/live", nil)
		c.Request.AddCookie(&http.Cookie{Name: auth.ConsoleCookie(false), Value: secret})
		return c.Request.WithContext(auth.WithCaller(c.Request.Context(), &auth.Caller{OrganizationID: 7, SessionID: 3}, auth.ReadTasks))
	}
	id := uuid.NewString()
	text := f.watchOf(by("mine"), []live.Topic{live.Of(live.Task, id), live.List(live.Tasks)})
	require.NotEmpty(t, text)
	topics, isOld, err := f.readWatch(by("mine"), text)
	require.NoError(t, err)
	require.False(t, isOld)
	require.Equal(t, []live.Topic{{Kind: live.Task, ID: id, OrganizationID: 7}, {Kind: live.Tasks, OrganizationID: 7},
		{Kind: live.Session, ID: "3", OrganizationID: 7}}, topics)
	now = now.Add(watchLife + time.Second)
	_, isOld, err = f.readWatch(by("mine"), text)
	require.NoError(t, err)
	require.True(t, isOld)

	var invalid *storage.InvalidError
	_, _, err = f.readWatch(by("another"), text)
	require.ErrorAs(t, err, &invalid, "of another session")
	body, sum, _ := strings.Cut(text, ".")
	other, _, _ := strings.Cut(f.watchOf(by("mine"), []live.Topic{live.List(live.Tasks)}), ".")
	for _, odd := range []string{"", ".", "x", body, body + ".", "." + sum, other + "." + sum, text + "a", strings.Repeat("a", maxWatch+1)} {
		_, _, err = f.readWatch(by("mine"), odd)
		require.ErrorAs(t, err, &invalid, "%.80q", odd)
	}
	_, _, err = f.readWatch(by("mine"), f.watchOf(by("mine"), []live.Topic{live.Of(live.Task, "no id")}))
	require.ErrorAs(t, err, &invalid, "one that would fail for all")

	require.Empty(t, f.watchOf(by("mine"), nil), "a page that shows nothing that changes")
	c, _ := request("GET", "/console", nil)
	require.Empty(t, f.watchOf(c.Request, []live.Topic{live.List(live.Tasks)}), "nobody is signed in")
	var many []live.Topic
	for range 10 * maxTopics {
		many = append(many, live.Of(live.Generation, uuid.NewString()))
	}
	text = f.watchOf(by("mine"), many)
	require.Less(t, len(text), maxWatch)
	topics, _, err = f.readWatch(by("mine"), text)
	require.NoError(t, err)
	require.Len(t, topics, maxTopics+1)
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
