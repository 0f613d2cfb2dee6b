package step_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
)

func TestSurroundings(t *testing.T) {
	t.Parallel()
	long, many := strings.Repeat("x", 1025), `"a"`+strings.Repeat(`,"a"`, 12)
	for text, path := range map[string]string{
		`{"alike":{"count":1}}`: "",
		`{"row":{"kind":"item","texts":["Ada"],"id":"r1"},"headings":["Users"],"containers":[{"role":"form","name":"Log in","id":"f",` +
			`"action":"/login"}],"alike":{"count":3,"position":2,"sameRow":1,"sameContainers":3,"sameTestId":1}}`: "",
		`{"row":{"kind":"` + long + `"}}`:                          "row.kind",
		`{"row":{"id":"` + long + `"}}`:                            "row.id",
		`{"row":{"texts":[` + many + `]}}`:                         "row.texts",
		`{"row":{"texts":["` + long + `"]}}`:                       "row.texts[0]",
		`{"headings":["a","a","a","a","a","a","a"]}`:               "headings",
		`{"headings":["a\u0000"]}`:                                 "headings[0]",
		`{"containers":[{},{},{},{},{},{},{},{},{}]}`:              "containers",
		`{"containers":[{"role":"form","action":"` + long + `"}]}`: "containers[0].action",
		`{"alike":{"count":-1}}`:                                   "alike.count",
		`{"alike":{"sameTestId":100001}}`:                          "alike.sameTestId",
		`{"alike":{"sameId":100001}}`:                              "alike.sameId",
		`{"alike":{"sameHref":-1}}`:                                "alike.sameHref",
	} {
		var f step.Fingerprint
		require.NoError(t, json.Unmarshal([]byte(`{"tag":"a","surroundings":`+text+`}`), &f), text)
		err := step.CheckFingerprint("f", &f)
		if path == "" {
			require.NoError(t, err, text)
			continue
		}
		var invalid *step.InvalidError
		require.ErrorAs(t, err, &invalid, text)
		require.Equal(t, "f.surroundings."+path, invalid.Path)
	}
}
