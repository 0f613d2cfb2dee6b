package testsync

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/storage/step/testfile"
)

// Generated is how a test is written.
type Generated struct {
	*Config
	// Wait is how long the server may wait with an answer.
	Wait time.Duration
	// Step hears of each step of a test when it is there.
	Step func(name string, number int, step testfile.Step)
	// Key returns the Idempotency-Key of a generation, of what names it.
	Key func(what ...string) string
	// Detach leaves a generation as it is when the context ends.
	Detach bool
	// Last returns a context for what is to be done when the context has ended.
	Last func(context.Context) (context.Context, context.CancelFunc)
}

// Wanted is a test that a sentence asks for.
type Wanted struct {
	Name, Sentence string
	URL            string
	Target         testfile.Target
	Suite          string // "": in none
	Tags           []string
	// ID is the case that an earlier call has made of the sentence, "" for none; it keeps
	// its id, its history and its variables.
	ID string
	// Same reports that the sentence is what it was then.
	Same bool
}

// mostTries bounds the generations of one key that have failed: each is a repetition of
// the job.
const mostTries = 50

// Write writes a test from a sentence, and its file. One that is as it was is left alone.
func (g *Generated) Write(ctx context.Context, w Wanted) (Result, error) {
	r := Result{ID: w.ID, Name: w.Name}
	s, err := g.suites(ctx)
	if err != nil {
		return r, err
	}
	file := g.Folder.ByID(w.ID)
	if file == nil && w.ID == "" {
		file = g.Folder.byName(w.Name)
	}
	if file != nil {
		r.Path, r.ID = g.Folder.show(file.Path), file.Case.ID
		if w.ID == "" {
			w.Same = file.Case.Intent == w.Sentence && file.Case.URL == w.URL
		}
	}
	old, err := g.old(ctx, r.ID)
	if err != nil {
		return r, err
	}
	switch {
	case old == nil:
	case w.Same:
		r.Action = Unchanged
		if file != nil {
			return r, nil
		}
		return r, g.writeFile(ctx, s, file, old, &r)
	default:
		if refused, err := g.touched(ctx, s, file, old, &r); refused || err != nil {
			return r, err
		}
	}
	made, fault, err := g.generate(ctx, s, w, old)
	if err != nil {
		return r, err
	}
	if fault != nil {
		r.Action, r.Detail = Failed, fault.Code+": "+fault.Detail
		return r, nil
	}
	if r.Action, r.ID = Created, made.ID; old != nil {
		r.Action = Updated
		if made, err = g.replace(ctx, old, made, w); err != nil {
			return r, err
		}
		r.ID = made.ID
	}
	return r, g.writeFile(ctx, s, file, made, &r)
}

// old is the case that a sentence has become earlier; nil when there is none.
func (g *Generated) old(ctx context.Context, id string) (*client.TestCase, error) {
	if id == "" {
		return nil, nil
	}
	old, err := g.Client.TestCase(ctx, id)
	if client.Is(err, client.Missing) {
		return nil, nil // deleted: it is written anew
	}
	return old, err
}

// touched reports whether somebody has changed the test by hand, which a new sentence must
// not undo.
func (g *Generated) touched(ctx context.Context, s *suites, file *File, old *client.TestCase, r *Result) (bool, error) {
	if file == nil || g.Overwrite {
		return false, nil
	}
	server, err := g.fileOf(ctx, s, old, file.Case)
	if err != nil {
		return false, err
	}
	if file.Case.Revision == server.Revision && !file.Case.Changed() {
		return false, nil
	}
	r.Action, r.Diff = Conflict, diff(server, file.Case)
	r.Detail = "the test was changed by hand since it was written: pull or push it first, or --overwrite it"
	return true, nil
}

func (g *Generated) writeFile(ctx context.Context, s *suites, file *File, of *client.TestCase, r *Result) error {
	var have *testfile.Case
	if file != nil {
		have = file.Case
	}
	server, err := g.fileOf(ctx, s, of, have)
	if err != nil {
		return err
	}
	if file == nil {
		file = g.Folder.add(server)
	}
	r.Path = g.Folder.show(file.Path)
	return file.write(server)
}

// generate has the server write a test, and returns it, or why it could not be.
func (g *Generated) generate(ctx context.Context, s *suites, w Wanted, old *client.TestCase) (*client.TestCase, *client.TestFault, error) {
	in := client.NewGeneration{Name: w.Name, Tags: orEmpty(w.Tags), PromptSettings: client.PromptSettings{Intent: w.Sentence},
		RunSettings: client.GenerationSettings{TestURL: w.URL, Target: client.TestTarget(w.Target)}}
	if w.Suite != "" && old == nil {
		f := testfile.Case{Suite: w.Suite}
		if err := g.suiteOf(ctx, s, &f); err != nil {
			return nil, nil, err
		}
		in1, err := s.only(f.Suite)
		if err != nil {
			return nil, nil, err
		}
		in.TestSuiteID = in1.ID
	}
	for n := range mostTries {
		task, err := g.Client.StartGeneration(ctx, g.Key(w.Name, w.Sentence, w.URL, fmt.Sprint(n)), in)
		if err != nil {
			return nil, nil, err
		}
		made, fault, earlier, err := g.follow(ctx, w.Name, task)
		if !earlier {
			return made, fault, err
		}
	}
	return nil, nil, fmt.Errorf("%s: this job has been repeated %d times", w.Name, mostTries)
}

// follow waits for a generation. It is an earlier one, of a job that was repeated, when it
// is over at the first look and there is nothing of it to take.
func (g *Generated) follow(ctx context.Context, name, task string) (made *client.TestCase, fault *client.TestFault,
	earlier bool, err error) {
	shown, wait := 0, time.Duration(0)
	for {
		at, err := g.Client.Generation(ctx, task, wait)
		if err != nil {
			g.cancel(ctx, name, task)
			return nil, nil, false, err
		}
		for ; shown < len(at.Steps); shown++ {
			if step, err := testfile.StepOf(at.Steps[shown]); err == nil {
				g.Step(name, shown+1, step)
			}
		}
		first := wait == 0
		wait = g.Wait
		if !at.Ended() {
			continue
		}
		if at.Status == client.GenerationFailed {
			if at.Error == nil {
				at.Error = &client.TestFault{Code: at.Status}
			}
			return nil, at.Error, first, nil
		}
		made, err = g.Client.TestCase(ctx, at.TestCaseID)
		if client.Is(err, client.Missing) && first {
			return nil, nil, true, nil
		}
		return made, nil, false, err
	}
}

// cancel ends a generation that nobody waits for any more.
func (g *Generated) cancel(ctx context.Context, name, task string) {
	if ctx.Err() == nil || g.Detach {
		return
	}
	last, stop := g.Last(ctx)
	defer stop()
	detail := "it was cancelled"
	if err := g.Client.CancelGeneration(last, task); err != nil {
		detail = "it could not be cancelled: " + err.Error()
	}
	g.Say(Result{Action: Failed, Name: name, Detail: detail})
}

// replace gives an old case what a new one has, and deletes the new one.
func (g *Generated) replace(ctx context.Context, old, made *client.TestCase, w Wanted) (*client.TestCase, error) {
	s := &suites{}
	f, err := s.fileOf(made, nil)
	if err != nil {
		return nil, err
	}
	known, err := stepsOf(old, old.Latest().Steps)
	if err != nil {
		return nil, err
	}
	testfile.Align(f.Steps, known)
	steps, err := bodies(f.Steps)
	if err != nil {
		return nil, err
	}
	after, _, err := g.Client.UpdateTestCase(ctx, old.ID, client.TestCaseChange{Name: w.Name, Intent: f.Intent, Description: f.Description,
		Tags: orEmpty(old.Tags), RunSettings: settingsOf(f), Steps: steps, BaseRevisionID: old.Latest().ID, BaseUpdateDate: old.LastUpdateDate})
	if err != nil {
		return nil, err
	}
	if err := g.Client.DeleteTestCase(ctx, made.ID); err != nil && !client.Is(err, client.Missing) {
		return after, errors.Join(fmt.Errorf("the draft %s is left on the server", made.ID), err)
	}
	return after, nil
}
