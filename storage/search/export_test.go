package search

// Statement is what Find asks for a kind, and its arguments; "" where it asks nothing.
func Statement(organization int64, typed string, kind Kind, limit int) (query string, args []any) {
	s := newStatement(organization, parse(typed))
	query = s.of(kind, limit)
	return query, s.args
}

// Excerpt is the part of a text that is shown.
var Excerpt = excerpt
