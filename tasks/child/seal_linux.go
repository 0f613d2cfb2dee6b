//go:build amd64 || arm64

package child

import (
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// forbidden are the calls that no child makes: those that reach the network, start a
// program, or look into other processes. A reader that a file has taken over must not have
// them.
var forbidden = []uint32{
	unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4,
	unix.SYS_SENDTO, unix.SYS_SENDMSG, unix.SYS_SENDMMSG,
	unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV,
	unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_GETFD, unix.SYS_PIDFD_SEND_SIGNAL,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_KEXEC_LOAD,
}

// forbiddenFiles are, for sealed children, the calls that name a file, and signals to other
// processes.
var forbiddenFiles = []uint32{
	unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT,
	unix.SYS_UNLINKAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_MKDIRAT, unix.SYS_LINKAT, unix.SYS_SYMLINKAT,
	unix.SYS_MKNODAT, unix.SYS_FCHMODAT, unix.SYS_FCHOWNAT, unix.SYS_TRUNCATE, unix.SYS_READLINKAT, unix.SYS_UTIMENSAT,
	unix.SYS_CHDIR, unix.SYS_FCHDIR, unix.SYS_KILL, unix.SYS_TKILL,
}

// Offsets in struct seccomp_data (linux/seccomp.h).
const (
	dataNumber = 0
	dataArch   = 4
)

// seal installs a filter of system calls for all threads: what it forbids fails with EPERM.
// A kernel without such filters, or a container that forbids them, leaves the process as it
// is: its other limits hold, and it is as able as its parent.
func seal(files bool) {
	// The privilege and the filter belong to a thread; the filter then goes to all.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return
	}
	calls := slices.Concat(forbidden, legacyCalls)
	if files {
		calls = slices.Concat(calls, forbiddenFiles, legacyFiles)
	}
	program := filter(calls)
	_, _, _ = unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]})))
	runtime.KeepAlive(program)
}

// filter returns the program that refuses the calls, and all of another architecture, whose
// numbers mean something else.
func filter(calls []uint32) []unix.SockFilter {
	const (
		load    = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal   = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		atLeast = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		ret     = unix.BPF_RET | unix.BPF_K
	)
	refuse := unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)}
	program := []unix.SockFilter{
		{Code: load, K: dataArch},
		{Code: equal, K: auditArch, Jt: 1},
		refuse,
		{Code: load, K: dataNumber},
		{Code: atLeast, K: foreignCalls, Jf: 1},
		refuse,
	}
	for _, number := range calls {
		program = append(program, unix.SockFilter{Code: equal, K: number, Jf: 1}, refuse)
	}
	return append(program, unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW})
}
