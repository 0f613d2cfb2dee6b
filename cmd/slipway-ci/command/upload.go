package command

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/progress"
)

const (
	// maxNotes is what the server keeps of release notes, in bytes.
	maxNotes = 64 << 10
	// verifyPause is the time between two questions where no task can be waited for.
	verifyPause = 2 * time.Second
)

// uploadCommand is `upload`.
type uploadCommand struct {
	Files []string `arg:"" name:"file" help:"Packages: APK, AAB, APKS, XAPK, IPA, a zipped macOS app; other files where the organization allows them."`
	appFlag

	Mapping      string            `help:"Mapping of ProGuard or R8 for the build." placeholder:"FILE" xor:"symbols"`
	Dsym         string            `name:"dsym" help:"dSYM for the build: a zip, a folder of dSYMs or an Xcode archive." placeholder:"PATH" xor:"symbols"`
	Notes        string            `help:"Release notes in Markdown, or @FILE (notes in slipway.yaml is a file)." placeholder:"TEXT" xor:"notes"`
	NotesFromGit bool              `help:"Release notes from the commits since the last tag." xor:"notes"`
	Commits      bool              `name:"commits-from-git" help:"Send the commits since the build before, by which crashes find the change that caused them."`
	CommitRange  string            `help:"Send these commits: A..B, or A for A..HEAD." placeholder:"A..B"`
	Group        []string          `help:"Group of testers that gets the build, by name or id; may be repeated (groups in slipway.yaml)." placeholder:"GROUP" sep:"none"`
	Channel      string            `help:"Channel of the build, kept as metadata (channel in slipway.yaml)." placeholder:"NAME"`
	Metadata     map[string]string `help:"Further data of the build; may be repeated." placeholder:"KEY=VALUE" mapsep:"none"`
	Version      string            `name:"app-version" help:"Version in place of the package's." placeholder:"TEXT"`
	Folder       string            `help:"Folder of the app." placeholder:"NAME"`
	Platform     string            `help:"Platform of a file that is no package." placeholder:"NAME"`
	Notify       bool              `help:"Mail the testers of the groups."`
	Wait         bool              `help:"Wait until the build is inspected and its signature verified."`
	Gate         bool              `help:"Then ask the gate, and fail where it is closed; with --wait until it knows."`
	Key          string            `name:"idempotency-key" help:"Makes the same upload one build, by two jobs too. Default: of the CI job and all that is uploaded." placeholder:"KEY"`

	PartThreshold size `help:"Files above this size go in parts, which resume after a lost connection or a killed job." default:"64MB" placeholder:"SIZE"`
}

// uploadView is an upload in the document of --json.
type uploadView struct {
	*client.Uploaded
	File  string        `json:"file"`
	Build *client.Build `json:"build,omitempty"` // with --wait
	Gate  *client.Gate  `json:"gate,omitempty"`  // with --gate
}

// Run uploads the files one after another.
func (c *uploadCommand) Run(ctx context.Context, s *Session) error {
	base, files, err := c.prepare(ctx, s)
	if err != nil {
		return err
	}
	symbols, done, err := c.symbols(s)
	if err != nil {
		return err
	}
	defer done()
	views := []uploadView{}
	var failed error
	for _, file := range files {
		b := base
		b.File, b.Symbols = file, symbols
		view, err := c.upload(ctx, s, b)
		if view != nil {
			views = append(views, *view)
		}
		if failed = err; failed != nil {
			break
		}
	}
	if err := s.Document(map[string]any{"uploads": views}); err != nil {
		return err
	}
	return failed
}

// prepare looks at everything that can be wrong before a byte is sent.
func (c *uploadCommand) prepare(ctx context.Context, s *Session) (base client.NewBuild, files []*client.File, err error) {
	if len(c.Files) > 1 && c.Mapping+c.Dsym != "" {
		return base, nil, outcome.Fail(outcome.Misused, "--mapping and --dsym are of one build: upload the files one by one")
	}
	for _, path := range c.Files {
		f, err := client.OpenFile(s.Path(path), "")
		if err != nil {
			return base, nil, err
		}
		files = append(files, f)
	}
	base = client.NewBuild{Version: c.Version, Folder: c.Folder, Platform: c.Platform, NotifyPeople: c.Notify, Groups: c.Group}
	if len(base.Groups) == 0 {
		base.Groups = s.File.Groups
	}
	if at := slices.IndexFunc(base.Groups, func(name string) bool { return strings.Contains(name, ",") }); at >= 0 {
		return base, nil, outcome.Fail(outcome.Misused,
			"--group %q: a comma cannot be sent; name the group by its id, and further groups by --group again", base.Groups[at])
	}
	base.Metadata = map[string]string{}
	maps.Copy(base.Metadata, s.File.Metadata)
	if channel := or(c.Channel, s.File.Channel); channel != "" {
		base.Metadata["channel"] = channel
	}
	maps.Copy(base.Metadata, c.Metadata)
	if base.Notes, err = c.notes(ctx, s); err != nil {
		return base, nil, err
	}
	if err := c.checkCommits(ctx, s); err != nil {
		return base, nil, err
	}
	if app := c.app(s); app != "" {
		id, err := s.appOf(ctx, app)
		if err != nil {
			return base, nil, err
		}
		base.ProjectID = itoa(id)
	}
	return base, files, nil
}

// notes are the release notes: of the flag, of git, or of the file of the settings.
func (c *uploadCommand) notes(ctx context.Context, s *Session) (string, error) {
	path, named := strings.CutPrefix(c.Notes, "@")
	switch {
	case c.NotesFromGit:
		return notesFromGit(ctx, s)
	case named:
		path = s.Path(path)
	case c.Notes != "":
		return c.Notes, nil
	case s.File.Notes != "":
		path = filepath.Join(s.File.Folder(), s.File.Notes)
	default:
		return "", nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", outcome.Fail(outcome.Misused, "release notes: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxNotes+1))
	if err != nil {
		return "", outcome.Fail(outcome.Misused, "release notes: %w", err)
	}
	return string(text), nil // of longer ones the server says that it shortened them
}

// symbols opens the mapping or the dSYM. done removes what was made for it.
func (c *uploadCommand) symbols(s *Session) (f *client.File, done func(), err error) {
	done = func() {}
	switch {
	case c.Mapping != "":
		f, err = client.OpenFile(s.Path(c.Mapping), "")
	case c.Dsym != "":
		path := s.Path(c.Dsym)
		if info, e := os.Stat(path); e == nil && info.IsDir() {
			return zipDSYMs(path)
		}
		f, err = client.OpenFile(path, "")
	}
	return f, done, err
}

// upload sends one build, and waits for what was asked for.
func (c *uploadCommand) upload(ctx context.Context, s *Session, b client.NewBuild) (*uploadView, error) {
	total := b.File.Size
	if b.Symbols != nil {
		total += b.Symbols.Size
	}
	how := c.sending(s, b)
	job := s.Job.Metadata()
	maps.Copy(job, b.Metadata)
	b.Metadata = job
	bar := s.Out.Bar(b.File.Name, total)
	begun := time.Now()
	how.Count, how.Have = bar.Add, bar.Skip
	up, err := s.Client.Upload(ctx, b, how)
	if err != nil {
		bar.End("")
		if outcome.Signalled(ctx) && total > int64(c.PartThreshold) {
			s.Out.Line("what was sent stays for 24 hours: the same command goes on with it")
		}
		return nil, outcome.RefusedFile(err)
	}
	bar.End(fmt.Sprintf("%s: %s sent in %s", b.File.Name, progress.Size(total), progress.Duration(time.Since(begun))))
	view := &uploadView{Uploaded: up, File: b.File.Path}
	for _, text := range up.Warnings {
		s.Out.Warn("%s: %s", b.File.Name, text)
	}
	for _, name := range up.InvalidGroups {
		s.Out.Warn("%s: there is no group of testers called %q", b.File.Name, name)
	}
	if up.BuildID == "" {
		s.Result("%s was kept as symbols: it is no build", b.File.Name)
		return view, nil
	}
	s.Result("build %s: %s %s (%s) %s", up.BuildID, up.AppName, up.AppVersion, up.VersionCode, up.BuildURL)
	if up.Notification == "held" {
		s.Result("the testers hear of it when its gate is green")
	}
	if c.Commits || c.CommitRange != "" {
		if err := c.sendCommits(ctx, s, up, b.Metadata["branch"]); err != nil {
			return view, err
		}
	}
	if c.Wait {
		if view.Build, err = s.awaitBuild(ctx, up); err != nil {
			return view, err
		}
	}
	if c.Gate {
		view.Gate, err = s.askGate(ctx, up.BuildID, c.Wait)
	}
	return view, err
}

// sending says by what the server knows the build again, before it has the data of the job, some of
// which are others when the job is run again: by everything that is uploaded, so that only the same is
// one build. Outside of CI it is known by nothing.
func (c *uploadCommand) sending(s *Session, b client.NewBuild) client.Sending {
	if c.NotesFromGit {
		b.Notes = "git" // a tag that came since does not make another build of the same commit
	}
	how := client.Sending{Threshold: int64(c.PartThreshold)}
	switch {
	case c.Key == "":
		how.Job = s.Job.Key("upload", b.Said())
	case len(c.Files) > 1: // one key for each
		how.Job = "set\x00" + c.Key + "\x00" + b.Said()
	default:
		how.Key = c.Key
	}
	return how
}

// awaitBuild waits until the signature of a build was verified, and its symbols read.
func (s *Session) awaitBuild(ctx context.Context, up *client.Uploaded) (*client.Build, error) {
	tasks, err := s.Client.Tasks(ctx, up.RequestID)
	if err != nil {
		return nil, err
	}
	for _, t := range tasks {
		if t.Type != "build:verify" && t.Type != "symbol:index" {
			continue // mail and copies are sent after the answer, whether or not somebody waits
		}
		ended, err := s.Client.AwaitTask(ctx, t.ID)
		if err != nil {
			return nil, err
		}
		if t.Type == "symbol:index" && ended.State != "succeeded" {
			s.Out.Warn("the symbols of build %s could not be read: %s", up.BuildID, taskError(ended))
		}
	}
	for {
		b, err := s.Client.Build(ctx, up.BuildID)
		if err != nil {
			return nil, err
		}
		if b.Verification != "pending" { // its task was of an earlier request with the same key
			return b, s.judge(b, up.Warnings)
		}
		if err := client.Pause(ctx, verifyPause); err != nil {
			return b, err
		}
	}
}

// judge fails for a build that no device would install.
func (s *Session) judge(b *client.Build, said []string) error {
	for _, c := range b.Cautions {
		if !slices.Contains(said, c.Text) {
			s.Out.Warn("build %d: %s", b.ID, c.Text)
		}
	}
	if b.Verification == "failed" || b.Status == "invalid" {
		return outcome.Fail(outcome.Failed, "build %d: the signature does not hold: %s", b.ID, or(b.SignatureReason(), "devices refuse it"))
	}
	s.Result("build %d: inspected, signature %s", b.ID, or(b.Verification, "unchecked"))
	return nil
}

func taskError(t *client.Task) string {
	if t.Error == nil {
		return t.State
	}
	return *t.Error
}
