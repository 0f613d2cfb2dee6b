package installpage_test

import (
	"os"
	"testing"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }
