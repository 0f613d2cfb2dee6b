package reading_test

import (
	"os"
	"testing"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

func open(t *testing.T) *fixture.Tests { return fixture.NewTests(t) }
