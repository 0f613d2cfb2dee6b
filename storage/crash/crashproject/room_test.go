package crashproject_test

import (
	"os"
	"testing"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/crashtest"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

// room is the fixture of the tests here.
type room struct{ *crashtest.Room }

func open(t *testing.T) *room {
	t.Helper()
	return &room{crashtest.Open(t)}
}
