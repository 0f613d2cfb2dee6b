package find

import "strings"

// literal puts the only control among equal ones first that is called letter by letter as the text
// says: of "Accept" and "Accepted" the second.
func (s *searcher) literal(all []Candidate) {
	says := strings.ToLower(said(s.d))
	at := -1
	for i := range all {
		c := &all[i]
		if all[0].Score-c.Score >= Margin || c.What != Control || all[0].What != Control {
			break
		}
		if strings.ToLower(strings.TrimSpace(c.Why)) == says && says != "" {
			if at >= 0 {
				return
			}
			at = i
		}
	}
	if at >= 0 {
		all[at].Score = min(all[0].Score+Margin, 1)
		for i := range all {
			if i != at {
				all[i].Score = min(all[i].Score, all[at].Score-Margin)
			}
		}
		all[0], all[at] = all[at], all[0]
	}
}
