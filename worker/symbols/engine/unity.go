package engine

import (
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/worker/symbols/dump"
)

// unityLog is what a log of Unity says of the crash at its end.
type unityLog struct {
	version, reason, message string
	places                   []place
	modules                  []place // start, and the end as the address
}

const (
	// beginStack and endStack stand around the stack; older versions have one T.
	beginStack      = "========== OUTPUTTING STACK TRACE"
	beginStackOlder = "========== OUTPUTING STACK TRACE"
	endStack        = "========== END OF STACKTRACE"
)

// maxLine bounds a line that is looked at.
const maxLine = 4 << 10

// parseUnity reads a log of Unity's player and crash handler.
//
//	Initialize engine version: 2022.3.35f1 (011206c7a712)
//	UnityPlayer.dll caused an Access Violation (0xc0000005)
//	C:\shop\UnityPlayer.dll:UnityPlayer.dll (00007FFB3B000000), size: 30056448 (result: 0), SymType: ...
//	========== OUTPUTTING STACK TRACE ==================
//	0x00007FFB3BEC7265 (UnityPlayer) [D:\shop\cart.cpp:529] Cart::Pay
//	0x0000000011F88AAD (Mono JIT Code) Shop.Cart:Pay ()
func parseUnity(text string) (u unityLog) {
	within, over := false, false
	for line := range strings.Lines(text) {
		if len(line) > maxLine {
			continue
		}
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, beginStack), strings.HasPrefix(line, beginStackOlder):
			within = !over // the first one: a second is of whoever wrote the first
			continue
		case strings.HasPrefix(line, endStack):
			over, within = over || within, false
			continue
		}
		if within {
			if p, ok := unityFrame(line); ok && len(u.places) < maxFrames {
				u.places = append(u.places, p)
				continue
			}
		}
		u.line(line)
	}
	return u
}

// line reads a line outside of the stack.
func (u *unityLog) line(line string) {
	if m, ok := unityModule(line); ok {
		if len(u.modules) < maxModules {
			u.modules = append(u.modules, m)
		}
		return
	}
	if _, rest, found := strings.Cut(line, "Initialize engine version: "); found {
		u.version, _, _ = strings.Cut(rest, " ")
	} else if _, rest, found := strings.Cut(line, "[version: Unity "); found {
		u.version, _, _ = strings.Cut(rest, "_")
		u.version = strings.TrimSuffix(u.version, "]")
	}
	if who, what, found := strings.Cut(line, " caused an "); found && u.reason == "" && strings.HasSuffix(what, ")") {
		what, _, _ = strings.Cut(what, " (0x")
		u.reason, u.message = plain(what, 200), plain(first(who, "Unknown")+" caused an "+what, 1000)
	}
}

// unityFrame reads a line of the stack.
func unityFrame(line string) (p place, ok bool) {
	digits, found := strings.CutPrefix(line, "0x")
	digits, rest, cut := strings.Cut(digits, " ")
	address, err := strconv.ParseUint(digits, 16, 64)
	if !found || !cut || err != nil || !strings.HasPrefix(rest, "(") {
		return p, false
	}
	p.address = address
	module, function, closed := strings.Cut(rest[1:], ")")
	if !closed {
		return p, false
	}
	p.module = plain(module, 255)
	function = strings.TrimSpace(function)
	if strings.HasPrefix(function, "[") { // the file
		if _, after, found := strings.Cut(function, "] "); found {
			function = after
		}
	}
	if function == "(function-name not available)" {
		function = ""
	}
	p.function = plain(strings.TrimSpace(function), 1000)
	return p, true
}

// unityModule reads a line of the list of modules.
func unityModule(line string) (m place, ok bool) {
	name, rest, found := strings.Cut(line, "), size: ")
	open := strings.LastIndex(name, " (")
	if !found || open < 0 {
		return m, false
	}
	start, err := strconv.ParseUint(name[open+2:], 16, 64)
	digits, _, _ := strings.Cut(rest, " ")
	size, wrong := strconv.ParseUint(strings.TrimSuffix(digits, ","), 10, 32)
	if err != nil || wrong != nil || start == 0 || start+size < start {
		return m, false
	}
	file := name[:open]
	if i := strings.LastIndexByte(file, ':'); i > 2 {
		file = file[:i] // the path; behind it stands the name again
	}
	return place{module: plain(file, 1000), start: start, address: start + size}, true
}

// applyLogs adds to a dump what Unity's logs say; without a minidump they are the dump.
func (p *parts) applyLogs(d *dump.Dump) {
	var found unityLog
	for _, l := range p.logs {
		u := parseUnity(plain(string(l.tail), maxCrashLog))
		found.version, found.reason, found.message = first(found.version, u.version), first(found.reason, u.reason),
			first(found.message, u.message)
		if len(found.places) == 0 {
			found.places, found.modules = u.places, u.modules
		}
	}
	if len(d.Threads) == 0 {
		s := newStacks(d)
		for _, m := range found.modules {
			s.module(m.module, m.start, m.address-m.start)
		}
		s.thread("0", "", found.places, nil, true)
		s.finish()
	} else if len(found.places) > 0 {
		d.Annotations["CallStack"] = found.text()
	}
	if d.Reason == nil {
		d.Reason = &dump.Reason{Name: first(found.reason, "Crash")}
	}
	d.Reason.Message = first(d.Reason.Message, found.message)
	d.Set("unity.version", plain(found.version, 100))
}

// text is the stack as the crash handler wrote it, which knows the names of managed code.
func (u *unityLog) text() string {
	var b strings.Builder
	for _, p := range u.places {
		if b.Len() > maxTail {
			break
		}
		b.WriteString("0x" + strconv.FormatUint(p.address, 16) + " (" + p.module + ") " + p.function + "\n")
	}
	return b.String()
}
