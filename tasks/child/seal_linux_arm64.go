package child

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_AARCH64
	// foreignCalls: no number is as large.
	foreignCalls = 0x40000000
)

// legacyCalls and legacyFiles are forms of forbidden calls that this architecture lacks.
var legacyCalls, legacyFiles []uint32
