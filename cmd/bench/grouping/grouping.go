// Package grouping counts which crashes are grouped as a labelled set says: precision and
// recall by language.
//
// It starts nothing: it reads the set, computes the fingerprint of each report and compares
// pairs. What is grouped otherwise than labelled can be listed. A set that cannot be read
// ends the command with an error; a number that is too low is only printed.
package grouping

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/progress"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/labelled"
)

// Command measures the grouping of crashes on a labelled set. It starts
// nothing: the rules are pure.
type Command struct {
	Language string `help:"Only this language."`
	Failures bool   `help:"Print each wrong pair, and what the keys of its sides were computed from."`
	Set      string `help:"A folder of labelled files instead of the embedded set." type:"existingdir"`
}

// groupingLimit is the deadline of the measurement, which takes seconds.
const groupingLimit = 10 * time.Minute

// Run prints how well the crashes of the set are grouped.
func (c *Command) Run(ctx context.Context) error {
	return measure.RunParts(ctx, nil, []measure.Part{{Name: "grouping", Limit: groupingLimit, Run: func(ctx context.Context) error {
		defer progress.Waits(ctx, "the groups of a labelled set")()
		out := bufio.NewWriter(os.Stdout)
		if err := c.print(out); err != nil {
			return err
		}
		return out.Flush()
	}}})
}

func (c *Command) print(out io.Writer) error {
	set, err := c.read()
	if err != nil {
		return err
	}
	pairs, crashes := c.choose(set)
	if len(pairs)+len(crashes) == 0 {
		return fmt.Errorf("the set has nothing in %q", c.Language)
	}
	result := labelled.Measure(pairs, groupKey)
	printScores(out, &result)
	if len(crashes) > 0 {
		m := labelled.MeasureClusters(crashes, groupKey)
		fmt.Fprintf(out, "\n%d crashes of %d bugs in %d groups: B-cubed precision %.3f, recall %.3f\n",
			m.Crashes, m.Bugs, m.Groups, m.Precision, m.Recall)
	}
	if c.Failures {
		for i := range result.Wrong {
			printWrong(out, &result.Wrong[i])
		}
		printMixed(out, crashes)
	}
	return nil
}

func (c *Command) read() (*labelled.Set, error) {
	if c.Set == "" {
		return labelled.Embedded()
	}
	return labelled.Read(os.DirFS(c.Set))
}

// choose returns what is in the language asked for.
func (c *Command) choose(set *labelled.Set) ([]labelled.Pair, []labelled.Crash) {
	var pairs []labelled.Pair
	var crashes []labelled.Crash
	for _, p := range set.Pairs {
		if c.Language == "" || strings.EqualFold(p.Language, c.Language) {
			pairs = append(pairs, p)
		}
	}
	for _, r := range set.Crashes {
		if c.Language == "" || strings.EqualFold(r.Language, c.Language) {
			crashes = append(crashes, r)
		}
	}
	return pairs, crashes
}

func groupKey(c *labelled.Crash) [32]byte { return fingerprint.Compute(c.Report).Key }

func printScores(out io.Writer, r *labelled.Result) {
	fmt.Fprintln(out, "| Language | Pairs | Same joined | Other kept apart | Precision | Recall |")
	fmt.Fprintln(out, "|---|---:|---:|---:|---:|---:|")
	for _, s := range append(r.Languages, r.Total) {
		fmt.Fprintf(out, "| %s | %d | %d of %d | %d of %d | %.3f | %.3f |\n",
			s.Language, s.Same+s.Other, s.Joined, s.Same, s.Apart, s.Other, s.Precision(), s.Recall())
	}
}

func printWrong(out io.Writer, p *labelled.Pair) {
	verdict := "joined, but two bugs"
	if p.Same {
		verdict = "kept apart, but one bug"
	}
	fmt.Fprintf(out, "\n### %s: %s\n%s. %s\n", p.Language, p.Name, verdict, p.Why)
	printCrash(out, "a", p.A)
	printCrash(out, "b", p.B)
}

func printCrash(out io.Writer, label string, c *labelled.Crash) {
	fmt.Fprintln(out, label)
	for _, l := range c.Text.Lines() {
		fmt.Fprintln(out, "    "+l)
	}
	e := fingerprint.Compute(c.Report).Explanation
	fmt.Fprintf(out, "  key from %s:\n", e.Source)
	for _, l := range e.Material {
		fmt.Fprintln(out, "    > "+l)
	}
}

// printMixed prints a crash of each bug and group where the two disagree.
func printMixed(out io.Writer, crashes []labelled.Crash) {
	type cell struct {
		bug   string
		group [32]byte
	}
	groupsOf, bugsOf := make(map[string]map[[32]byte]bool), make(map[[32]byte]map[string]bool)
	for i := range crashes {
		bug, group := crashes[i].Language+" "+crashes[i].Bug, groupKey(&crashes[i])
		if groupsOf[bug] == nil {
			groupsOf[bug] = make(map[[32]byte]bool)
		}
		if bugsOf[group] == nil {
			bugsOf[group] = make(map[string]bool)
		}
		groupsOf[bug][group], bugsOf[group][bug] = true, true
	}
	printed := make(map[cell]bool)
	for i := range crashes {
		c := cell{bug: crashes[i].Language + " " + crashes[i].Bug, group: groupKey(&crashes[i])}
		if printed[c] || len(groupsOf[c.bug]) == 1 && len(bugsOf[c.group]) == 1 {
			continue
		}
		printed[c] = true
		fmt.Fprintf(out, "\n### %s: in %d groups; its group %x has %d bugs\n", c.bug, len(groupsOf[c.bug]), c.group[:4], len(bugsOf[c.group]))
		printCrash(out, "crash", &crashes[i])
	}
}
