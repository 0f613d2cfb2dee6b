package account

import (
	"context"

	"github.com/slipway-qa/slipway/storage"
)

// InstallationSecret is what signs the links of pages and invitations. All processes
// of the installation share it, and nobody outside knows it.
func InstallationSecret(ctx context.Context, q storage.Querier) ([]byte, error) {
	var secret []byte
	err := q.GetContext(ctx, &secret, `select secret from installation`)
	return secret, storage.Wrap(err, "installation secret")
}
