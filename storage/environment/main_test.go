package environment_test

import (
	"os"
	"testing"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

// room is the fixture with what the tests of this package do to it.
type room struct{ *fixture.Tests }

func open(t *testing.T) *room { return &room{fixture.NewTests(t)} }
