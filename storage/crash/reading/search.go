package reading

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/condition"
)

// shortSearch is the length in characters below which a text has no trigram, so that no
// index finds it in messages.
const shortSearch = 3

// foundBy selects the groups of which the text is a part of title, culprit, classifier, of a
// function of the stack or of a message, in any case, or the beginning of the fingerprint. Texts too short for
// the index are looked for in titles, culprits and classifiers only. A group that is
// shown is found by its parts.
func foundBy(c *condition.List, organizationID int64, organization, text string) string {
	part := c.Arg("%" + escapeLike(text) + "%")
	// The organization stands at the beginning of what is indexed.
	indexed := c.Arg(fmt.Sprintf("%d %%%s%%", organizationID, escapeLike(text)))
	found := []string{
		"select t.group_id from crash_group_titles t where t.organization_id = " + organization +
			" and (t.organization_id::text || ' ' || t.text) ilike " + indexed,
		// From before there were these tables.
		"select o.id from crash_groups o where o.organization_id = " + organization + " and o.facets_at is null" +
			" and (o.title ilike " + part + " or o.culprit ilike " + part + " or o.classifier ilike " + part + ")",
	}
	if utf8.RuneCountInString(text) >= shortSearch {
		found = append(found, "select m.group_id from crash_group_messages m where m.organization_id = "+organization+
			" and (m.organization_id::text || ' ' || m.message) ilike "+indexed)
	}
	if first, last, ok := fingerprintRange(text); ok {
		found = append(found, "select k.group_id from crash_projects p join crash_group_keys k on k.crash_project_id = p.id"+
			" and k.key between "+c.Arg(first)+" and "+c.Arg(last)+" where p.organization_id = "+organization)
	}
	return "select coalesce(h.root_id, h.id) from crash_groups h where h.id in (" + strings.Join(found, " union all ") + ")"
}

// findText returns the groups that a search finds, once for the count and the page; nil
// when there are more than are named at once, which the page then looks for itself.
func findText(ctx context.Context, q storage.Querier, organization int64, text string) ([]int64, error) {
	c := &condition.List{}
	query := foundBy(c, organization, c.Arg(organization), text)
	ids := []int64{}
	if err := q.SelectContext(ctx, &ids, query+" limit "+c.Arg(knownGroups+1), c.Args...); err != nil {
		return nil, storage.Wrap(err, "search crash groups")
	}
	if len(ids) > knownGroups {
		return nil, nil
	}
	return ids, nil
}

// fingerprintBytes is the length of a fingerprint.
const fingerprintBytes = 32

// fingerprintRange returns the first and last fingerprint that begin with a text of
// hexadecimal digits.
func fingerprintRange(text string) (first, last []byte, ok bool) {
	const digits = 2 * fingerprintBytes
	if len(text) == 0 || len(text) > digits {
		return nil, nil, false
	}
	first, err := hex.DecodeString(text + strings.Repeat("0", digits-len(text)))
	if err != nil {
		return nil, nil, false
	}
	last, err = hex.DecodeString(text + strings.Repeat("f", digits-len(text)))
	return first, last, err == nil
}
