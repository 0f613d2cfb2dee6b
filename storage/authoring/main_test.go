package authoring_test

import (
	"os"
	"testing"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

// world is the fixture with what the tests of this package do to it.
type world struct{ *fixture.World }

func newWorld(t *testing.T) *world { return &world{fixture.New(t)} }
