package child

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_X86_64
	// foreignCalls begin the numbers of the x32 interface, which mean the same calls.
	foreignCalls = 0x40000000
)

// legacyCalls and legacyFiles are the forms of forbidden calls that younger architectures
// lack.
var (
	legacyCalls = []uint32{unix.SYS_KEXEC_FILE_LOAD}
	legacyFiles = []uint32{unix.SYS_OPEN, unix.SYS_CREAT, unix.SYS_UNLINK, unix.SYS_RENAME, unix.SYS_MKDIR, unix.SYS_RMDIR,
		unix.SYS_LINK, unix.SYS_SYMLINK, unix.SYS_MKNOD, unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_READLINK,
		unix.SYS_UTIMES, unix.SYS_UTIME}
)
