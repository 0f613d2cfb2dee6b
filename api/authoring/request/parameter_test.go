package request

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/respond"
)

// requireRefusal: what strangers send is either taken or refused with a 4xx that
// says why.
func requireRefusal(t *testing.T, err error) {
	t.Helper()
	p := respond.Explain(problem.Coded(err, problem.TestCase))
	if p.Status >= http.StatusInternalServerError || p.Text == "" {
		t.Fatalf("answered with %d %q: %v", p.Status, p.Text, err)
	}
}

func FuzzQuery(f *testing.F) {
	f.Add("search=a&skip=1&limit=2&startDate=2026-01-01&userId=01890000-0000-7000-8000-000000000000&testSuiteId=null")
	f.Add("limit=1e9&endDate=%ff&testSuiteId[]=,,")
	f.Fuzz(func(t *testing.T, text string) {
		values, _ := url.ParseQuery(text)
		q := &Query{Values: values}
		page, search := q.Page(), q.Search()
		q.Dates()
		q.UUID("userId")
		q.UUIDsOrNull("testSuiteId")
		q.UUIDs("ids")
		if q.Err != nil {
			requireRefusal(t, q.Err)
			return
		}
		if page.Offset < 0 || page.Offset > maxSkip || page.Limit < 0 || page.Limit > MaxLimit || strings.IndexByte(search, 0) >= 0 {
			t.Fatalf("%q gives %+v %q", text, page, search)
		}
	})
}

func TestHoldsNUL(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`"a"`: false, `"\u0000"`: true, `"\\u0000"`: false, `"\\\u0000"`: true, `"\`: false, `"\u00001"`: true,
		`"\u000a\n\u0000"`: true, `"u0000"`: false, `"\"\u0001"`: false, ``: false,
	} {
		require.Equal(t, want, holdsNUL([]byte(text)), text)
	}
}
