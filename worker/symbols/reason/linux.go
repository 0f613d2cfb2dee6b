package reason

// maxProcessID is above the largest process id of Linux (PID_MAX_LIMIT).
const maxProcessID = 4 << 20

// hasLinuxAddress reports whether the address is one of memory. Of SI_KERNEL (a general protection
// fault) the kernel does not know it, and where a process sent the signal its id and user stand in
// the place. A code of 0 says that a process sent it, or that the program that wrote the dump kept
// no codes, as Breakpad's did for years: then the address is kept of signals that faults raise,
// unless it looks like an id below a user.
func (e Exception) hasLinuxAddress() bool {
	switch code := int32(e.Flags); {
	case code < 0, code == 0x80:
		return false
	case code > 0:
		return true
	}
	switch e.Code {
	case 4, 5, 7, 8, 11: // SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV
		user, process := e.Address>>32, e.Address&0xffffffff
		// Addresses of programs of 64 bits have more in the upper half than users have: those begin
		// at 1000 (10000 on Android), and the lowest mappings of programs at 0x5500.
		return user == 0 || user >= 0x5500 && user < 0x8000 || process == 0 || process >= maxProcessID
	}
	return false
}
