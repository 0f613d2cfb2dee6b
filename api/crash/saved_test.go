package crash

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSavedQuery(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{"": "", "?state=open&page=3&per_page=7&sort=count": "sort=count&state=open",
		"assignee=me,none&attribute.user.id=a%26b": "assignee=me%2Cnone&attribute.user.id=a%26b", "state[]=open": "state%5B%5D=open"} {
		got, err := checkSavedQuery(query, 1)
		require.NoError(t, err, query)
		require.Equal(t, want, got)
	}
	for _, query := range []string{"state=broken", "colour=red", "from=then", "%zz", "dry_run=1", "regressed_from=x",
		strings.Repeat("a", 9000)} {
		_, err := checkSavedQuery(query, 1)
		require.ErrorContains(t, err, "query", query)
	}
}
