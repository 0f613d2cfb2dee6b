package tier

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
func (s *Services) startSymbols() (_ *symbolServices, stop func(), err error) {
	set := s.Settings
	cfg := child.Config{Children: set.SymbolReaders, Folder: set.SymbolFolder, Log: s.Log,
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
	opened, err := library.New(library.Config{DB: s.DB, Objects: s.Objects, Bytes: set.SymbolCacheBytes,
		Observer: s.metrics.Observer(), Log: s.Log})
	if err != nil {
		stop()
		return nil, nil, err
	}
	return &symbolServices{files: files, dumps: dumps, library: opened}, stop, nil
}

// addSymbolWork adds the handlers of symbol files, and returns what stops the child
// processes.
func (s *Services) addSymbolWork(handlers map[string]worker.Handler) (stop func(), err error) {
	use, stop, err := s.startSymbols()
	if err != nil {
		return nil, err
	}
	handlers[tasks.SymbolIndex.Name] = &symbols.Index{DB: s.DB, Objects: removing(s), Children: use.files,
		Folder: s.Settings.SymbolFolder, Observer: s.metrics.Observer(), Log: s.Log}
	warm, waiting := symbolicate.NewLibraries(s.DB, use.library)
	if p, ok := handlers[tasks.CrashProcess.Name].(*workcrash.Process); ok {
		p.Symbols = warm
	}
	dumps := &workcrash.DumpReader{Children: use.dumps, Objects: s.Objects, Library: use.library, Folder: s.Settings.SymbolFolder}
	handlers[tasks.CrashSymbolicate.Name] = &workcrash.Symbolicate{Store: s.Crashes, Symbols: waiting, Dumps: dumps,
		Duplicates: s.Settings.CrashDuplicates, Log: s.Log}
	handlers[tasks.CrashResymbolicate.Name] = &workcrash.Resymbolicate{Store: s.Crashes, Symbols: waiting, Dumps: dumps,
		Duplicates: s.Settings.CrashDuplicates, Log: s.Log}
	handlers[tasks.CrashRegroup.Name] = &workcrash.Regroup{Store: s.Crashes, Symbols: waiting, Dumps: dumps,
		Duplicates: s.Settings.CrashDuplicates, Log: s.Log}
	handlers[tasks.SymbolMaintenance.Name] = &symbols.Maintenance{DB: s.DB, Folder: s.Settings.SymbolFolder, Now: time.Now, Log: s.Log}
	return stop, nil
}
