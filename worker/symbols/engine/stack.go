package engine

import (
	"strconv"

	"github.com/slipway-qa/slipway/worker/symbols/dump"
)

// place is a frame as texts have it.
type place struct {
	module         string
	start, address uint64 // start 0: where the module begins is not known
	function       string
}

// stacks makes the threads and modules of a dump out of texts.
type stacks struct {
	d       *dump.Dump
	modules map[string]dump.Module
	threads [][]place
	left    int
	cut     bool
}

func newStacks(d *dump.Dump) *stacks {
	return &stacks{d: d, modules: map[string]dump.Module{}, left: maxTotal}
}

// module notes a module; its size grows with the addresses that are seen in it.
func (s *stacks) module(name string, start, size uint64) {
	m, known := s.modules[name]
	if !known {
		if len(s.modules) >= maxModules {
			return
		}
		m = dump.Module{Start: start, CodeFile: name}
	}
	if m.Start == start && start+size > start {
		m.Size = max(m.Size, size)
		s.modules[name] = m
	}
}

// thread adds a thread. Names are those of its frames where there is one for each.
func (s *stacks) thread(id, name string, places []place, names []string, main bool) {
	if len(places) == 0 || len(s.d.Threads) >= maxThreads {
		return
	}
	t := dump.Thread{Name: plain(name, 255)}
	t.ID, _ = strconv.ParseUint(id, 10, 64)
	if keep := min(len(places), maxFrames, s.left); keep < len(places) {
		places, t.Cut, s.cut = places[:keep], true, true
	}
	s.left -= len(places)
	for i := range places {
		if len(names) == len(places) && places[i].function == "" {
			places[i].function = names[i]
		}
		if places[i].start > 0 {
			s.module(places[i].module, places[i].start, places[i].address-places[i].start+1)
		}
	}
	if main {
		s.d.Main = len(s.d.Threads)
	}
	s.d.Threads, s.threads = append(s.d.Threads, t), append(s.threads, places)
}

// finish gives the frames their modules, which are in the order of their addresses now.
func (s *stacks) finish() {
	for _, m := range s.modules {
		s.d.Modules = append(s.d.Modules, m)
	}
	s.d.SortModules()
	if len(s.d.Threads) > 0 && s.d.Main < 0 {
		s.d.Main = 0
	}
	for i, places := range s.threads {
		for _, p := range places {
			s.d.Threads[i].Frames = append(s.d.Threads[i].Frames,
				dump.Frame{Address: p.address, Module: s.d.ModuleAt(p.address), Symbol: p.function, Trust: dump.TrustGiven})
		}
	}
}
