package gatechange

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/commitstatus"
	"github.com/slipway-qa/slipway/storage/gate"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/letter"
	"github.com/slipway-qa/slipway/tasks/link"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

// What follows a change: who is told, what is sent to testers, and what stands at the commit.
func TestFollow(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	links := link.New("https://qa.example.com")
	follower := &Follower{Letters: letter.New(letter.Config{Links: links}), Links: links}
	u := w.NewUpload(fixture.APK("com.example.shop", "1.0", "1"))
	u.Metadata = map[string]string{"commit": strings.Repeat("0a", 20)}
	up := w.Upload(u)
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := commitstatus.Save(ctx, tx, w.Org.Owner.Writer, commitstatus.Setting{ProjectID: up.Project.ID, Provider: commitstatus.GitHub,
			URL: "https://api.github.com", Repository: "acme/app", Token: []byte("sealed")})
		return err
	})
	held, nobody := &gate.Held{UserID: w.Org.Member.ID, RequestID: "request-1"}, &gate.Held{}
	for _, c := range []struct {
		name     string
		change   gate.Change
		released bool
		mail     string // what it says; "": none is written
		status   commitstatus.State
		text     string
	}{
		{"passes", gate.Change{From: gate.Unknown, To: gate.Pass}, false, "", commitstatus.Pass, "The gate is open"},
		{"fails", gate.Change{From: gate.Pass, To: gate.Fail, Reason: "Size: too large"}, false, "", commitstatus.Fail,
			"The gate is closed: Size: too large"},
		{"fails, held", gate.Change{From: gate.Unknown, To: gate.Fail, Reason: "Size: too large", Held: held}, false,
			"Size: too large", commitstatus.Fail, "The gate is closed: Size: too large"},
		{"fails, nobody asked", gate.Change{From: gate.Unknown, To: gate.Fail, Reason: "no", Held: nobody}, false, "",
			commitstatus.Fail, "The gate is closed: no"},
		{"is unknown again", gate.Change{From: gate.Fail, To: gate.Unknown, Reason: "Smoke: it runs", Held: held}, false,
			"", commitstatus.Pending, "The gate is unknown: Smoke: it runs"},
		{"is stuck", gate.Change{From: gate.Unknown, To: gate.Unknown,
			Reason: "Smoke: the organization's quota runs_per_day is used up", Held: held, Stuck: true}, false,
			"quota runs_per_day is used up", "", ""},
		{"is released", gate.Change{From: gate.Fail, To: gate.Pass, Held: held, Released: true}, true, "", commitstatus.Pass, "The gate is open"},
		{"is released by no policy", gate.Change{From: gate.Unknown, To: gate.Unknown, Held: held, Released: true}, true, "", "", ""},
	} {
		w.Exec(`delete from mails`)
		w.Exec(`delete from tasks`)
		w.Exec(`delete from commit_statuses`)
		audited := w.Audited(account.TestersNotified)
		c.change.OrganizationID, c.change.ProjectID, c.change.BuildID = w.Org.ID, up.Project.ID, up.Build.ID
		c.change.AppName, c.change.Version, c.change.VersionCode = "Shop", "1.0", "1"
		w.Must(func(ctx context.Context, tx *storage.Tx) error {
			return follower.Follow(ctx, tx, []gate.Change{c.change})
		})

		notified := w.Count(`select count(*) from tasks where kind = $1 and (payload ->> 'build_id')::bigint = $2 and request_id = 'request-1'`,
			tasks.BuildNotify.Name, up.Build.ID)
		require.Equal(t, map[bool]int{true: 1}[c.released], notified, c.name)
		require.Equal(t, notified, w.Audited(account.TestersNotified)-audited, c.name)
		require.Equal(t, map[bool]int{true: 1}[c.mail != ""], w.Count(`select count(*) from mails`), c.name)
		if c.mail != "" {
			require.Equal(t, 1, w.Count(`select count(*) from mails where kind = 'gate-failed' and user_id = $1 and position($2 in text_body) > 0
				and (text_body like '%Nothing that is under way decides the gate%') = $3`, w.Org.Member.ID, c.mail, c.change.Stuck), c.name)
		}
		require.Equal(t, map[bool]int{true: 1}[c.status != ""], w.Count(`select count(*) from tasks where kind = $1`,
			commitstatus.TaskKind), c.name)
		if c.status != "" {
			require.Equal(t, 1, w.Count(`select count(*) from commit_statuses where state = $1 and description = $2`, c.status, c.text), c.name)
		}
	}
}

// The statuses of a round are set at once, in the order of their builds.
func TestStatusesOfRound(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	follower := &Follower{Letters: letter.New(letter.Config{}), Links: link.New("https://qa.example.com")}
	var changes []gate.Change
	var project int64
	for i, code := range []string{"1", "2", "3"} {
		u := w.NewUpload(fixture.APK("com.example.shop", "1."+code, code))
		u.Metadata = map[string]string{"commit": strings.Repeat("0"+code, 20)}
		up := w.Upload(u)
		project = up.Project.ID
		changes = append([]gate.Change{{OrganizationID: w.Org.ID, ProjectID: project, BuildID: up.Build.ID, From: gate.Unknown,
			To: []gate.State{gate.Pass, gate.Fail, gate.Pass}[i]}}, changes...)
	}
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := commitstatus.Save(ctx, tx, w.Org.Owner.Writer, commitstatus.Setting{ProjectID: project, Provider: commitstatus.GitHub,
			URL: "https://api.github.com", Repository: "acme/app", Token: []byte("sealed")})
		return err
	})
	w.Must(func(ctx context.Context, tx *storage.Tx) error { return follower.Follow(ctx, tx, changes) })
	var builds []int64
	require.NoError(t, w.DB.SelectContext(t.Context(), &builds,
		`select (payload ->> 'build_id')::bigint from tasks where kind = $1 order by id`, commitstatus.TaskKind))
	require.Equal(t, []int64{changes[2].BuildID, changes[1].BuildID, changes[0].BuildID}, builds)
	require.Equal(t, 1, w.Count(`select count(distinct xmin::text || cmin::text) from commit_statuses`), "one statement")
}
