package command

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/report"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/testsync"
	"github.com/slipway-qa/slipway/storage/step/testfile"
)

// generateCommand is `generate`: a sentence becomes a test, and its file.
type generateCommand struct {
	Sentence  string   `arg:"" help:"What a person does and sees, or a Markdown file with a test below each heading."`
	URL       string   `name:"url" help:"Address where the test begins." placeholder:"URL"`
	Name      string   `help:"Name of the test. Default: the beginning of the sentence." placeholder:"NAME"`
	Suite     string   `help:"Suite that a new test goes into; it is made. Default: suite of slipway.yaml." placeholder:"SUITE"`
	Tag       []string `help:"Tags of a new test." placeholder:"TAG"`
	Target    []string `sep:"none" help:"Browser to write it in, or a target as JSON. Default: chrome." placeholder:"TARGET"`
	Dir       string   `help:"Folder of the tests' files. Default: tests of slipway.yaml, else tests/slipway." placeholder:"DIR"`
	Overwrite bool     `help:"Write a test anew though somebody has changed it by hand."`
	Detach    bool     `help:"Leave what is being written as it is on ctrl-C and after --timeout."`
}

const (
	// maxName bounds a name that is made of a sentence, in characters.
	maxName = 60
	// liveWait and logWait are how long the server may wait with an answer.
	liveWait = 2 * time.Second
	logWait  = 10 * time.Second
	// maxMarkdown bounds a file of sentences in bytes.
	maxMarkdown = 1 << 20
)

// Run writes tests.
func (c *generateCommand) Run(ctx context.Context, s *Session) error {
	folder, err := testsync.ReadFolder(s.testsDir(c.Dir), []string{s.File.Path}, s.shown)
	if err != nil {
		return misuse(err)
	}
	g := &testsync.Generated{Config: &testsync.Config{Client: s.Client, Folder: folder, Overwrite: c.Overwrite, Say: s.say},
		Wait: logWait, Key: c.keys(s), Detach: c.Detach, Last: s.Last,
		Step: func(_ string, number int, step testfile.Step) { s.Out.Line("  %s", report.Line(step.Sentence(number))) }}
	if s.Out.Live() {
		g.Wait = liveWait
	}
	if strings.HasSuffix(strings.ToLower(c.Sentence), ".md") {
		return c.file(ctx, s, g)
	}
	w, err := c.wanted(s)
	if err != nil {
		return err
	}
	r, err := c.write(ctx, s, g, w)
	if err != nil {
		return err
	}
	return c.end(s, []testsync.Result{r})
}

// keys returns the Idempotency-Keys of generations.
func (c *generateCommand) keys(s *Session) func(...string) string {
	once := client.NewKey()
	return func(what ...string) string {
		if key := s.Job.Key(append([]string{"generate"}, what...)...); key != "" {
			return key
		}
		return once + "-" + shorten(strings.Join(what, "\x00"))
	}
}

// wanted is the test of a sentence on the command line.
func (c *generateCommand) wanted(s *Session) (w testsync.Wanted, err error) {
	w = testsync.Wanted{Name: c.Name, Sentence: strings.TrimSpace(c.Sentence), URL: c.URL, Suite: or(c.Suite, s.File.Suite), Tags: c.Tag}
	if w.Name == "" {
		w.Name = title(w.Sentence)
	}
	if w.URL == "" {
		return w, outcome.Fail(outcome.Misused, "--url is required: where the test begins")
	}
	w.Target, err = c.target(nil)
	return w, err
}

// title is a name made of the beginning of a sentence.
func title(sentence string) string {
	text := strings.Join(strings.Fields(sentence), " ")
	if runes := []rune(text); len(runes) > maxName {
		text = strings.TrimSpace(string(runes[:maxName-1])) + "…"
	}
	return strings.TrimSuffix(text, ".")
}

// target is the one to write a test in: of the command line, else of the file, else chrome.
func (c *generateCommand) target(of []testfile.Target) (testfile.Target, error) {
	list, err := parseTargets(c.Target)
	switch {
	case err != nil:
		return testfile.Target{}, err
	case len(list) > 1:
		return testfile.Target{}, outcome.Fail(outcome.Misused, "a test is written in one browser: --target has %d", len(list))
	case len(list) == 1:
		return testfile.Target(list[0]), nil
	case len(of) > 0:
		return of[0], nil
	}
	return testfile.Browser("chrome"), nil
}

// file writes the tests of a Markdown file, and their ids into it.
func (c *generateCommand) file(ctx context.Context, s *Session, g *testsync.Generated) error {
	if c.Name != "" {
		return outcome.Fail(outcome.Misused, "--name is for one sentence: in a file the headings are the names")
	}
	path := s.Path(c.Sentence)
	text, err := readMarkdown(path)
	if err != nil {
		return err
	}
	all, err := testfile.ReadSentences(text)
	if err != nil {
		return outcome.Fail(outcome.Misused, "%s: %w", s.shown(path), err)
	}
	if c.URL != "" {
		all.URL = c.URL
	}
	if all.URL == "" {
		return outcome.Fail(outcome.Misused, "%s: url is missing: in front matter (---, url: https://..., ---), or as --url", s.shown(path))
	}
	target, err := c.target(all.Targets)
	if err != nil {
		return err
	}
	all.Targets = []testfile.Target{target}
	var results []testsync.Result
	for i := range all.Tests {
		t := &all.Tests[i]
		digest := all.Digest(t)
		r, err := c.write(ctx, s, g, testsync.Wanted{Name: t.Name, Sentence: t.Text, URL: all.URL, Target: target,
			Suite: or(or(c.Suite, all.Suite), s.File.Suite), Tags: append(append([]string{}, all.Tags...), c.Tag...),
			ID: t.ID, Same: t.Digest == digest})
		if err != nil {
			return err
		}
		results = append(results, r)
		if !r.Action.Good() || t.ID == r.ID && t.Digest == digest {
			continue
		}
		// Written test by test: what is done stays done when the job is killed.
		if err := mark(path, t.Name, r.ID, digest); err != nil {
			return err
		}
	}
	return c.end(s, results)
}

// mark writes an id below the heading of a name.
func mark(path, name, id, digest string) error {
	text, err := readMarkdown(path)
	if err != nil {
		return err
	}
	all, err := testfile.ReadSentences(text)
	if err != nil {
		return outcome.Fail(outcome.Failed, "%s was changed meanwhile: %w", path, err)
	}
	for i := range all.Tests {
		if all.Tests[i].Name == name {
			text = testfile.Mark(text, &all.Tests[i], id, digest)
		}
	}
	return testsync.WriteFile(path, text)
}

func readMarkdown(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, outcome.Fail(outcome.Misused, "%w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxMarkdown+1))
	if err != nil {
		return nil, outcome.Fail(outcome.Misused, "%w", err)
	}
	return text, nil
}

// write writes one test.
func (c *generateCommand) write(ctx context.Context, s *Session, g *testsync.Generated, w testsync.Wanted) (testsync.Result, error) {
	s.Out.Line("%s: %s", report.Line(w.Name), report.Line(w.Sentence))
	r, err := g.Write(ctx, w)
	var refused *client.Error
	if errors.As(err, &refused) && (refused.Kind == client.Misused || refused.Kind == client.Conflict) {
		r.Action, r.Detail, err = testsync.Failed, refused.Text, nil
	}
	if err != nil {
		return r, misuse(err)
	}
	s.say(r)
	if r.Action == testsync.Conflict {
		s.showDiff(r.Diff)
	}
	return r, nil
}

// end says how it went.
func (c *generateCommand) end(s *Session, results []testsync.Result) error {
	if err := s.Document(results); err != nil {
		return err
	}
	bad := 0
	for _, r := range results {
		if !r.Action.Good() {
			bad++
		}
	}
	if bad > 0 {
		return outcome.Fail(outcome.Failed, "%d of %d tests were not written", bad, len(results))
	}
	return nil
}
