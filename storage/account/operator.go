package account

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

// Operator runs the installation and belongs to no organization. The password
// is a key of KindOperator, never a text that someone chose.
type Operator struct {
	ID        int64      `db:"id" json:"id"`
	Username  string     `db:"username" json:"username"`
	CreatedAt time.Time  `db:"created_at" json:"created_at"`
	RevokedAt *time.Time `db:"revoked_at" json:"revoked_at"`
}

const operatorColumns = `id, username, created_at, revoked_at`

const insertOperator = `
insert into operators (username, digest) values ($1, $2)
returning ` + operatorColumns

// CreateOperator creates an operator and the password, shown once. ErrConflict
// when the name is taken, also by one that was revoked (RotateOperator revives).
func CreateOperator(ctx context.Context, tx *storage.Tx, actor Actor, keys *Issuer, username string) (*Operator, Secret, error) {
	secret, err := keys.New(KindOperator)
	if err != nil {
		return nil, Secret{}, err
	}
	op, err := createOperator(ctx, tx, actor, username, secret)
	return op, secret, err
}

func createOperator(ctx context.Context, tx *storage.Tx, actor Actor, username string, secret Secret) (*Operator, error) {
	if err := checkUsername(username); err != nil {
		return nil, err
	}
	var op Operator
	if err := tx.GetContext(ctx, &op, insertOperator, username, secret.Digest[:]); err != nil {
		return nil, storage.Wrap(err, "create operator "+username)
	}
	return &op, Audit(ctx, tx, Event{Type: OperatorCreated, Actor: actor, Subject: op.Username})
}

const rotateOperator = `
update operators set digest = $2, revoked_at = null where username = $1
returning ` + operatorColumns

// RotateOperator replaces an operator's password; the former one ends at once, and the
// console's sessions that it began.
func RotateOperator(ctx context.Context, tx *storage.Tx, actor Actor, keys *Issuer, username string) (*Operator, Secret, error) {
	secret, err := keys.New(KindOperator)
	if err != nil {
		return nil, Secret{}, err
	}
	var op Operator
	if err := tx.GetContext(ctx, &op, rotateOperator, username, secret.Digest[:]); err != nil {
		return nil, Secret{}, storage.Wrap(err, fmt.Sprintf("operator %q", username))
	}
	if _, err := tx.ExecContext(ctx, `delete from console_sessions where operator_id = $1`, op.ID); err != nil {
		return nil, Secret{}, storage.Wrap(err, "end the operator's sessions")
	}
	return &op, secret, Audit(ctx, tx, Event{Type: OperatorRotated, Actor: actor, Subject: op.Username})
}

const revokeOperator = `
update operators set revoked_at = now() where username = $1 and revoked_at is null
returning ` + operatorColumns

// RevokeOperator ends an operator's access at once.
func RevokeOperator(ctx context.Context, tx *storage.Tx, actor Actor, username string) error {
	var op Operator
	if err := tx.GetContext(ctx, &op, revokeOperator, username); err != nil {
		return storage.Wrap(err, fmt.Sprintf("operator %q", username))
	}
	return Audit(ctx, tx, Event{Type: OperatorRevoked, Actor: actor, Subject: op.Username})
}

const operatorByName = `
select ` + operatorColumns + `, digest from operators where username = $1 and revoked_at is null`

// OperatorByPassword finds an operator by name and checks the password's digest
// in constant time. ErrNotFound when either is wrong.
func OperatorByPassword(ctx context.Context, q storage.Querier, username string, digest Digest) (*Operator, error) {
	var row struct {
		Operator
		Digest []byte `db:"digest" json:"digest"`
	}
	if err := q.GetContext(ctx, &row, operatorByName, username); err != nil {
		return nil, storage.Wrap(err, "operator")
	}
	if !digest.Equal(row.Digest) {
		return nil, fmt.Errorf("operator: %w", storage.ErrNotFound)
	}
	return &row.Operator, nil
}
