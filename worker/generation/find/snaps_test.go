package find

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// goldStep is a step of a pair's solution with the node that it meets.
type goldStep struct {
	N         int
	Ref, Near string
	Target    string
	Failed    string
}

type goldPair struct {
	Name, Lang, Kind, Page string
	Sentences, Codes       []string
	set                    string
}

// models reads the recorded snapshots of a pair.
func models(dir string) []*page.Model {
	var out []*page.Model
	for n := 0; ; n++ {
		data, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%d.json", n)))
		if err != nil {
			return out
		}
		var s snapshot.Snapshot
		if json.Unmarshal(data, &s) != nil {
			return out
		}
		out = append(out, page.New(&s))
	}
}

// node returns the node of a ref, -1 without one.
func node(m *page.Model, ref string) int {
	for i := range m.Nodes {
		if ref != "" && m.Nodes[i].Ref == ref {
			return i
		}
	}
	return -1
}

// goldMeets reports whether a candidate is what one of the steps from n on works on.
func goldMeets(m *page.Model, c *Candidate, steps []goldStep, n int) bool {
	ix := indexOf(m)
	for _, st := range steps {
		if st.N < n {
			continue
		}
		for _, ref := range []string{st.Near, st.Ref, st.Target} {
			g := node(m, ref)
			if g < 0 {
				continue
			}
			if c.What == Container && ix.ends[c.Node]-c.Node > len(m.Nodes)/2 {
				continue
			}
			if ix.nested(g, c.Node) {
				return true
			}
			if c.What == Field && fieldHas(m, c.Index, g, ix) {
				return true
			}
		}
	}
	return false
}

func fieldHas(m *page.Model, f, g int, ix *index) bool {
	pf := &m.Fields[f]
	for _, c := range []int{pf.Less, pf.More} {
		if c > 0 && c < len(m.Controls) && ix.nested(m.Controls[c].Node, g) {
			return true
		}
	}
	if m.FieldAt(g) == f || m.Nodes[g].Parent == m.Nodes[pf.Node].Parent {
		return true
	}
	for _, o := range m.Fields[f].Options {
		if o.Node >= 0 && ix.nested(o.Node, g) {
			return true
		}
	}
	return false
}

// tally counts by a key.
type tally struct{ right, wrong, missed, holds, fails, unknown int }

// TestSnaps resolves the targets of the development sentences on recorded snapshots, where
// SLIPWAY_SNAPS names their folder, and compares them with what the solutions work on. It
// writes what it found to the file of SLIPWAY_SNAPS_OUT; SLIPWAY_SNAPS_ONLY narrows the pairs.
func TestSnaps(t *testing.T) {
	dir := os.Getenv("SLIPWAY_SNAPS")
	if dir == "" {
		t.Skip("no recorded snapshots")
	}
	var out strings.Builder
	sums := map[string]*tally{}
	only := regexp.MustCompile(os.Getenv("SLIPWAY_SNAPS_ONLY"))
	for _, p := range goldPairs(t) {
		if !only.MatchString(p.set + "/" + p.Name) {
			continue
		}
		at := filepath.Join(dir, p.set, p.Name)
		data, err := os.ReadFile(filepath.Join(at, "steps.json"))
		if err != nil {
			falseClaims(&out, &p, dir, sums)
			continue
		}
		var steps []goldStep
		if err := json.Unmarshal(data, &steps); err != nil {
			t.Fatal(at, err)
		}
		resolvePair(&out, &p, models(at), steps, sums)
	}
	fmt.Fprintln(&out)
	for _, k := range sortedKeys(sums) {
		s := sums[k]
		line := fmt.Sprintf("%-20s right %3d wrong %3d missed %3d  claims: hold %3d fail %3d unknown %3d", k, s.right, s.wrong, s.missed, s.holds, s.fails, s.unknown)
		fmt.Fprintln(&out, line)
		t.Log(line)
	}
	if name := os.Getenv("SLIPWAY_SNAPS_OUT"); name != "" {
		if err := os.WriteFile(name, []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func sortedKeys(m map[string]*tally) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

func goldPairs(t *testing.T) []goldPair {
	base := filepath.Join("..", "..", "..", "..", "cmd", "localservice", "servicetest", "sentence", "foreign")
	var all []goldPair
	for _, set := range []string{"business", "everyday", "office", "shops"} {
		files, err := filepath.Glob(filepath.Join(base, set, "open", "pairs", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			var list []goldPair
			if err := json.Unmarshal(data, &list); err != nil {
				t.Fatal(err)
			}
			for _, p := range list {
				p.set = set
				all = append(all, p)
			}
		}
	}
	return all
}

// resolvePair resolves every target and form of a pair's sentence.
func resolvePair(out *strings.Builder, p *goldPair, ms []*page.Model, steps []goldStep, sums map[string]*tally) {
	text := intent.ReadIn(p.Sentences[0], p.Lang)
	if len(text.Readings) == 0 || len(ms) == 0 {
		return
	}
	src := p.Sentences[0]
	head := false
	note := func(verdict, what, got string) {
		if !head {
			fmt.Fprintf(out, "\n## %s/%s [%s] %s\n   %s\n", p.set, p.Name, p.Lang, src, text.Readings[0].String())
			head = true
		}
		fmt.Fprintf(out, "   %-6s %s -> %s\n", verdict, what, got)
		for _, k := range []string{"all", "lang " + p.Lang, "kind " + p.Kind} {
			s := sums[k]
			if s == nil {
				s = &tally{}
				sums[k] = s
			}
			switch verdict {
			case "right":
				s.right++
			case "WRONG":
				s.wrong++
			case "holds":
				s.holds++
			case "FAILS":
				s.fails++
			case "unknown":
				s.unknown++
			default:
				s.missed++
			}
		}
	}
	for gi := range text.Readings[0].Goals {
		g := &text.Readings[0].Goals[gi]
		if g.Claim != nil && !g.Forbidden {
			claimOn(note, g.Claim, ms, p.Lang, src)
		}
		switch {
		case g.Effect == intent.Filter, g.Effect == intent.Sort, g.Effect == intent.Act, g.Effect == intent.Submit, g.Effect == intent.Confirm:
			continue
		case g.Claim != nil, g.Forbidden, g.Effect == intent.Check, g.Effect == intent.Page, g.Effect == intent.Search, g.Effect == intent.Navigate:
			continue
		}
		for ti := range g.Target {
			d := &g.Target[ti]
			if d.Pronoun && len(d.Words) == 0 || g.Effect == intent.Add && (len(g.Fields) > 0 || len(ms) > 0 && !isClear(ms[0], d, p.Lang)) {
				continue
			}
			verdict, got := resolveOn(ms, steps, d, inOrFrom(g), Want{Kinds: Kinds(g.Effect), Lang: p.Lang, Within: -1, Hidden: true})
			note(verdict, fmt.Sprintf("%s %s", g.Effect, src[d.Span.From:d.Span.To]), got)
		}
		if len(g.Fields) > 0 {
			verdict, got := assignOn(ms, steps, g.Fields, p.Lang, src)
			note(verdict, fmt.Sprintf("%s fields", g.Effect), got)
		}
	}
}

// falseClaims evaluates the claims of a sentence that must not be COMPLETED on the page as it
// opens: at least one of them must not hold.
func falseClaims(out *strings.Builder, p *goldPair, dir string, sums map[string]*tally) {
	data, err := os.ReadFile(filepath.Join(dir, p.set, filepath.Base(filepath.Dir(p.Page))+".json"))
	var s snapshot.Snapshot
	if err != nil || json.Unmarshal(data, &s) != nil || !strings.Contains(strings.Join(p.Codes, " "), "ASSERTION") {
		return
	}
	text := intent.ReadIn(p.Sentences[0], p.Lang)
	m := page.New(&s)
	claims, held := 0, ""
	for _, g := range text.Readings[0].Goals {
		if g.Claim == nil {
			continue
		}
		claims++
		if e := Claim(nil, m, g.Claim, Want{Lang: p.Lang, Within: -1}); e.Known && e.Holds {
			held += " | " + e.Why
		}
	}
	if claims == 0 {
		return
	}
	k := "false claims"
	if sums[k] == nil {
		sums[k] = &tally{}
	}
	if held != "" {
		sums[k].wrong++
		fmt.Fprintf(out, "\n## %s/%s [%s] %s\n   %s\n   FALSE-HOLDS %s\n", p.set, p.Name, p.Lang, p.Sentences[0], text.Readings[0].String(), held)
		return
	}
	sums[k].right++
}

// claimOn evaluates a claim after the whole solution: all claims of what can be done hold then.
func claimOn(note func(verdict, what, got string), c *intent.Claim, ms []*page.Model, lang, src string) {
	var e, last Evidence
	verdict := "unknown"
	for n := len(ms) - 1; n > 0 && n >= len(ms)-3; n-- {
		e = Claim(ms[0], ms[n], c, Want{Lang: lang, Within: -1})
		if e.Known && e.Holds {
			verdict = "holds"
			break
		}
		if n == len(ms)-1 {
			last = e
			if e.Known {
				verdict = "FAILS"
			}
		}
	}
	if verdict != "holds" {
		e = last
	}
	missing := ""
	for _, m := range e.Missing {
		missing += " missing " + src[m.From:m.To]
	}
	note(verdict, "claim "+src[c.Span.From:c.Span.To], fmt.Sprintf("%s trivial %v %s%s", c.Property, e.Trivial, e.Why, missing))
}

func inOrFrom(g *intent.Goal) *intent.Description {
	if g.From != nil {
		return g.From
	}
	return g.In
}

func isClear(m *page.Model, d *intent.Description, lang string) bool {
	f := Description(m, d, Want{Kinds: Kinds(intent.Add), Lang: lang, Within: -1})
	return f.Clear()
}

// resolveOn searches the snapshots in order until one has the thing clearly.
func resolveOn(ms []*page.Model, steps []goldStep, d, in *intent.Description, w Want) (string, string) {
	first := ""
	for n, m := range ms {
		w.Within = -1
		if in != nil {
			if cs := Containers(m, in, w); len(cs) > 0 && cs[0].Score >= Enough && len(cs[0].Missing) == 0 {
				w.Within = cs[0].Node
			}
		}
		f := Description(m, d, w)
		got := fmt.Sprintf("%d: %s", n, brief(m, &f))
		if n == 0 {
			first = got
		}
		if !f.Clear() {
			continue
		}
		for i := range f.Candidates[:max(1, pluralCount(&f))] {
			if goldMeets(m, &f.Candidates[i], steps, n) {
				return "right", got // pages that draw anew have other refs for the second one
			}
		}
		return "WRONG", got
	}
	return "missed", first
}

func pluralCount(f *Found) int {
	if f.Plural {
		return len(f.Candidates)
	}
	return 1
}

// brief is a result in one line.
func brief(m *page.Model, f *Found) string {
	var b strings.Builder
	if len(f.Missing) > 0 {
		b.WriteString("missing ")
	}
	if f.Ambiguous {
		b.WriteString("ambiguous ")
	}
	if f.Uncertain != "" {
		b.WriteString("uncertain ")
	}
	for i, c := range f.Candidates {
		if i == 3 {
			break
		}
		why := []rune(c.Why)
		fmt.Fprintf(&b, "[%s %.2f %s miss %d %s] ", c.What, c.Score, m.Nodes[max(c.Node, 0)].Ref, len(c.Missing), string(why[:min(len(why), 40)]))
	}
	return b.String()
}

// assignOn assigns the values of a form on the snapshot that takes most of them.
func assignOn(ms []*page.Model, steps []goldStep, fields []intent.Field, lang, src string) (string, string) {
	best, bestGot, right := -100.0, "", false
	for n, m := range ms {
		a := Assign(m, fields, Want{Lang: lang, Within: -1, Hidden: true})
		score := -0.5*float64(len(a.Missing)) - 0.2*float64(len(a.Ambiguous))
		for _, s := range a.Slots {
			score += s.Score
		}
		if score <= best {
			continue
		}
		best = score
		ok := len(a.Missing) == 0 && len(a.Ambiguous) == 0
		got := fmt.Sprintf("%d: ", n)
		wrong := false
		for _, s := range a.Slots {
			met := goldMeets(m, &s.To, steps, 0)
			wrong = wrong || !met && !fields[s.Value].Keep && m.Fields[s.To.Index].Value != fields[s.Value].Value.Text
			got += fmt.Sprintf("[%s > %s %s %.2f %v] ", fields[s.Value].Value.Text, m.Fields[s.To.Index].Label, s.Label, s.Score, met)
		}
		for _, sp := range a.Missing {
			got += "missing " + src[sp.From:sp.To] + " "
		}
		for _, sp := range a.Ambiguous {
			got += "ambiguous " + src[sp.From:sp.To] + " "
		}
		bestGot, right = got, ok && !wrong
		if ok && wrong {
			bestGot = "WRONG " + got
		}
	}
	switch {
	case right:
		return "right", bestGot
	case strings.HasPrefix(bestGot, "WRONG "):
		return "WRONG", bestGot
	}
	return "missed", bestGot
}
