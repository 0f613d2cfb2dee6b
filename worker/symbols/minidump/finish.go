package minidump

import (
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/worker/symbols/dump"
)

// finish fills in what follows from several streams.
func (x *reader) finish() {
	d := x.d
	p := &d.Process
	p.Path = x.main
	if x.main != "" {
		p.Name = base(x.main)
	}
	if d.System.OS == dump.Linux || d.System.OS == dump.Android {
		x.linuxVersion()
	}
	for i := range d.Threads {
		// Two threads of one id cannot be told apart in a report.
		d.Threads[i].Name = strings.ToValidUTF8(d.Threads[i].Name, "\uFFFD")
	}
	if d.Reason != nil && d.Main >= 0 && d.Threads[d.Main].Registers == nil {
		x.warn("the thread that crashed has no registers: it is not walked")
	}
	if len(d.Modules) == 0 {
		x.warn("the dump has no list of modules")
	}
	if len(d.Memory) == 0 {
		x.warn("the dump has no memory: only the first frame of each thread is known")
	}
}

// linuxVersion takes the kernel's version from uname's text, when the numbers are zero:
// "Linux 6.1.0 #1 SMP ... x86_64", or "0.0.0 Linux 6.1.0 ...".
func (x *reader) linuxVersion() {
	s := &x.d.System
	words := strings.Fields(s.Build)
	if s.Version != "" || len(words) < 2 {
		return
	}
	if strings.EqualFold(words[0], "Linux") {
		s.Version = words[1]
	}
	if s.Version == "" {
		s.Version = fmt.Sprintf("%.60s", words[0])
	}
}
