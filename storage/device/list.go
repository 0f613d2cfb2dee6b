package device

import (
	"context"
	"strings"

	"github.com/slipway-qa/slipway/storage"
)

// maxSearch bounds what is searched for, in characters.
const maxSearch = 255

// foundDevices are rows of one tester each: an organization has some thousand of them.
const foundDevices = `tester_devices d` + deviceTables + `
where d.organization_id = $1 and ($2 = '' or d.udid ilike $2 or d.name ilike $2 or d.product ilike $2
	or u.email ilike $2 or u.name ilike $2)`

const countDevices = `select count(*) from ` + foundDevices

const devices = `select ` + deviceColumns + ` from ` + foundDevices + ` order by d.id desc limit $3 offset $4`

// List reads a page of the organization's devices, newest first, and how many there are
// in all. search is a part of the UDID, the name, the product, or of the tester's mail
// address or name, in any case.
func List(ctx context.Context, q storage.Querier, organizationID int64, search string, p storage.Page) ([]Device, int, error) {
	search, err := storage.Line("search", search, maxSearch)
	if err != nil {
		return nil, 0, err
	}
	if search != "" {
		search = "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(search) + "%"
	}
	var total int
	if err := q.GetContext(ctx, &total, countDevices, organizationID, search); err != nil {
		return nil, 0, storage.Wrap(err, "count devices")
	}
	list := []Device{}
	err = q.SelectContext(ctx, &list, devices, organizationID, search, p.RowLimit(), p.RowOffset())
	return list, total, storage.Wrap(err, "list devices")
}

const exportedDevices = `
select distinct on (d.udid) ` + deviceColumns + ` from tester_devices d` + deviceTables + `
where d.organization_id = $1 and d.udid > $2 and m.blocked_at is null
order by d.udid, d.id limit $3`

// Export reads the devices behind a UDID, in its order and each once, for the list that
// Apple's portal imports; those of blocked testers are left out.
func Export(ctx context.Context, q storage.Querier, organizationID int64, after string, limit int) ([]Device, error) {
	list := []Device{}
	err := q.SelectContext(ctx, &list, exportedDevices, organizationID, after, storage.Page{Limit: limit}.RowLimit())
	return list, storage.Wrap(err, "export devices")
}
