package authoring

import (
	"context"

	"github.com/slipway-qa/slipway/storage"
)

// Tag is a tag with the number of cases that have it.
type Tag struct {
	Name  string `db:"tag"`
	Cases int    `db:"cases"`
}

// caseTags counts the total over the groups, so that a page has it too.
const caseTags = `
with tagged as (
	select tag, count(*) as cases from test_cases c cross join unnest(c.tags) as tag
	where c.organization_id = $1 and ($2::text = '' or strpos(lower(tag), lower($2::text)) > 0)
	group by tag
)
`

// Tags returns a page of the tags of an organization's cases, in alphabetical order,
// and the number of all that contain the text.
func Tags(ctx context.Context, q storage.Querier, organizationID int64, search string, page storage.Page) (list []Tag,
	total int, err error) {
	list = []Tag{}
	if page.RowLimit() > 0 {
		err := q.SelectContext(ctx, &list, caseTags+`select tag, cases from tagged order by lower(tag), tag limit $3 offset $4`,
			organizationID, search, page.RowLimit(), page.RowOffset())
		if err != nil {
			return nil, 0, storage.Wrap(err, "tags of test cases")
		}
	}
	err = q.GetContext(ctx, &total, caseTags+`select count(*) from tagged`, organizationID, search)
	return list, total, storage.Wrap(err, "count tags of test cases")
}
