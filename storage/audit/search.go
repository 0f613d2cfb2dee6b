package audit

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

const (
	// newest is how many of the newest events a search looks at before it asks the index
	// of texts: what is in one of ten events fills a page.
	newest = 300
	// frequent of them let a search go on in the order of time, where it reads fewer events
	// until the page is full than a span has that match.
	frequent = 5
	// newestShort is the same for one and two letters, which the index of texts does not
	// know: the search ends with them.
	newestShort = 1500
	// trigram is the shortest text that the index knows.
	trigram = 3
	// maxSearch bounds what is searched, in characters.
	maxSearch = 200
	// SearchReach is how far the matches of a search are counted.
	SearchReach = 500
	// span is the time of events that have one key in the index of texts.
	span = 30 * 24 * time.Hour
	// spanKeys keeps the spans of organizations apart.
	spanKeys = 100_000
)

// textOf is what a search looks at, as the index audit_events_text has it, and spansOf
// the organization and its span.
const (
	textOf  = `lower(e.actor || ' ' || e.subject || ' ' || e.ip_address || ' ' || e.detail::text)`
	spansOf = `array[e.organization_id, -(e.organization_id * 100000 + floor(extract(epoch from e.at at time zone 'UTC') / 2592000)::bigint)]`
)

// pattern is a text for LIKE, taken literally.
func pattern(text string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(strings.ToLower(text)) + "%"
}

// CheckSearch refuses a text that is longer than anything to be found, or that no
// database text can be.
func CheckSearch(text string) error {
	if utf8.RuneCountInString(text) > maxSearch {
		return storage.Invalid("search", "must have at most %d characters", maxSearch)
	}
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return storage.Invalid("search", "must be UTF-8 text")
	}
	return nil
}

// search finds the ids of a page. The newest events are looked at one by one, which is
// enough for what is in most of them. What is rare is found by the index of texts as a
// whole; of what is neither, the events are read in the order of time, or the spans are
// asked one after the other, until the page is full.
func (f *Filter) search(ctx context.Context, q storage.Querier, p storage.Page) ([]int64, storage.Total, error) {
	like, reach := pattern(f.Search), newest
	short := utf8.RuneCountInString(f.Search) < trigram
	if short {
		reach = newestShort
	}
	found, all, err := f.amongNewest(ctx, q, like, reach)
	if err != nil {
		return nil, storage.Total{}, err
	}
	if all || short || len(found) > p.RowOffset()+p.RowLimit() {
		total := storage.Total{Rows: len(found), Exact: all}
		return cut(pageOf(found, p), p, &total), total, nil
	}
	early := len(found)
	found, err = f.byText(ctx, q, like, f.Organizations, SearchReach+1)
	if err != nil {
		return nil, storage.Total{}, err
	}
	if len(found) <= SearchReach {
		total := storage.Total{Rows: len(found), Exact: true}
		return cut(pageOf(found, p), p, &total), total, nil
	}
	total := storage.Total{Rows: SearchReach}
	if early >= frequent {
		ids, err := f.ordered(ctx, q, like, p)
		return cut(ids, p, &total), total, err
	}
	found, err = f.bySpans(ctx, q, like, p.RowOffset()+p.RowLimit()+1)
	return cut(pageOf(found, p), p, &total), total, err
}

// pageOf returns the page's ids of a list, and one more.
func pageOf(ids []int64, p storage.Page) []int64 {
	ids = ids[min(p.RowOffset(), len(ids)):]
	return ids[:min(p.RowLimit()+1, len(ids))]
}

// amongNewest finds the matches among the newest events that the other conditions
// select; all says that there are no older ones.
func (f *Filter) amongNewest(ctx context.Context, q storage.Querier, like string, reach int) (ids []int64, all bool, err error) {
	var s statement
	from, condition := f.sources(&s)
	limit := s.arg(reach + 1)
	query := `select e.id, ` + textOf + ` like ` + s.arg(like) + ` as found from (
		select e.id, e.at from ` + from + ` cross join lateral (select e.id, e.at from audit_events e where ` + condition + newestFirst + `
			limit ` + limit + `) e` + newestFirst + ` limit ` + limit + `) p
		join audit_events e on e.id = p.id` + newestFirst
	var rows []struct {
		ID    int64 `db:"id"`
		Found bool  `db:"found"`
	}
	if err := q.SelectContext(ctx, &rows, query, s.args...); err != nil {
		return nil, false, storage.Wrap(err, "search the newest audit events")
	}
	for _, row := range rows {
		if row.Found {
			ids = append(ids, row.ID)
		}
	}
	return ids, len(rows) <= reach, nil
}

// byText finds matches by the index of texts, newest first: all of them, or as many as
// the limit of them. keys are organizations or spans. The inner part is planned for all of
// its rows, so that the index is asked and not the order of time.
func (f *Filter) byText(ctx context.Context, q storage.Querier, like string, keys []int64, limit int) ([]int64, error) {
	var s statement
	condition := spansOf + " && " + s.arg(pq.Array(keys)) + "::bigint[]"
	if piece := selective(f.Search); piece != "" {
		// The index is asked for the piece, the row for the whole.
		condition += " and " + textOf + " like " + s.arg(pattern(piece)) + " and " + textOf + " || '' like " + s.arg(like)
	} else {
		condition += " and " + textOf + " like " + s.arg(like)
	}
	if len(f.Types) > 0 {
		condition += " and e.type = any(" + s.arg(pq.Array(f.Types)) + "::integer[])"
	}
	condition += f.narrow(&s)
	query := `with found as materialized (select e.id, e.at from audit_events e where ` + condition + `)
		select e.id from (select * from found limit ` + s.arg(limit) + `) e` + newestFirst
	var ids []int64
	err := q.SelectContext(ctx, &ids, query, s.args...)
	return ids, storage.Wrap(err, "search audit events")
}

// selective returns the part of a mail address that the index of texts is asked for, ""
// for other texts. The index intersects the lists of all groups of three letters, and
// those of a domain are as long as the log; the letters before the @ are rare.
func selective(text string) string {
	local, domain, ok := strings.Cut(text, "@")
	letters := []rune(local)
	if !ok || len(letters) < trigram || len(domain) < trigram {
		return ""
	}
	return string(letters[max(0, len(letters)-selectiveLetters):]) + "@"
}

// selectiveLetters are enough to tell people apart nearly always, and few lists.
const selectiveLetters = 4

const oldest = `
select coalesce(min(e.at), now()) from unnest($1::bigint[]) as o (id) cross join lateral (
	select e.at from audit_events e where e.organization_id = o.id order by e.at, e.id limit 1) e`

// bySpans finds at least want matches, newest first, span after span; fewer when there
// are no more.
func (f *Filter) bySpans(ctx context.Context, q storage.Querier, like string, want int) ([]int64, error) {
	var begin time.Time
	if err := q.GetContext(ctx, &begin, oldest, pq.Array(f.Organizations)); err != nil {
		return nil, storage.Wrap(err, "the oldest audit event")
	}
	end := time.Now().Add(span) // a clock of the database that goes ahead
	if !f.To.IsZero() && f.To.Before(end) {
		end = f.To
	}
	if f.From.After(begin) {
		begin = f.From
	}
	var found []int64
	for at := spanOf(end); at >= spanOf(begin) && len(found) < want; at-- {
		keys := make([]int64, 0, len(f.Organizations))
		for _, id := range f.Organizations {
			keys = append(keys, -(id*spanKeys + at))
		}
		ids, err := f.byText(ctx, q, like, keys, 1<<31-1)
		if err != nil {
			return nil, err
		}
		found = append(found, ids...)
	}
	return found, nil
}

func spanOf(t time.Time) int64 { return t.Unix() / int64(span/time.Second) }
