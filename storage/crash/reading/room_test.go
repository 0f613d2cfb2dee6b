package reading_test

import (
	"testing"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/crashtest"
)

// room is the fixture of the tests here.
type room struct{ *crashtest.Room }

func open(t *testing.T) *room {
	t.Helper()
	return &room{crashtest.Open(t)}
}
