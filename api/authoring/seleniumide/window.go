package seleniumide

import (
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

// windows numbers the windows of a test in the order of their opening, as
// switch_window does.
type windows struct {
	numbers map[string]int // by the variable with the handle
	count   int
	current int
}

func newWindows() windows { return windows{numbers: map[string]int{}, count: 1} }

func (w *windows) open(name string) {
	if name != "" {
		w.numbers[name] = w.count
	}
	w.count++
}

func (r *reader) storeWindow(c *command) error {
	name := strings.TrimSpace(c.Target)
	if name == "" {
		return invalid(c.path+".target", "is missing")
	}
	if r.windows.current < 0 {
		return invalid(c.path+".command", "storeWindowHandle cannot follow a window that was selected by its title")
	}
	r.windows.numbers[name] = r.windows.current
	return nil
}

// selectWindow takes handle=${NAME} of a window that a click opened or that
// storeWindowHandle named, and title= and win_ser_N of older recorders. It leaves
// the frames, as browsers do.
func (r *reader) selectWindow(c *command) error {
	target, path := strings.TrimSpace(c.Target), c.path+".target"
	if title, ok := strings.CutPrefix(target, "title="); ok {
		title, err := r.text(path, title)
		if err != nil {
			return err
		}
		r.windows.current, r.frames = -1, nil
		r.add(c, switchWindow(step.WindowTitle, title), false)
		return nil
	}
	number, ok := r.windows.number(strings.TrimPrefix(target, "handle="))
	if !ok {
		return invalid(path, "must be handle=${NAME} of a window that a command before opened or stored")
	}
	r.windows.current, r.frames = number, nil
	r.add(c, switchWindow(step.WindowIndex, strconv.Itoa(number)), false)
	return nil
}

// number returns the number of a window that a handle names.
func (w *windows) number(handle string) (int, bool) {
	if name, ok := strings.CutPrefix(handle, "win_ser_"); ok {
		if name == "local" {
			return 0, true
		}
		n, err := strconv.Atoi(name)
		return n, err == nil && n > 0 && n < step.MaxSteps
	}
	name := variable.FindStringSubmatch(handle)
	if name == nil || name[0] != handle {
		return 0, false
	}
	number, ok := w.numbers[name[1]]
	return number, ok
}

func switchWindow(name, value string) step.Tool {
	return step.Tool{Type: step.SwitchWindow, Args: step.Args{Matcher: &step.Matcher{Name: name, Args: step.MatcherArgs{Value: value}}}}
}
