package tester

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// SecretPrefix begins the secret of a personal link, so that scanners of texts and
// repositories know it.
const SecretPrefix = "slp_inv_"

// maxSecret bounds what BySecret looks at: the prefix, an id of at most 13 characters
// in base 36, and 43 characters of signature.
const maxSecret = len(SecretPrefix) + 13 + 1 + 43

// secretOf returns SecretPrefix ID "_" SIGNATURE: the id of the invitation in base 36,
// and HMAC-SHA256 in base64url without padding.
func secretOf(key []byte, id int64, nonce []byte) string {
	number := strconv.FormatInt(id, 36)
	mac := hmac.New(sha256.New, key)
	// A label of its own keeps invitations apart from whatever else the key signs.
	fmt.Fprintf(mac, "slipway build invite v1\n%s\n", number)
	mac.Write(nonce)
	return SecretPrefix + number + "_" + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// idOf reads the id out of a secret, which is not verified by it.
func idOf(secret string) (int64, bool) {
	rest, ok := strings.CutPrefix(secret, SecretPrefix)
	if !ok || len(secret) > maxSecret {
		return 0, false
	}
	number, _, ok := strings.Cut(rest, "_")
	if !ok {
		return 0, false
	}
	id, err := strconv.ParseInt(number, 36, 64)
	return id, err == nil && id > 0
}

// inviteBySecret needs the build and the membership there and in force.
const inviteBySecret = `
select ` + inviteColumns + `
from build_invites i
join memberships m on m.organization_id = i.organization_id and m.user_id = i.user_id and m.blocked_at is null
join users u on u.id = i.user_id
join builds b on b.id = i.build_id and b.deleted_at is null
where i.id = $1 and i.status <> 'revoked'`

// InviteBySecret finds the invitation of a personal link. storage.ErrNotFound when
// there is none, it was revoked or renewed, the person is blocked or was removed, or
// the build is deleted. Whether the person may install the build is for
// installpage.BuildAccess to say: a grant that was taken back does not come
// back with the link.
func InviteBySecret(ctx context.Context, q storage.Querier, secret string) (*Invite, error) {
	notFound := fmt.Errorf("invitation: %w", storage.ErrNotFound)
	id, ok := idOf(secret)
	if !ok {
		return nil, notFound
	}
	key, err := account.InstallationSecret(ctx, q)
	if err != nil {
		return nil, err
	}
	var row Invite
	if err := q.GetContext(ctx, &row, inviteBySecret, id); err != nil {
		return nil, storage.Wrap(err, "invitation")
	}
	row.Secret = secretOf(key, row.ID, row.Nonce)
	if !hmac.Equal([]byte(row.Secret), []byte(secret)) {
		return nil, notFound
	}
	return &row, nil
}
