package distribution

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// A slug is a label of 6 to 63 characters that neither begins nor ends with a
// separator. The first version's community_token is any text
// of at least six such characters; that it holds a letter or digit
// keeps it apart from what a URL takes for a path.
var (
	slugForm  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{4,61}[A-Za-z0-9]$`)
	looseSlug = regexp.MustCompile(`^[A-Za-z0-9._-]{6,255}$`)
)

func checkSlug(slug string, loose bool) error {
	switch {
	case slugForm.MatchString(slug):
		return nil
	case loose && looseSlug.MatchString(slug) && strings.Trim(slug, "._-") != "":
		return nil
	case loose:
		return storage.Invalid("landing_page_slug", "must have 6 to 255 letters, digits, dots, hyphens and underscores")
	}
	return storage.Invalid("landing_page_slug",
		"must have 6 to 63 letters, digits, dots, hyphens and underscores and must not start or end with a separator")
}

// newToken is the name of a page: 130 random bits, read aloud without trouble.
func newToken() string { return strings.ToLower(rand.Text()) }

// lock takes a lock by name until the transaction ends; the package's comment has
// the order.
func lock(ctx context.Context, tx *storage.Tx, kind string, parts ...any) error {
	return lockKeys(ctx, tx, kind, []string{lockKey(kind, parts...)})
}

// lockKey returns the text that stands for what a lock is about.
func lockKey(kind string, parts ...any) string {
	key := "slipway." + kind
	for _, part := range parts {
		key += fmt.Sprintf("/%v", part)
	}
	return key
}

// lockKeys takes locks in the order of their keys in the list.
func lockKeys(ctx context.Context, tx *storage.Tx, kind string, keys []string) error {
	_, err := tx.ExecContext(ctx, `select pg_advisory_xact_lock(hashtextextended(key, 0)) from unnest($1::text[]) as key`, pq.Array(keys))
	return storage.Wrap(err, "lock "+kind)
}

// slugHolder reads one index in each branch. Tokens are in lower case.
const slugHolder = `
select exists (select from projects where lower(landing_page_slug) = lower($1) and deleted_at is null and id <> $2)
	or exists (select from projects where token = lower($1))
	or exists (select from builds where token = lower($1))`

// lockSlug keeps others from taking a slug; slugFree is called after it.
func lockSlug(ctx context.Context, tx *storage.Tx, slug string) error {
	if slug == "" {
		return nil
	}
	return lock(ctx, tx, "slug", strings.ToLower(slug))
}

// slugFree is ErrSlugTaken when another app than the project has the slug, or
// when it is the token of a page. It is called before the slug is written, for a
// broken rule of the schema ends the transaction.
func slugFree(ctx context.Context, tx *storage.Tx, slug string, projectID int64) error {
	if slug == "" {
		return nil
	}
	var taken bool
	if err := tx.GetContext(ctx, &taken, slugHolder, slug, projectID); err != nil {
		return storage.Wrap(err, "look for the landing page slug")
	}
	if taken {
		return ErrSlugTaken
	}
	return nil
}

// projectError separates a broken rule of the slug, or of one app for a package and
// platform, from others.
func projectError(err error, doing string) error {
	var pe *pq.Error
	if errors.As(err, &pe) && pe.Code == "23505" {
		switch pe.Constraint {
		case "projects_slug":
			return ErrSlugTaken
		case "projects_app":
			return fmt.Errorf("%s: an app of the package and platform is there: %w", doing, storage.ErrConflict)
		}
	}
	return storage.Wrap(err, doing)
}
