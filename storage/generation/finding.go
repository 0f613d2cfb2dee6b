package generation

import "github.com/slipway-qa/slipway/storage"

// Findings say of a generation how its text was taken.
type Findings struct {
	Clauses    []Clause    `json:"clauses"`    // of a text that was not understood: how far each came
	Candidates []Candidate `json:"candidates"` // the nearest things, best first, where none was clearly meant
	Trivial    []string    `json:"trivial"`    // assertions that held before anything was done
	Decided    []Decision  `json:"decided"`    // what a model decided; the rest the planner did
}

// Clause is a part of a text.
type Clause struct {
	Text string   `json:"text"`
	Done bool     `json:"done"`
	Left []string `json:"left"` // its words that were neither executed nor checked
}

// Candidate is a thing of the page that may have been meant.
type Candidate struct {
	What  string  `json:"what"`  // role and name
	Score float64 `json:"score"` // 0 to 1
	Why   string  `json:"why"`
}

// Decision is what was decided by whom.
type Decision struct {
	What string `json:"what"`
	By   string `json:"by"`
}

const (
	// maxFindings bounds each list of findings.
	maxFindings = 200
	// maxFinding bounds each of their texts, in characters.
	maxFinding = 1000
)

// Each changes every text of the findings.
func (f *Findings) Each(change func(string) string) *Findings {
	if f == nil {
		return nil
	}
	out := &Findings{Clauses: []Clause{}, Candidates: []Candidate{}, Trivial: each(f.Trivial, change), Decided: []Decision{}}
	for _, c := range f.Clauses[:min(len(f.Clauses), maxFindings)] {
		out.Clauses = append(out.Clauses, Clause{change(c.Text), c.Done, each(c.Left, change)})
	}
	for _, c := range f.Candidates[:min(len(f.Candidates), maxFindings)] {
		out.Candidates = append(out.Candidates, Candidate{change(c.What), c.Score, change(c.Why)})
	}
	for _, d := range f.Decided[:min(len(f.Decided), maxFindings)] {
		out.Decided = append(out.Decided, Decision{change(d.What), change(d.By)})
	}
	return out
}

func each(list []string, change func(string) string) []string {
	out := []string{}
	for _, s := range list[:min(len(list), maxFindings)] {
		out = append(out, change(s))
	}
	return out
}

// bounded are findings as they are stored; nil stays nil.
func (f *Findings) bounded() any {
	if f == nil {
		return nil
	}
	return f.Each(func(s string) string { return storage.Cut(Message(s), maxFinding) })
}
