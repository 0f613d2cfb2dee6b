package tier

import (
	"time"

	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/child"
	"github.com/slipway-qa/slipway/worker"
	workbuild "github.com/slipway-qa/slipway/worker/build"
)

const (
	// verifyChildren verify at once: one takes a processor while the file comes.
	verifyChildren = 2
	// verifyMemory suffices for the manifest, a signature file and the directory of the
	// largest packages.
	verifyMemory = 256 << 20
	// verifyCPU is ten times what the digests of 4 GiB take.
	verifyCPU = 2 * time.Minute
	// verifyTime leaves the task some time to record that it was too short.
	verifyTime = 9 * time.Minute
)

// addVerification adds the handler that verifies packages, and returns what stops its
// child processes.
func addVerification(s *Services, handlers map[string]worker.Handler) (stop func(), err error) {
	roots, err := s.Settings.Roots()
	if err != nil {
		return nil, err
	}
	children, err := child.NewPool(child.Config{Children: verifyChildren, Timeout: verifyTime, Log: s.Log,
		Limits: child.Limits{Memory: verifyMemory, CPU: verifyCPU, Sealed: true}})
	if err != nil {
		return nil, err
	}
	handlers[tasks.BuildVerify.Name] = &workbuild.Verify{DB: s.DB, Objects: s.Objects, Children: children, Roots: roots, Log: s.Log}
	return children.Close, nil
}
