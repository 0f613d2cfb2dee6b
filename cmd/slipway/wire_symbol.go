package main

import (
	"time"

	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/child"
	"github.com/slipway-qa/slipway/worker"
	workcrash "github.com/slipway-qa/slipway/worker/crash"
	"github.com/slipway-qa/slipway/worker/crash/symbolicate"
	"github.com/slipway-qa/slipway/worker/symbols"
	"github.com/slipway-qa/slipway/worker/symbols/library"
)

// symbolServices are what handlers need that read symbol files and dumps.
type symbolServices struct {
	files   *child.Pool // children that read symbol files
	dumps   *child.Pool // children that read crash dumps, one of them always ready
	library *library.Library
}

// dumpCPU is a thousand times what a dump takes: one is some MiB.
const dumpCPU = 20 * time.Second

// startSymbols starts the child processes and opens the library of symbols.
func (s *services) startSymbols() (_ *symbolServices, stop func(), err error) {
	set := s.settings
	cfg := child.Config{Children: set.SymbolReaders, Folder: set.SymbolFolder, Log: s.log,
		Limits: child.Limits{Memory: set.SymbolReaderBytes}}
	files, err := child.NewPool(cfg)
	if err != nil {
		return nil, nil, err
	}
	cfg.Warm, cfg.Limits.CPU = 1, dumpCPU
	dumps, err := child.NewPool(cfg)
	if err != nil {
		files.Close()
		return nil, nil, err
	}
	stop = func() {
		dumps.Close()
		files.Close()
	}
	opened, err := library.New(library.Config{DB: s.db, Objects: s.objects, Bytes: set.SymbolCacheBytes,
		Observer: s.metrics.Observer(), Log: s.log})
	if err != nil {
		stop()
		return nil, nil, err
	}
	return &symbolServices{files: files, dumps: dumps, library: opened}, stop, nil
}

// addSymbolWork adds the handlers of symbol files, and returns what stops the child
// processes.
func (s *services) addSymbolWork(handlers map[string]worker.Handler) (stop func(), err error) {
	use, stop, err := s.startSymbols()
	if err != nil {
		return nil, err
	}
	handlers[tasks.SymbolIndex.Name] = &symbols.Index{DB: s.db, Objects: removing(s), Children: use.files,
		Folder: s.settings.SymbolFolder, Observer: s.metrics.Observer(), Log: s.log}
	warm, waiting := symbolicate.NewLibraries(s.db, use.library)
	if p, ok := handlers[tasks.CrashProcess.Name].(*workcrash.Process); ok {
		p.Symbols = warm
	}
	dumps := &workcrash.DumpReader{Children: use.dumps, Objects: s.objects, Library: use.library, Folder: s.settings.SymbolFolder}
	handlers[tasks.CrashSymbolicate.Name] = &workcrash.Symbolicate{Store: s.crashes, Symbols: waiting, Dumps: dumps,
		Duplicates: s.settings.CrashDuplicates, Log: s.log}
	handlers[tasks.CrashResymbolicate.Name] = &workcrash.Resymbolicate{Store: s.crashes, Symbols: waiting, Dumps: dumps,
		Duplicates: s.settings.CrashDuplicates, Log: s.log}
	handlers[tasks.CrashRegroup.Name] = &workcrash.Regroup{Store: s.crashes, Symbols: waiting, Dumps: dumps,
		Duplicates: s.settings.CrashDuplicates, Log: s.log}
	handlers[tasks.SymbolMaintenance.Name] = &symbols.Maintenance{DB: s.db, Folder: s.settings.SymbolFolder, Now: time.Now, Log: s.log}
	return stop, nil
}
