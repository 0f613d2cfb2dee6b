package crash

import (
	"context"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/received"
)

// The functions of a group's stack stand with its title, where searches find them. They are
// those of the report that made the group, or of the one that gave it another title, and are
// written by the statement that writes the title: reports of a group that is there cost
// nothing. Groups that are older get those of their newest report, by ReadFunctions.

// maxFunctions bounds the functions of a group, in bytes: what is searched of a deep stack of
// long names is its beginning, which is the innermost.
const maxFunctions = 4 << 10

// functions returns the distinct functions of the stack, one a line, innermost first.
func (g *Grouping) functions() string {
	if len(g.Functions) > 0 {
		return joinFunctions(g.Functions)
	}
	return explainedFunctions(g.Explanation)
}

// explainedFunctions returns the functions of the frames that an explanation has; "" when it
// is none.
func explainedFunctions(explanation []byte) string {
	var read struct {
		Frames []struct {
			Function string `json:"function"`
		} `json:"frames"`
	}
	if len(explanation) == 0 || json.Unmarshal(explanation, &read) != nil {
		return ""
	}
	names := make([]string, 0, len(read.Frames))
	for _, f := range read.Frames {
		names = append(names, f.Function)
	}
	return joinFunctions(names)
}

// joinFunctions joins distinct names, each made fit for a line, as far as they have room.
func joinFunctions(names []string) string {
	var text strings.Builder
	seen := map[string]bool{"": true}
	for _, name := range names {
		name = strings.Join(strings.Fields(strings.ToValidUTF8(strings.ReplaceAll(name, "\x00", ""), "\uFFFD")), " ")
		if seen[name] {
			continue
		}
		seen[name] = true
		if text.Len()+1+len(name) > maxFunctions {
			break
		}
		if text.Len() > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(name)
	}
	if !utf8.ValidString(text.String()) {
		return ""
	}
	return text.String()
}

// HasUnreadFunctions reports whether there is a group whose functions are not searched yet.
func HasUnreadFunctions(ctx context.Context, q storage.Querier) (bool, error) {
	var there bool
	err := q.GetContext(ctx, &there, `select exists (select from crash_group_titles where not functions)`)
	return there, storage.Wrap(err, "look for crash groups without functions")
}

// UnreadFunctions returns groups whose functions are not searched yet.
func UnreadFunctions(ctx context.Context, q storage.Querier, limit int) ([]int64, error) {
	var groups []int64
	err := q.SelectContext(ctx, &groups, `select group_id from crash_group_titles where not functions order by group_id limit $1`, limit)
	return groups, storage.Wrap(err, "list crash groups without functions")
}

// ReadFunctions reads the functions of the newest report of each group, as its explanation
// has them; "" where there is none.
func (s *Store) ReadFunctions(ctx context.Context, groups []int64) ([]string, error) {
	texts := make([]string, len(groups))
	for i, group := range groups {
		var newest []struct {
			ID       uuid.UUID     `db:"id"`
			Explicit []byte        `db:"explanation"` // of a reading after the first
			Offsets  pq.Int64Array `db:"offsets"`
			Body     []byte        `db:"body"`
		}
		err := s.db.SelectContext(ctx, &newest, `
			with newest as (
				select c.id from crash_group_keys k cross join lateral (
					select r.id, r.occurred_at from crashes r where r.key_id = k.id order by r.occurred_at desc limit 1
				) c where k.group_id = $1 order by c.occurred_at desc limit 1
			)
			select n.id, y.explanation, e.offsets, e.body from newest n
			left join crash_symbolications y on y.crash_id = n.id
			left join crash_explanations e on e.batch_id = (left(n.id::text, 34) || '00')::uuid`, group)
		if err != nil {
			return nil, storage.Wrap(err, "newest report of a crash group")
		}
		if len(newest) == 0 {
			continue
		}
		n := &newest[0]
		if explanation, err := s.codec.Unpack(nil, n.Explicit); len(n.Explicit) > 0 && err == nil {
			texts[i] = explainedFunctions(explanation)
			continue
		}
		// What is broken has no functions: it must not keep the others from being read.
		body, err := s.codec.Unpack(nil, n.Body)
		_, entry := received.SplitID(n.ID)
		if len(n.Body) == 0 || err != nil || entry+1 >= len(n.Offsets) {
			continue
		}
		if from, to := n.Offsets[entry], n.Offsets[entry+1]; from >= 0 && from < to && to <= int64(len(body)) {
			texts[i] = explainedFunctions(body[from:to])
		}
	}
	return texts, nil
}

// WriteFunctions makes functions of groups searched. A group that got them meanwhile keeps
// those. The titles are locked in the order of their groups, as all do it.
func WriteFunctions(ctx context.Context, tx *storage.Tx, groups []int64, functions []string) error {
	_, err := tx.ExecContext(ctx, `
		with locked as materialized (
			select group_id from crash_group_titles where group_id = any($1) order by group_id for no key update
		)
		update crash_group_titles t set functions = true,
			text = case when n.functions = '' then t.text else t.text || E'\n' || n.functions end
		from unnest($1::bigint[], $2::text[]) as n(group_id, functions) join locked using (group_id)
		where t.group_id = n.group_id and not t.functions`, pq.Array(groups), pq.Array(functions))
	return storage.Wrap(err, "write functions of crash groups")
}
