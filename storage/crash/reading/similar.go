package reading

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/condition"
)

// Groups that may be one bug are found by what they share: functions of the stack, the culprit,
// the classifier, the words of the title. Candidates come from the index of the search, by the
// innermost functions; how alike two are is computed here, and says why.

const (
	// similarTerms is how many texts candidates are looked for by, similarPerTerm how many are
	// taken of each: a function of every stack finds thousands.
	similarTerms   = 4
	similarPerTerm = 100
	// shortTerm is the length below which a text says too little to look for.
	shortTerm = 6
	// maxSimilar bounds what is shown; minSimilar is how alike it must be.
	maxSimilar = 10
	minSimilar = 0.35
	// comparedFunctions are the innermost functions that are compared.
	comparedFunctions = 30
)

// Similar is a group that is like another.
type Similar struct {
	ID         int64            `db:"id"`
	Title      string           `db:"title"`
	Culprit    string           `db:"culprit"`
	Classifier string           `db:"classifier"`
	State      crash.GroupState `db:"state"`
	Count      int64            `db:"count"`
	Users      int64            `db:"users"`
	LastSeen   time.Time        `db:"last_seen"`
	Text       string           `db:"text"`

	// Score is from 0 to 1; Reasons say what the two share, what weighs most first.
	Score   float64
	Reasons []SimilarReason
}

// SimilarReason is something that two groups share.
type SimilarReason struct {
	What string // functions, culprit, classifier or title
	// Shared are the shared functions, innermost first and at most five, or the shared text.
	Shared []string
	// Of counts the distinct functions of both; 0 for what is no list.
	Of int
}

// similarColumns are those of a group g with its title t.
const similarColumns = `g.id, g.title, g.culprit, g.classifier, ` + crash.ShownState +
	` as state, g.count, g.users, g.last_seen, coalesce(t.text, '') as text`

// SimilarGroups returns groups of the same crash project that are like one that is shown, the
// most similar first.
func SimilarGroups(ctx context.Context, q storage.Querier, organization, group int64) ([]Similar, error) {
	var self struct {
		Similar
		ProjectID int64 `db:"crash_project_id"`
	}
	err := q.GetContext(ctx, &self, `select g.crash_project_id, `+similarColumns+` from crash_groups g
		left join crash_group_titles t on t.group_id = g.id where g.organization_id = $1 and g.id = $2`, organization, group)
	if err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("crash group %d", group))
	}
	terms := self.terms()
	if len(terms) == 0 {
		return []Similar{}, nil
	}
	c := &condition.List{}
	org, project := c.Arg(organization), c.Arg(self.ProjectID)
	branches := make([]string, len(terms))
	for i, term := range terms {
		branches[i] = "(select p.id, p.root_id from crash_group_titles t join crash_groups p on p.id = t.group_id where t.organization_id = " +
			org +
			" and (t.organization_id::text || ' ' || t.text) ilike " + c.Arg("%"+escapeLike(term)+"%") +
			" and p.crash_project_id = " + project + " limit " + c.Arg(similarPerTerm) + ")"
	}
	var list []Similar
	err = q.SelectContext(ctx, &list, `select `+similarColumns+` from crash_groups g left join crash_group_titles t on t.group_id = g.id
		where g.id in (select coalesce(n.root_id, n.id) from (`+strings.Join(branches, " union all ")+`) n) and g.id <> `+c.Arg(group), c.Args...)
	if err != nil {
		return nil, storage.Wrap(err, "similar crash groups")
	}
	alike := []Similar{}
	for i := range list {
		if list[i].compare(&self.Similar); list[i].Score >= minSimilar {
			alike = append(alike, list[i])
		}
	}
	slices.SortFunc(alike, func(a, b Similar) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) })
	return alike[:min(len(alike), maxSimilar)], nil
}

// functions are the innermost functions of the group.
func (s *Similar) functions() []string {
	head := strings.Join([]string{s.Title, s.Culprit, s.Classifier}, "\n")
	rest, ok := strings.CutPrefix(s.Text, head+"\n")
	if !ok {
		return nil
	}
	lines := strings.Split(rest, "\n")
	return lines[:min(len(lines), comparedFunctions)]
}

// terms are the texts by which similar groups are looked for.
func (s *Similar) terms() []string {
	var terms []string
	for _, f := range s.functions() {
		if len(f) >= shortTerm && len(terms) < similarTerms {
			terms = append(terms, f)
		}
	}
	if words := longestRun(s.Title); len(words) >= shortTerm && len(terms) < similarTerms {
		terms = append(terms, words)
	}
	return terms
}

// longestRun is the longest part of a text between digits and quotes, which differ from report
// to report.
func longestRun(text string) (longest string) {
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return unicode.IsDigit(r) || strings.ContainsRune("'\"`", r) || unicode.IsControl(r)
	}) {
		if part = strings.TrimSpace(part); len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

// The weights of what two groups share; together 1.
const (
	functionsWeight  = 0.5
	culpritWeight    = 0.2
	classifierWeight = 0.1
	titleWeight      = 0.2
)

// compare sets how alike a group is to another, and why.
func (s *Similar) compare(other *Similar) {
	shared, all := overlap(s.functions(), other.functions())
	s.share("functions", functionsWeight*ratio(len(shared), all), shared, all)
	if s.Culprit != "" && s.Culprit == other.Culprit {
		s.share("culprit", culpritWeight, []string{s.Culprit}, 0)
	}
	if s.Classifier != "" && s.Classifier == other.Classifier {
		s.share("classifier", classifierWeight, []string{s.Classifier}, 0)
	}
	words, all := overlap(titleWords(s.Title), titleWords(other.Title))
	s.share("title", titleWeight*ratio(len(words), all), []string{strings.Join(words, " ")}, 0)
	if s.functions() == nil && other.functions() == nil {
		s.Score /= 1 - functionsWeight // messages without a stack are compared by what there is
	}
	slices.SortStableFunc(s.Reasons, func(a, b SimilarReason) int { return cmp.Compare(len(b.Shared), len(a.Shared)) })
}

// share adds to the score, and the reason where it adds something.
func (s *Similar) share(what string, score float64, shared []string, of int) {
	if score == 0 {
		return
	}
	const shown = 5
	s.Score += score
	s.Reasons = append(s.Reasons, SimilarReason{What: what, Shared: shared[:min(len(shared), shown)], Of: of})
}

func ratio(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// titleWords are the words of a title; numbers differ from report to report.
func titleWords(title string) []string {
	return strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return !unicode.IsLetter(r) })
}

// overlap returns what is in both lists, in the order of the first, and how many distinct ones
// there are in both together.
func overlap(a, b []string) (shared []string, all int) {
	in := make(map[string]bool, len(b))
	for _, text := range b {
		in[text] = true
	}
	all = len(in)
	seen := make(map[string]bool, len(a))
	for _, text := range a {
		switch {
		case seen[text]:
		case in[text]:
			shared = append(shared, text)
		default:
			all++
		}
		seen[text] = true
	}
	return shared, all
}
