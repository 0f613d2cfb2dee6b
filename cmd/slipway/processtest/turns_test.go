package processtest

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRunsOfOneOrganizationDoNotHoldAnothers queues twenty tests of ten minutes in one
// organization, whose number is ten times that of the slots: a short test of another one
// passes meanwhile.
func TestRunsOfOneOrganizationDoNotHoldAnothers(t *testing.T) {
	t.Parallel()
	in := startUp(t, t.TempDir())
	variables := in.variables(t)
	answer(t, variables, new(json.RawMessage), "admin", "org", "create", "second")
	var key json.RawMessage
	var user struct {
		User struct{ Username string }
	}
	answer(t, variables, &user, "admin", "user", "create", "second", "bob@example.com", "--role", "owner")
	answer(t, variables, &key, "admin", "key", "create", "second", "bob@example.com", "--kind", "access")
	site := newSite(t)
	first := &runStory{tester: newTester(in), t: t, in: in, site: site}
	second := &runStory{tester: tester{base: in.base, user: user.User.Username, key: secretIn(t, key)}, t: t, in: in, site: site}

	long := first.add("Long", []obj{openPage(site.URL + "/"), {"tool": obj{"type": "pause", "args": obj{"time": 600_000}}}}, nil).ID
	short := second.add("Short", []obj{openPage(site.URL + "/"), openPage(site.URL + "/")}, nil).ID
	var runs []string
	for range 20 {
		var r ran
		first.ok(t, http.StatusOK, http.MethodPost, "/testcases/"+long+"/run", nil, &r)
		runs = append(runs, r.ID)
	}
	running := func() (n int) {
		for _, id := range runs {
			var r ran
			if first.ok(t, http.StatusOK, http.MethodGet, "/testcases/"+long+"/runs/"+id, nil, &r); r.Status == "RUNNING" {
				n++
			}
		}
		return n
	}
	eventually(t, "every slot is taken", func() bool { return running() == 2 })
	var r ran
	second.ok(t, http.StatusOK, http.MethodPost, "/testcases/"+short+"/run", nil, &r)
	r = second.wait("/testcases/" + short + "/runs/" + r.ID)
	require.Equal(t, "PASSED", r.Status, "%+v", r)
	require.Equal(t, 2, running(), "the long ones go on")
}
