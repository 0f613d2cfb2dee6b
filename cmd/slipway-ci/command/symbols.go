package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/debugfile"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/progress"
)

// symbolsCommand is `symbols`.
type symbolsCommand struct {
	Upload symbolsUploadCommand `cmd:"" help:"Upload what reads crashes: debug information, mappings, source maps."`
}

// symbolsUploadCommand is `symbols upload`.
type symbolsUploadCommand struct {
	Paths []string `arg:"" name:"path" help:"Files, archives, and folders: an Xcode archive, a Gradle output, web assets."`

	Project        string `help:"Crash project that they are for, by name or id. Default: all." placeholder:"NAME"`
	Release        string `help:"Release of the scripts, as pages report it." placeholder:"TEXT"`
	URLPrefix      string `name:"url-prefix" help:"What stands before the paths of scripts: https://cdn.example.com/app/, or ~/static." placeholder:"URL"`
	ID             string `name:"id" help:"Id by which crashes name the mapping." placeholder:"TEXT"`
	InjectDebugIDs bool   `name:"inject-debug-ids" help:"Write a debug id into each script and its source map first: the files are changed."`
	Force          bool   `help:"Send also what the server has."`
	DryRun         bool   `help:"Show what would be sent, and send nothing."`
	Wait           bool   `help:"Wait until they are read, and fail where one cannot be."`

	PartThreshold size `help:"Files above this size go in parts, which resume after a lost connection or a killed job." default:"64MB" placeholder:"SIZE"`
}

// symbolView is a file in the document of --json.
type symbolView struct {
	Path        string   `json:"path"`
	Name        string   `json:"name"`
	Kind        string   `json:"kind"`
	Size        int64    `json:"size"`
	SHA256      string   `json:"sha256"`
	Identifiers []string `json:"identifiers"`
	State       string   `json:"state"` // known, sent; with --dry-run: would be sent

	file debugfile.File
}

// Run sends what the server lacks.
func (c *symbolsUploadCommand) Run(ctx context.Context, s *Session) error {
	if c.InjectDebugIDs && c.DryRun {
		return outcome.Fail(outcome.Misused, "--inject-debug-ids changes the files, which --dry-run must not")
	}
	files, err := c.find(ctx, s)
	if err != nil {
		return err
	}
	if err := c.ask(ctx, s, files); err != nil {
		return err
	}
	symbols, err := c.send(ctx, s, files)
	known := 0
	for _, f := range files {
		if f.State == "known" {
			known++
		}
		s.Result("%-15s  %-9s  %s  %s", f.State, f.Kind, progress.Size(f.Size), f.Path)
	}
	if err == nil {
		s.Result("%d of %d symbol files sent, %d were there", len(files)-known, len(files), known)
	}
	document := map[string]any{"files": files, "symbols": symbols}
	if err == nil {
		document["missing"] = c.missing(ctx, s, files)
	}
	if said := s.Document(document); err == nil {
		err = said
	}
	return err
}

// find looks at the paths.
func (c *symbolsUploadCommand) find(ctx context.Context, s *Session) ([]*symbolView, error) {
	var found []debugfile.File
	for _, path := range c.Paths {
		files, err := c.findIn(s.Path(path), path)
		if err != nil {
			return nil, err
		}
		found = append(found, files...)
	}
	if c.InjectDebugIDs {
		done, odd, err := debugfile.Inject(found)
		for _, in := range done {
			s.Out.Line("%s: debug id %s", in.Script, in.ID)
		}
		for _, text := range odd {
			s.Out.Warn("%s", text)
		}
		if err != nil {
			return nil, outcome.Fail(outcome.Failed, "write debug ids: %w", err)
		}
		if len(done) > 0 { // they are others now
			c.InjectDebugIDs = false
			return c.find(ctx, s)
		}
	}
	views := make([]*symbolView, 0, len(found))
	for _, f := range found {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		digest, err := f.SHA256()
		if err != nil {
			return nil, outcome.Fail(outcome.Misused, "%w", err)
		}
		view := &symbolView{Path: f.Path, Name: f.Name, Kind: string(f.Format), Size: f.Size, SHA256: digest, Identifiers: []string{}, file: f}
		for _, id := range f.Identifiers {
			view.Identifiers = append(view.Identifiers, id.Value)
		}
		views = append(views, view)
	}
	return views, nil
}

func (c *symbolsUploadCommand) findIn(path, said string) ([]debugfile.File, error) {
	files, err := debugfile.Find(path)
	var useless *debugfile.UselessError
	switch {
	case errors.As(err, &useless), errors.Is(err, fs.ErrNotExist):
		return nil, outcome.Fail(outcome.Misused, "%w", err)
	case err != nil:
		return nil, outcome.Fail(outcome.Failed, "%w", err)
	case len(files) == 0:
		return nil, outcome.Fail(outcome.Failed,
			"%s: there are no symbol files in it: neither debug information, nor a mapping, nor a source map", said)
	}
	return files, nil
}

// ask finds out what the server has. Files with a release, an address or an id of their own are
// sent in any case: they may be there under others.
func (c *symbolsUploadCommand) ask(ctx context.Context, s *Session, files []*symbolView) error {
	for _, f := range files {
		f.State = "would be sent"
	}
	if c.Force || c.Release != "" || c.URLPrefix != "" || c.ID != "" {
		return nil
	}
	var identifiers, digests []string
	for _, f := range files {
		digests = append(digests, f.SHA256)
		if f.file.Sole() {
			identifiers = append(identifiers, f.Identifiers...)
		}
	}
	project, name := c.project()
	known, err := s.Client.KnownSymbols(ctx, identifiers, digests, project, name)
	if err != nil {
		return err
	}
	for _, f := range files {
		if known[f.SHA256] || f.file.Sole() && all(f.Identifiers, known) {
			f.State = "known"
		}
	}
	return nil
}

// project is the crash project: its id, or its name, which the server looks up.
func (c *symbolsUploadCommand) project() (id int64, name string) {
	if id, err := strconv.ParseInt(c.Project, 10, 64); err == nil && id > 0 {
		return id, ""
	}
	return 0, c.Project
}

func all(names []string, known map[string]bool) bool {
	for _, name := range names {
		if !known[name] {
			return false
		}
	}
	return true
}

// send packs and sends what the server lacks.
func (c *symbolsUploadCommand) send(ctx context.Context, s *Session, files []*symbolView) ([]*client.Symbol, error) {
	symbols := []*client.Symbol{}
	if c.DryRun {
		return symbols, nil
	}
	var lacking []*symbolView
	for _, f := range files {
		if f.State != "known" {
			lacking = append(lacking, f)
		}
	}
	options := client.SymbolOptions{Release: c.Release, ID: c.ID, URLPrefix: c.URLPrefix}
	options.CrashProjectID, options.CrashProject = c.project()
	for _, batch := range batches(lacking) {
		symbol, err := c.sendBatch(ctx, s, batch, options)
		if err != nil {
			return symbols, err
		}
		symbols = append(symbols, symbol)
		for _, f := range batch {
			f.State = "sent"
		}
	}
	if !c.Wait {
		return symbols, nil
	}
	return symbols, s.awaitSymbols(ctx, symbols)
}

func (c *symbolsUploadCommand) sendBatch(ctx context.Context, s *Session, batch []*symbolView,
	o client.SymbolOptions) (*client.Symbol, error) {
	file, done, err := packed(batch)
	if err != nil {
		return nil, err
	}
	defer done()
	digest, err := file.SHA256()
	if err != nil {
		return nil, err
	}
	bar := s.Out.Bar(file.Name, file.Size)
	begun := time.Now()
	how := client.Sending{Key: s.Job.Key("symbols", file.Name, digest, fmt.Sprintf("%#v", o)), Threshold: int64(c.PartThreshold),
		Count: bar.Add, Have: bar.Skip}
	symbol, err := s.Client.UploadSymbols(ctx, file, o, how)
	if err != nil {
		bar.End("")
		return nil, outcome.RefusedFile(err)
	}
	bar.End(fmt.Sprintf("%s: %s sent in %s", file.Name, progress.Size(file.Size), progress.Duration(time.Since(begun))))
	return symbol, nil
}

// awaitSymbols waits until the files are read.
func (s *Session) awaitSymbols(ctx context.Context, symbols []*client.Symbol) error {
	var bad []string
	for i, sent := range symbols {
		if sent.TaskID != nil && sent.State == "pending" {
			if _, err := s.Client.AwaitTask(ctx, *sent.TaskID); err != nil {
				return err
			}
		}
		read, err := s.Client.Symbol(ctx, sent.ID)
		if err != nil {
			return err
		}
		symbols[i] = read
		switch {
		case read.State == "failed" && read.Error != nil:
			bad = append(bad, read.Name+": "+read.Error.Reason)
		case read.State != "indexed":
			bad = append(bad, read.Name+": "+read.State)
		case read.FailedCount > 0:
			bad = append(bad, fmt.Sprintf("%s: %d of %d files in it", read.Name, read.FailedCount, read.FileCount))
		}
	}
	if len(bad) > 0 {
		return outcome.Fail(outcome.Failed, "the server cannot read %d of the symbol files: %s", len(bad), bad[0])
	}
	return nil
}
