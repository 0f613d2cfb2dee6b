package crash

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBreadcrumbs(t *testing.T) {
	t.Parallel()
	crashed := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
	at := crashed.Unix()
	for what, c := range map[string]struct{ document, want string }{
		"in the report": {fmt.Sprintf(`{"breadcrumbs":[{"timestamp":%d,"type":"click","level":"info","message":"Pay"}]}`, at-2), "-2000 click info Pay"},
		"in annotations, by time": {fmt.Sprintf(`{"annotations":{"Breadcrumbs":{"values":[{"time":%d,"category":"b","text":"2"},
			{"time":"2026-11-02T09:59:00Z","category":"a","name":"1"}]}}}`, (at-1)*1000), "-60000 a  1|-1000 b  2"},
		"without a time":   {`{"breadcrumbs":[{"message":"x"},{"timestamp":-5,"message":"y"},{"timestamp":1e300,"message":"z"}]}`, "?   x|?   y|?   z"},
		"of another shape": {`{"breadcrumbs":"none","annotations":{"breadcrumbs":[1,2],"breadcrumb":{"values":7}}}`, ""},
		"no document":      {`{"breadcrumbs":[`, ""},
	} {
		steps, omitted := breadcrumbsOf([]byte(c.document), &crashed)
		var got []string
		for _, s := range steps {
			offset := "?"
			if s.OffsetMS != nil {
				offset = fmt.Sprint(*s.OffsetMS)
			}
			got = append(got, offset+" "+s.Type+" "+s.Level+" "+s.Message)
		}
		require.Equal(t, c.want, strings.Join(got, "|"), what)
		require.Zero(t, omitted, what)
	}
	many := `{"breadcrumbs":[` + strings.Repeat(`{"message":"`+strings.Repeat("x", 2000)+`"},`, 149) + `{"message":"last"}]}`
	steps, omitted := breadcrumbsOf([]byte(many), nil)
	require.Len(t, steps, maxBreadcrumbs)
	require.Equal(t, 50, omitted)
	require.Equal(t, "last", steps[99].Message)
	require.Len(t, steps[0].Message, maxBreadcrumbText)
}

func TestOwnFrames(t *testing.T) {
	t.Parallel()
	threads := []threadView{{Main: true, Frames: []frameView{{Function: "raise"}, {Function: "pay"}, {Function: "unseen"}, {Function: "get"}, {Function: "pay"}}},
		{Frames: []frameView{{Function: "pay"}}}}
	markOwn(threads, []byte(`{"frames":[{"function":"raise","rules":["error-frame"]},{"function":"pay","kept":true},
		{"function":"get","rules":["system-frame"]},{"function":"pay","rules":["recursion"]}]}`))
	text, err := json.Marshal(threads)
	require.NoError(t, err)
	var got []any
	var views []struct{ Frames []map[string]any }
	require.NoError(t, json.Unmarshal(text, &views))
	for _, f := range views[0].Frames {
		got = append(got, f["own"])
	}
	require.Equal(t, []any{false, true, nil, false, true}, got)
	require.NotContains(t, views[1].Frames[0], "own")
	markOwn(threads, []byte(`{`))
	markOwn(threads, nil)
}

func TestSavedQuery(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{"": "", "?state=open&page=3&per_page=7&sort=count": "sort=count&state=open",
		"assignee=me,none&attribute.user.id=a%26b": "assignee=me%2Cnone&attribute.user.id=a%26b", "state[]=open": "state%5B%5D=open"} {
		got, err := checkSavedQuery(query, 1)
		require.NoError(t, err, query)
		require.Equal(t, want, got)
	}
	for _, query := range []string{"state=broken", "colour=red", "from=then", "%zz", "dry_run=1", "regressed_from=x", strings.Repeat("a", 9000)} {
		_, err := checkSavedQuery(query, 1)
		require.ErrorContains(t, err, "query", query)
	}
}
