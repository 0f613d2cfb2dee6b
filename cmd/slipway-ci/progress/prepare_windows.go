package progress

import (
	"os"

	"golang.org/x/sys/windows"
)

// prepare has a console of Windows understand escape sequences, which it does not by itself.
func prepare(file *os.File) bool {
	handle := windows.Handle(file.Fd())
	var mode uint32
	if windows.GetConsoleMode(handle, &mode) != nil {
		return false
	}
	return windows.SetConsoleMode(handle, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
