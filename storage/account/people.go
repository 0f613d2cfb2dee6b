package account

import (
	"context"
	"fmt"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// MaxPeople bounds the people of one call: some seconds of work for the database.
const MaxPeople = 20_000

// maxShown bounds what a failure repeats of an address, in bytes.
const maxShown = 64

// CheckEmails refuses a list of mail addresses that holds one that is none; the error
// quotes it.
func CheckEmails(field string, emails []string) error {
	if len(emails) == 0 {
		return storage.Invalid(field, "must name at least one mail address")
	}
	if len(emails) > MaxPeople {
		return storage.Invalid(field, "has at most %d addresses", MaxPeople)
	}
	for _, email := range emails {
		if CheckEmail(email) != nil {
			return storage.Invalid(field, "%q is not one mail address of at most %d characters", email[:min(len(email), maxShown)], maxEmail)
		}
	}
	return nil
}

// insertPeople inserts in the order of the addresses, so that two calls at once wait for each
// other and do not deadlock. A user name that is taken, and an address that somebody else has
// just added, leave their row out.
const insertPeople = `
insert into users (uuid, kind, username, email, name)
select gen_random_uuid(), 'person', w.username, w.email, $3
from unnest($1::text[], $2::text[]) with ordinality as w(email, username, n)
where not exists (select from users u where lower(u.email) = lower(w.email))
order by lower(w.email), w.n
on conflict do nothing`

// peopleByEmail holds the rows until the end of the transaction, so that nobody deletes them
// before a membership refers to them.
const peopleByEmail = `
select u.id from unnest($1::text[]) with ordinality as w(email, n)
join users u on lower(u.email) = lower(w.email)
order by w.n for key share of u`

const unknownEmails = `
select w.email from unnest($1::text[]) with ordinality as w(email, n)
where not exists (select from users u where lower(u.email) = lower(w.email))
order by w.n`

// EnsurePeople returns the user ids of mail addresses, in their order and each once,
// and creates a person for each address that nobody has in any case. The name is
// that of people who are created. It checks the addresses, but writes no audit entry:
// the membership that follows does.
func EnsurePeople(ctx context.Context, tx *storage.Tx, emails []string, name string) ([]int64, error) {
	if err := CheckEmails("email", emails); err != nil {
		return nil, err
	}
	if err := CheckDisplayName(name); err != nil {
		return nil, err
	}
	unknown := emails
	for try := 0; len(unknown) > 0; try++ {
		if try == userNameTries {
			return nil, fmt.Errorf("user name of %d people: %w", len(unknown), storage.ErrConflict)
		}
		names := make([]string, len(unknown))
		for i, email := range unknown {
			names[i] = usernames(NewUser{Email: email})[try]
		}
		if _, err := tx.ExecContext(ctx, insertPeople, pq.Array(unknown), pq.Array(names), name); err != nil {
			return nil, storage.Wrap(err, "create people")
		}
		left := []string{}
		if err := tx.SelectContext(ctx, &left, unknownEmails, pq.Array(unknown)); err != nil {
			return nil, storage.Wrap(err, "people without a user name")
		}
		unknown = left
	}
	var rows []int64
	if err := tx.SelectContext(ctx, &rows, peopleByEmail, pq.Array(emails)); err != nil {
		return nil, storage.Wrap(err, "people by mail address")
	}
	ids, seen := make([]int64, 0, len(rows)), make(map[int64]bool, len(rows))
	for _, id := range rows {
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// userNameTries is the number of names that usernames returns for an address.
const userNameTries = 3
