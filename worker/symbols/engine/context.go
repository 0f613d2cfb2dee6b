package engine

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/worker/symbols/dump"
)

const (
	// maxDepth of elements: the engine writes four.
	maxDepth = 16
	// maxProperties are read: the engine writes about a hundred, games set some of their own.
	maxProperties = 1000
	// maxStackText bounds a stack as text.
	maxStackText = 256 << 10
)

// crashContext is CrashContext.runtime-xml.
type crashContext struct {
	// properties by name; those of other sections than RuntimeProperties have it before a dot.
	properties map[string]string
	order      []string
	threads    []contextThread
}

// contextThread is one of its threads.
type contextThread struct {
	id, name, stack string
	crashed         bool
}

// parseContext reads the elements with text. A file that is cut off or is no XML from some place on is
// what it is up to there, and the error.
func parseContext(b []byte) (*crashContext, error) {
	c := &crashContext{properties: map[string]string{}}
	d := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	var path []string
	var text []byte
	var thread *contextThread
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return c, nil
		}
		if err != nil {
			return c, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if len(path) == maxDepth {
				return c, errors.New("its elements are nested too deep")
			}
			path, text = append(path, t.Name.Local), text[:0]
			if t.Name.Local == "Thread" && len(c.threads) < maxThreads {
				c.threads = append(c.threads, contextThread{})
				thread = &c.threads[len(c.threads)-1]
			}
		case xml.CharData:
			if room := maxStackText - len(text); room > 0 {
				text = append(text, t[:min(len(t), room)]...)
			}
		case xml.EndElement:
			if len(path) == 0 || path[len(path)-1] != t.Name.Local {
				return c, errors.New("an element ends that did not begin")
			}
			value := plain(strings.TrimSpace(string(text)), maxStackText)
			switch {
			case t.Name.Local == "Thread":
				thread = nil
			case thread != nil:
				thread.set(t.Name.Local, value)
			default:
				c.set(path, value)
			}
			path, text = path[:len(path)-1], text[:0]
		}
	}
}

func (t *contextThread) set(name, value string) {
	switch name {
	case "ThreadID":
		t.id = value
	case "ThreadName":
		t.name = value
	case "CallStack":
		t.stack = value
	case "IsCrashed":
		t.crashed = strings.EqualFold(value, "true")
	}
}

// set takes a property, of which the first counts.
func (c *crashContext) set(path []string, value string) {
	if len(path) < 3 || value == "" || len(c.order) >= maxProperties {
		return
	}
	name := plain(path[2], 200)
	if path[1] != "RuntimeProperties" {
		name = plain(path[1], 50) + "." + name
	}
	if _, there := c.properties[name]; !there {
		c.properties[name] = value
		c.order = append(c.order, name)
	}
}

// privateProperties are not kept: they name the person, or hold what a command line does.
var privateProperties = map[string]bool{"CommandLine": true, "RestartCommandLine": true, "UserName": true, "EpicAccountId": true,
	"LoginId": true, "MachineId": true}

// private reports whether a property is not kept, whatever its section is.
func private(name string) bool { return privateProperties[name[strings.LastIndexByte(name, '.')+1:]] }

// stackProperties become frames, and other members of the report.
var stackProperties = map[string]bool{"CallStack": true, "PCallStack": true, "SourceContext": true, "Modules": true, "ErrorMessage": true,
	"UserDescription": true}

// applyContext adds to a dump what the context says; without a minidump it is the dump.
func (p *parts) applyContext(d *dump.Dump) {
	c, err := parseContext(p.context)
	if err != nil {
		p.warn("CrashContext.runtime-xml cannot be read to its end: %v", err)
	}
	if len(d.Threads) == 0 {
		p.contextStacks(d, c)
		c.system(d)
	}
	c.reason(d)
	get := func(name string) string { return plain(c.properties[name], maxText) }
	for _, a := range []dump.Attribute{
		{Key: "application", Value: get("GameName")}, {Key: "application.version", Value: get("BuildVersion")},
		{Key: "guid", Value: first(get("LoginId"), get("MachineId"))}, {Key: "unreal.engine_version", Value: get("EngineVersion")},
		{Key: "unreal.crash_type", Value: get("CrashType")}, {Key: "unreal.build_configuration", Value: get("BuildConfiguration")},
		{Key: "unreal.platform", Value: get("PlatformName")}, {Key: "unreal.engine_mode", Value: get("EngineMode")},
		{Key: "unreal.crash_guid", Value: get("CrashGUID")}, {Key: "process.age", Value: get("SecondsSinceStart")},
		{Key: "cpu.description", Value: get("Misc.CPUBrand")}, {Key: "gpu.description", Value: get("Misc.PrimaryGPUBrand")},
		{Key: "user.description", Value: get("UserDescription")},
	} {
		d.Set(a.Key, a.Value)
	}
	rest, left := map[string]any{}, 256<<10
	for _, name := range c.order {
		value := get(name)
		if private(name) || stackProperties[name] || len(value) > left {
			continue
		}
		left -= len(value) + len(name)
		rest[name] = value
	}
	d.Annotations["Unreal"] = rest
	if stack := c.properties["CallStack"]; stack != "" {
		d.Annotations["CallStack"] = plain(stack, maxTail)
	}
}

// reason says why the process ended in the engine's words, where they say more than the exception: the
// engine raises one of its own for an assertion.
func (c *crashContext) reason(d *dump.Dump) {
	kind, message := plain(c.properties["CrashType"], 100), plain(c.properties["ErrorMessage"], maxText)
	if d.Reason == nil {
		d.Reason = &dump.Reason{Name: first(kind, "Crash")}
	}
	switch kind {
	case "Ensure":
		d.Set("severity", "handled")
	case "Hang", "Stall":
		d.Set("severity", "hang")
	case "OutOfMemory":
		d.Set("severity", "oom")
	}
	if kind != "" && kind != "Crash" {
		d.Reason.Name = kind
	}
	if message != "" {
		d.Reason.Message = message
	}
}

func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// system says where the process ran.
func (c *crashContext) system(d *dump.Dump) {
	platform := strings.ToLower(c.properties["PlatformName"])
	for prefix, os := range map[string]string{"win": dump.Windows, "mac": dump.MacOS, "ios": dump.IOS, "linux": dump.Linux,
		"android": dump.Android} {
		if strings.HasPrefix(platform, prefix) {
			d.System.OS = os
		}
	}
	d.System.Version = plain(first(c.properties["Misc.OSVersionMinor"], c.properties["Misc.OSVersionMajor"]), 200)
	d.System.CPUs, _ = strconv.Atoi(c.properties["Misc.NumberOfCoresIncludingHyperthreads"])
	d.Process.ID, _ = strconv.ParseInt(c.properties["ProcessId"], 10, 64)
	d.Process.Name = plain(c.properties["ExecutableName"], 255)
}

// contextStacks makes threads of the stacks of the context: all of them, else the one that crashed.
func (p *parts) contextStacks(d *dump.Dump, c *crashContext) {
	s := newStacks(d)
	names := functionLines(c.properties["CallStack"])
	for _, t := range c.threads {
		var known []string
		if t.crashed {
			known = names
		}
		s.thread(t.id, t.name, portableStack(t.stack), known, t.crashed && d.Main < 0)
	}
	if d.Main < 0 {
		s.thread(first(c.properties["CrashingThreadId"], "0"), "", portableStack(c.properties["PCallStack"]), names, true)
	}
	s.finish()
	if s.cut {
		p.warn("not all frames of the stacks are kept")
	}
}

// portableStack reads a stack of modules and offsets:
//
//	Shop-Core 0x00007ff6a0000000 + 5bdbf1
func portableStack(text string) (list []place) {
	words := strings.Fields(text)
	for i := 1; i+2 < len(words) && len(list) < maxFrames; i++ {
		digits, found := strings.CutPrefix(words[i], "0x")
		if !found || words[i+1] != "+" {
			continue
		}
		start, err := strconv.ParseUint(digits, 16, 64)
		offset, wrong := strconv.ParseUint(strings.TrimPrefix(words[i+2], "0x"), 16, 64)
		if err == nil && wrong == nil && start+offset >= start {
			list = append(list, place{module: plain(words[i-1], 255), start: start, address: start + offset})
		}
	}
	return list
}

// functionLines reads the names of a stack that the client symbolicated, a line for each frame:
//
//	Shop_Core!FDebug::AssertFailed() [d:\shop\core.cpp:440]
func functionLines(text string) (names []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		_, name, found := strings.Cut(line, "!")
		name, _, _ = strings.Cut(name, " [")
		if !found || strings.HasPrefix(name, "UnknownFunction") {
			name = ""
		}
		names = append(names, plain(strings.TrimSuffix(strings.TrimSpace(name), "()"), 1000))
	}
	return names
}
