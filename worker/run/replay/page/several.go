package page

// Several is what a page script returns for a selector that finds several
// elements and does not say which: the selector itself, or one that it is within.
type Several struct {
	Selector   Selector `json:"selector"`
	Count      int      `json:"count"`
	Candidates []struct {
		What string `json:"what"` // tag and id
		Text string `json:"text"`
	} `json:"candidates"`
}
