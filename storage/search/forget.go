package search

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/condition"
	"github.com/slipway-qa/slipway/storage/crash/reading"
)

// ForgetAttribute deletes the saved searches of an organization whose filter has the value of
// an attribute by which somebody was forgotten, and returns how many. Their names may have it
// as well, so nothing of them is kept. Project 0 is every crash project.
func ForgetAttribute(ctx context.Context, tx *storage.Tx, organization, project int64, f condition.Attribute) (int64, error) {
	var list []struct {
		ID    int64  `db:"id"`
		Query string `db:"query"`
	}
	// A person has a hundred at most, and the index saved_searches_name has them together.
	err := tx.SelectContext(ctx, &list, `select id, query from saved_searches where organization_id = $1 and area = $2
		and (query like '%attribute%' or query like '%search=%') order by id for update`, organization, CrashGroups)
	if err != nil {
		return 0, storage.Wrap(err, "saved searches of an organization")
	}
	var ids []int64
	for _, saved := range list {
		if q, err := url.ParseQuery(saved.Query); err == nil && groupFilter(q).HasAttribute(f, project) {
			ids = append(ids, saved.ID)
		}
	}
	if len(ids) == 0 {
		return 0, nil
	}
	n, err := storage.Affected(tx.ExecContext(ctx, `delete from saved_searches where organization_id = $1 and id = any($2)`,
		organization, pq.Array(ids)))
	return n, storage.Wrap(err, "forget saved searches")
}

// groupFilter is what of a saved query may name a person, and the projects that it is about.
// The query was checked before it was saved.
func groupFilter(q url.Values) *reading.GroupFilter {
	f := &reading.GroupFilter{Search: q.Get("search")}
	for name, values := range q {
		key, attribute := strings.CutPrefix(name, "attribute.")
		project, _, _ := strings.Cut(name, "[")
		for _, value := range values {
			switch {
			case attribute:
				f.Attributes = append(f.Attributes, condition.Attribute{Key: key, Value: value})
			case project == "project":
				for text := range strings.SplitSeq(value, ",") {
					if id, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); err == nil {
						f.Projects = append(f.Projects, id)
					}
				}
			}
		}
	}
	return f
}
