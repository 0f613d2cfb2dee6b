package authoring_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHistoryRoutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCase(w.member, "case", nil)
	suite := w.newSuite(w.member, "suite", id)
	got := w.ok(w.member, 200, "GET", "/testcases/history?ids="+id+","+strings.ToUpper(id), "")
	require.Equal(t, []any{tree{"id": id, "runs": []any{}}}, got["items"], "each once")
	got = w.ok(w.member, 200, "GET", "/testsuites/"+suite+"/matrix", "")
	require.Equal(t, []any{}, got["runs"])
	require.Len(t, got["items"], 1)
	for path, text := range map[string]string{
		"/testcases/history?ids=1":                   "ids",
		"/testcases/history?ids=" + manyIDs(101):     "ids",
		"/testsuites/history?ids=null":               "ids",
		"/testsuites/" + suite + "/matrix?runs=many": "runs",
		"/runs?status=odd":                           "status",
		"/testcases/generate?status=RUNNING":         "status",
		"/testcases?lastStatus=odd":                  "lastStatus",
		"/testcases?content=ab":                      "content",
		"/testcases?sort=name":                       "sort",
		"/testcases?tag=" + strings.Repeat("x", 256): "tag",
	} {
		w.refused(w.member, 400, "INVALID_QUERY", "GET", path, "", text)
	}
}

// manyIDs are ids of cases.
func manyIDs(n int) string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = strings.Repeat("0", 21) + string(rune('0'+i/100)) + string(rune('0'+i/10%10)) + string(rune('0'+i%10))
	}
	return strings.Join(ids, ",")
}
