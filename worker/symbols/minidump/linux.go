package minidump

import (
	"bufio"
	"bytes"
	"sort"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/worker/symbols/dump"
)

// linuxTexts reads the copies of files of /proc that Breakpad adds.
func (x *reader) linuxTexts() {
	if b, ok := x.stream(streamLinuxCmdLine, 1, maxText); ok {
		x.annotate("Command Line", words(b, " "))
	}
	if b, ok := x.stream(streamLinuxEnviron, 1, maxText); ok {
		x.environment(b)
	}
	if b, ok := x.stream(streamLinuxLSBRelease, 1, maxText); ok {
		for key, value := range fields(b, "=") {
			if key == "DISTRIB_DESCRIPTION" || key == "PRETTY_NAME" {
				x.d.Set("lsb.description", value)
			}
		}
	}
	if b, ok := x.stream(streamLinuxCPUInfo, 1, maxText); ok {
		if name := fields(b, ":")["model name"]; name != "" {
			x.d.Set("cpu.brand", name)
		}
	}
	if b, ok := x.stream(streamLinuxStatus, 1, maxText); ok {
		x.status(fields(b, ":"))
	}
	if b, ok := x.stream(streamLinuxMaps, 1, maxText); ok && len(x.d.Modules) == 0 {
		x.maps(b)
	}
}

// words joins what zeros separate.
func words(b []byte, with string) string {
	b = bytes.TrimRight(b, "\x00\n")
	return strings.ToValidUTF8(string(bytes.ReplaceAll(b, []byte{0}, []byte(with))), "\uFFFD")
}

// environment keeps the variables as an object: values of secret names are masked with
// the report.
func (x *reader) environment(b []byte) {
	variables := map[string]string{}
	for _, item := range bytes.Split(b, []byte{0}) {
		name, value, ok := strings.Cut(strings.ToValidUTF8(string(item), "\uFFFD"), "=")
		if ok && name != "" && len(variables) < maxAnnotations {
			variables[name] = value
		}
	}
	if len(variables) > 0 {
		x.d.Annotations["Environment Variables"] = variables
	}
}

// fields reads lines of a name and a value; the first of a name counts.
func fields(b []byte, separator string) map[string]string {
	found := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, maxText+1)
	for lines.Scan() {
		name, value, ok := strings.Cut(lines.Text(), separator)
		name = strings.TrimSpace(name)
		if _, twice := found[name]; ok && !twice {
			found[name] = strings.ToValidUTF8(strings.Trim(strings.TrimSpace(value), `"`), "\uFFFD")
		}
	}
	return found
}

// status takes counters of /proc/PID/status: sizes in bytes.
func (x *reader) status(fields map[string]string) {
	for _, c := range []struct{ field, key string }{
		{"VmPeak", "vm.vma.peak"}, {"VmSize", "vm.vma.size"}, {"VmHWM", "vm.rss.peak"}, {"VmRSS", "vm.rss.size"}, {"VmSwap", "vm.swap.size"},
	} {
		text, kilo := strings.CutSuffix(fields[c.field], " kB")
		if n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 53); err == nil && kilo {
			x.d.Set(c.key, strconv.FormatUint(n<<10, 10))
		}
	}
	if pid, err := strconv.ParseInt(fields["Pid"], 10, 64); err == nil && x.d.Process.ID == 0 {
		x.d.Process.ID = pid
	}
	if x.d.Process.Name == "" {
		x.d.Process.Name = fields["Name"]
	}
}

// maps makes modules of /proc/PID/maps, for a dump without a list of them: a file
// from its first to its last mapping that follow one another. They have no identifiers.
func (x *reader) maps(b []byte) {
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, maxText+1)
	var last *dump.Module
	for lines.Scan() && len(x.d.Modules) < maxModules {
		start, end, name, ok := mapping(lines.Text())
		if !ok || !strings.HasPrefix(name, "/") {
			continue
		}
		if last != nil && last.CodeFile == name && start >= last.Start+last.Size {
			last.Size = end - last.Start
			continue
		}
		x.d.Modules = append(x.d.Modules, dump.Module{Start: start, Size: end - start, CodeFile: name})
		last = &x.d.Modules[len(x.d.Modules)-1]
	}
	if len(x.d.Modules) > 0 {
		x.main = x.d.Modules[0].CodeFile
	}
	x.d.SortModules()
}

// executableMaps takes the mappings of code.
func (x *memoryReader) executableMaps(b []byte) {
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, maxText+1)
	for lines.Scan() && len(x.d.Executable) < maxExecutable {
		start, end, _, ok := mapping(lines.Text() + " ")
		fields := strings.Fields(lines.Text())
		if ok && len(fields) > 1 && strings.Contains(fields[1], "x") {
			x.d.Executable = append(x.d.Executable, dump.Range{Start: start, End: end})
		}
	}
}

// mapping reads a line: start-end, permissions, offset, device, inode, path.
func mapping(line string) (start, end uint64, name string, ok bool) {
	parts := strings.SplitN(line, " ", 6)
	if len(parts) < 6 {
		return 0, 0, "", false
	}
	from, to, _ := strings.Cut(parts[0], "-")
	start, err := strconv.ParseUint(from, 16, 64)
	if err != nil {
		return 0, 0, "", false
	}
	end, err = strconv.ParseUint(to, 16, 64)
	name = strings.ToValidUTF8(strings.TrimSpace(parts[5]), "\uFFFD")
	return start, end, name, err == nil && end > start
}

// macCrashInfo reads what the libraries of macOS said before they ended the process
// (Mozilla's stream: https://searchfox.org/mozilla-central/source/toolkit/crashreporter).
func (x *reader) macCrashInfo() {
	if b, ok := x.stream(streamMacBootArgs, 8, 16); ok {
		x.annotate("Boot Arguments", x.text16(x.order.Uint64(b[4:])&0xffffffff, "boot arguments"))
	}
	b, ok := x.stream(streamMacCrashInfo, 12, 4<<10)
	if !ok {
		return
	}
	count, size := x.order.Uint32(b[4:]), uint64(x.order.Uint32(b[8:]))
	records := b[12:]
	var texts []string
	for i := range int(min(count, 20)) {
		if len(records) < (i+1)*8 {
			break
		}
		record, ok := x.bytes(x.locate(records[i*8:]))
		if ok && size <= uint64(len(record)) {
			texts = append(texts, printable(record[size:])...)
		}
	}
	sort.Strings(texts)
	if len(texts) > 0 {
		x.d.Annotations["Crash Info"] = texts
	}
}

// printable returns the texts that zeros end.
func printable(b []byte) (texts []string) {
	for _, part := range bytes.Split(b, []byte{0}) {
		if len(part) > 1 && len(part) <= maxString {
			texts = append(texts, clean(part))
		}
	}
	return texts
}
