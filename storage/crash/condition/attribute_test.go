package condition_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/crashtest"
	"github.com/slipway-qa/slipway/storage/crash/condition"
	"github.com/slipway-qa/slipway/storage/report"
)

func TestAttributeFilter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		attributes, value string
		want              bool
	}{
		{`"k":"v"`, "v", true}, {`"k":"v"`, "V", false}, {`"other":"v"`, "v", false}, {`"k":null`, "", false},
		{`"k":""`, "", true}, {`"k":42`, "42", true}, {`"k":42`, "42.0", true}, {`"k":"42"`, "42.0", false},
		{`"k":1e2`, "100", true}, {`"k":true`, "true", true}, {`"k":1e400000000`, "1e400000000", true},
		{`"k":9007199254740993`, "9007199254740992", false},
	} {
		doc := strings.Replace(crashtest.Document(uuid.New(), "m"), `"n":7`, c.attributes, 1)
		r, err := report.Parse([]byte(doc))
		require.NoError(t, err, doc)
		require.Equal(t, c.want, condition.Attribute{Key: "k", Value: c.value}.Matches(r), c)
	}
	for _, bad := range []condition.Attribute{{}, {Key: strings.Repeat("k", 256)}, {Key: "k", Value: strings.Repeat("v", 4097)},
		{Key: "k\x00"}, {Key: "k", Value: "\xff"}} {
		require.Error(t, bad.Validate())
	}
}
