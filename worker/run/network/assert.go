package network

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/traffic"
)

const (
	// maxBodies bounds how many bodies a test asks for, each of 1 MiB at most. More is
	// not a request that somebody has in mind.
	maxBodies = 32
	// maxContent bounds what is compared of a file, in bytes.
	maxContent = 10 << 20
)

// assert waits until an assertion is true.
func (n *Network) assert(ctx context.Context, a step.Args, deadline time.Time) error {
	switch a.Matcher.Name {
	case step.RequestIs:
		return n.assertRequest(ctx, a.Matcher.Args, a.Not, deadline)
	case step.ResponseIs:
		return n.assertResponse(ctx, a.Matcher.Args, a.Not, deadline)
	case step.DownloadIs:
		return n.assertDownload(ctx, a.Matcher.Args, a.Not, deadline)
	case step.ConsoleIs:
		return n.assertConsole(ctx, a.Matcher.Args, a.Not)
	}
	return failf("the matcher %s is unknown", n.cfg.Quote(a.Matcher.Name, 60))
}

// untrue is the failure of an assertion. Its text says what was expected, and behind a semicolon
// what there is.
func untrue(format string, args ...any) *Failure {
	f := &Failure{Text: fmt.Sprintf(format, args...), Assertion: true}
	if expected, actual, ok := strings.Cut(f.Text, "; "); ok {
		f.Expected, f.Actual = strings.Replace(expected, "expected ", "", 1), actual
	}
	return f
}

// assertRequest compares how many requests there are.
func (n *Network) assertRequest(ctx context.Context, m step.MatcherArgs, not bool, deadline time.Time) error {
	w, err := newWanted(m.URL, m.Method, nil)
	if err != nil {
		return err
	}
	check, err := newTextCheck(m.Body)
	if err != nil {
		return err
	}
	mode, count := m.Mode, 1
	if m.Count == nil {
		mode = step.AtLeast
	} else {
		count = *m.Count
	}
	if mode == "" {
		mode = step.Equals
	}
	return n.untilTraffic(ctx, deadline, func() (bool, *Failure, error) {
		found, last, unknown, err := n.count(ctx, w, func(e traffic.Entry) (bool, string, error) {
			return n.bodyIs(ctx, e, "request", check)
		})
		if err != nil {
			return false, nil, err
		}
		is := map[string]bool{step.Equals: found == count, step.AtLeast: found >= count, step.AtMost: found <= count}[mode]
		text := fmt.Sprintf("expected %s%s %d requests%s to %s%s; there are %d%s", negated(not), strings.ReplaceAll(mode, "_", " "), count,
			of(m.Method), n.cfg.Quote(m.URL, maxShown), n.bodyText(m.Body), found, last)
		// What is forgotten may have been one more.
		if unknown != "" && (mode != step.AtLeast || not || !is) {
			return false, untrue("%s; %s", text, unknown), nil
		}
		return is != not, untrue("%s", text), nil
	})
}

// assertResponse compares whether there is a response that is as it must be.
func (n *Network) assertResponse(ctx context.Context, m step.MatcherArgs, not bool, deadline time.Time) error {
	w, err := newWanted(m.URL, m.Method, nil)
	if err != nil {
		return err
	}
	check, err := newTextCheck(m.Body)
	if err != nil {
		return err
	}
	var header *textCheck
	if h := m.Header; h != nil {
		if header, err = newTextCheck(&step.BodyCheck{Value: h.Value, Mode: h.Mode}); err != nil {
			return err
		}
	}
	status := ""
	if m.Status != nil {
		status = fmt.Sprintf(" with status %d", *m.Status)
	}
	if m.Header != nil {
		status += fmt.Sprintf(" with the header %s: %s", m.Header.Name, n.cfg.Quote(m.Header.Value, maxShown))
	}
	return n.untilTraffic(ctx, deadline, func() (bool, *Failure, error) {
		found, last, unknown, err := n.count(ctx, w, func(e traffic.Entry) (bool, string, error) {
			switch {
			case e.Status == 0 && !e.Done && not:
				return false, "", errUnknown
			case e.Status == 0 || m.Status != nil && e.Status != *m.Status:
				return false, "", nil
			case header != nil:
				if value, ok := e.Header(m.Header.Name); !ok || !header.compare(value) {
					return false, "", nil
				}
			}
			return n.bodyIs(ctx, e, "response", check)
		})
		if err != nil {
			return false, nil, err
		}
		text := fmt.Sprintf("expected %sa response%s of %s%s%s; there are %d%s", negated(not), of(m.Method), n.cfg.Quote(m.URL, maxShown), status,
			n.bodyText(m.Body), found, last)
		if unknown != "" && (not || found == 0) {
			return false, untrue("%s; %s", text, unknown), nil
		}
		return (found > 0) != not, untrue("%s", text), nil
	})
}

// errUnknown means that it cannot be said whether a request is as it must be.
var errUnknown = errors.New("network: not known")

// count returns how many of the requests that are meant are as they must be, and for
// people the last that is not. unknown is why there may be more of them; "" when not.
func (n *Network) count(ctx context.Context, w wanted, is func(traffic.Entry) (bool, string, error)) (found int, last,
	unknown string, err error) {
	unknown = n.forgotten()
	var meant []traffic.Entry
	n.traffic.Find(func(e *traffic.Entry) bool {
		if w.fits(e) {
			meant = append(meant, *e)
		}
		return false
	})
	for _, e := range meant { // the newest first
		fits, why, err := is(e)
		switch {
		case errors.Is(err, errUnknown):
			unknown = "of " + n.describe(e) + " it is not known" + why
		case err != nil:
			return 0, "", "", err
		case fits:
			found++
		case last == "":
			last = "; the last other one is " + n.describe(e) + why
		}
	}
	return found, last, unknown, nil
}

// forgotten says, for people, what is not known; "" when all is.
func (n *Network) forgotten() string {
	entries, events := n.traffic.Lost()
	switch {
	case entries > 0:
		return fmt.Sprintf("the first %d requests are no longer known", entries)
	case events > 0:
		return "the page requested faster than it could be recorded"
	}
	return ""
}

func negated(not bool) string {
	if not {
		return "not "
	}
	return ""
}

func of(method string) string {
	if method == "" {
		return ""
	}
	return " of " + method
}

func (n *Network) bodyText(b *step.BodyCheck) string {
	if b == nil {
		return ""
	}
	mode := b.Mode
	if mode == "" {
		mode = step.Equals
	}
	at := ""
	if b.Path != "" {
		at = " at " + b.Path
	}
	return fmt.Sprintf(" whose body%s %s %q", at, mode, n.cfg.Quote(b.Value, maxShown))
}

// assertDownload compares whether there is a download that is as it must be.
func (n *Network) assertDownload(ctx context.Context, m step.MatcherArgs, not bool, deadline time.Time) error {
	glob, err := nameGlob(m.Name)
	if err != nil {
		return err
	}
	var check *textCheck
	if m.Value != "" || m.Mode != "" {
		if check, err = newTextCheck(&step.BodyCheck{Value: m.Value, Mode: m.Mode}); err != nil {
			return err
		}
	}
	err = until(ctx, deadline, n.downloads.Changed, n.downloads.Ended(), func() (bool, *Failure, error) {
		found, last := false, "there is none"
		for _, f := range n.downloads.Files() {
			name := fmt.Sprintf("there is %q", n.cfg.Quote(f.Name, maxShown))
			switch {
			case !f.Done:
				last = name + ", which has not ended"
				continue
			case f.Failure != "":
				last = name + ": " + f.Failure
				continue
			case !glob.Match(f.Name):
				last = name
				continue
			case m.Size != nil && f.Size != *m.Size:
				last = fmt.Sprintf("%s of %d bytes", name, f.Size)
				continue
			case check != nil:
				content, err := n.contentOf(f)
				if err != nil {
					return false, nil, failf("the file cannot be read")
				}
				if !check.compare(content) {
					last = fmt.Sprintf("%s with %q", name, n.cfg.Quote(content, maxShown))
					continue
				}
			}
			found = true
			if not {
				last = name
			}
		}
		return found != not, untrue("expected %sa download%s; %s", negated(not), n.downloadText(m), last), nil
	})
	return n.orLost(ctx, err)
}

func (n *Network) downloadText(m step.MatcherArgs) (text string) {
	if m.Name != "" {
		text += " of the name " + n.cfg.Quote(m.Name, maxShown)
	}
	if m.Size != nil {
		text += fmt.Sprintf(" of %d bytes", *m.Size)
	}
	if m.Value != "" || m.Mode != "" {
		text += strings.TrimPrefix(n.bodyText(&step.BodyCheck{Value: m.Value, Mode: m.Mode}), " whose body")
	}
	return text
}

// assertConsole compares whether pages wrote errors. One that is written stays, so
// nothing is waited for.
func (n *Network) assertConsole(ctx context.Context, m step.MatcherArgs, not bool) error {
	var ignored []*regexp.Regexp
	for _, text := range m.Ignore {
		pattern, err := step.Pattern(text)
		if err != nil {
			return failf("a pattern of ignore %v", err)
		}
		ignored = append(ignored, pattern)
	}
	lines, lost, known := n.cfg.Console(ctx)
	if !known {
		return failf("this browser's driver offers no WebDriver BiDi, so its console cannot be seen")
	}
	lines = slices.DeleteFunc(lines, func(line string) bool {
		return slices.ContainsFunc(ignored, func(pattern *regexp.Regexp) bool { return pattern.MatchString(line) })
	})
	switch {
	case len(lines) > 0 && !not:
		return untrue("expected no errors in the console; there are %d, the first is %q", len(lines),
			n.cfg.Quote(strings.TrimSpace(lines[0]), maxShown))
	case len(lines) == 0 && not:
		return untrue("expected errors in the console; there are none")
	case len(lines) == 0 && lost:
		return untrue("expected no errors in the console; the pages wrote so much that its first lines are no longer known")
	}
	return nil
}
