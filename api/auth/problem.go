package auth

import (
	"net/http"

	"github.com/slipway-qa/slipway/api/respond"
)

// legacyTester is the code of v1, v2 and upload for a caller who is a tester.
const legacyTester = 133

// errNone is for a request without credentials.
var errNone error = &respond.Problem{Status: http.StatusUnauthorized, Text: "authentication is required"}

func problemInvalid(text string, err error) error {
	return &respond.Problem{Status: http.StatusUnauthorized, Text: text, Err: err}
}

func problemTester() error {
	return &respond.Problem{Status: http.StatusForbidden, Legacy: legacyTester,
		Text: "a tester has no access to this interface"}
}

func problemForbidden(text string) error {
	return &respond.Problem{Status: http.StatusForbidden, Text: text}
}
