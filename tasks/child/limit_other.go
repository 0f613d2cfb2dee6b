//go:build !linux

package child

import (
	"syscall"
	"time"
)

// attributes of a child: a session of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// setLimits does nothing: see the package.
func setLimits(Limits) error { return nil }

// allowCPU does nothing: see the package.
func allowCPU(time.Duration) error { return nil }

// lowerPriority does nothing: see the package.
func lowerPriority() {}

// usedCPU is not known: see the package.
func usedCPU() time.Duration { return 0 }
