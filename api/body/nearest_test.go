package body_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/storage"
)

// A member that was misspelt is refused with the one that was meant.
func TestNearestMember(t *testing.T) {
	t.Parallel()
	type change struct {
		State        string `json:"state"`
		UntilCount   *int64 `json:"until_count"`
		UntilVersion string `json:"until_version"`
		InVersion    string `json:"in_version"`
		IssueURL     string `json:"issue_url"`
	}
	for name, meant := range map[string]string{
		"until_cuont": "until_count", "untilCuont": "until_count", "untilCounts": "until_count", "until-count": "until_count",
		"stat": "state", "issueUrls": "issue_url", "inversion1": "in_version", "sattes": "state",
		"colour": "", "": "", "x": "", "u": "", strings.Repeat("s", 100_000): "", "until": "",
	} {
		var invalid *storage.InvalidError
		var got change
		err := read(t, "application/json", `{"`+name+`":1}`, &got)
		require.Truef(t, errors.As(err, &invalid), "%s: %v", name, err)
		require.Contains(t, invalid.Msg, "is unknown here: there are state, until_count")
		if meant == "" {
			require.NotContains(t, invalid.Msg, "meant", name)
			continue
		}
		require.Contains(t, invalid.Msg, "was "+meant+" meant?", name)
		err = read(t, body.TypeForm, strings.ReplaceAll(name, " ", "+")+"=1", &got)
		require.ErrorContains(t, err, "was "+meant+" meant?", name)
	}
}
