package authoring

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/seal"
)

// Tunnel is a named proxy that workers can reach.
type Tunnel struct {
	Name        string    `db:"name"`
	Kind        string    `db:"kind"` // http, socks5
	Host        string    `db:"host"` // host:port
	CreatorUUID uuid.UUID `db:"creator_uuid"`
	CreatedAt   time.Time `db:"created_at"`
}

// The kinds of tunnels. A proxy that is spoken to by TLS is one of kind http.
const (
	TunnelHTTP   = "http"
	TunnelSOCKS5 = "socks5"
)

const tunnelColumns = `c.name, c.kind, c.host, c.creator_uuid, c.created_at`

// tunnelList reads an organization's part of the primary key whole: it has few tunnels.
const tunnelList = `
select ` + tunnelColumns + ` from tunnels c where `

// Tunnels returns a page of an organization's tunnels by name, and the number of
// all.
func Tunnels(ctx context.Context, q storage.Querier, organizationID int64, search string, p storage.Page) ([]Tunnel, int, error) {
	m, list := ConditionsOf(organizationID), []Tunnel{}
	m.Named(search)
	var total int
	if err := q.GetContext(ctx, &total, m.Total("tunnels"), m.Args...); err != nil {
		return nil, 0, storage.Wrap(err, "count tunnels")
	}
	if p.RowLimit() == 0 {
		return list, total, nil
	}
	query := tunnelList + m.Where() + ` order by c.name limit ` + m.Arg(p.RowLimit()) + ` offset ` + m.Arg(p.RowOffset())
	err := q.SelectContext(ctx, &list, query, m.Args...)
	return list, total, storage.Wrap(err, "list tunnels")
}

const tunnelByName = `select ` + tunnelColumns + ` from tunnels c where c.organization_id = $1 and c.name = $2`

// TunnelByName reads one tunnel; ErrNotFound when the organization has none of
// that name.
func TunnelByName(ctx context.Context, q storage.Querier, organizationID int64, name string) (*Tunnel, error) {
	if CheckTunnelName(name) != nil {
		return nil, fmt.Errorf("tunnel: %w", storage.ErrNotFound)
	}
	var t Tunnel
	if err := q.GetContext(ctx, &t, tunnelByName, organizationID, name); err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("tunnel %q", name))
	}
	return &t, nil
}

// TunnelURL returns the address of a tunnel, with user and password.
func TunnelURL(ctx context.Context, q storage.Querier, keys seal.Ring, organizationID int64, name string) (string, error) {
	if CheckTunnelName(name) != nil {
		return "", fmt.Errorf("tunnel: %w", storage.ErrNotFound)
	}
	var sealed []byte
	err := q.GetContext(ctx, &sealed, `select sealed from tunnels where organization_id = $1 and name = $2`, organizationID, name)
	if err != nil {
		return "", storage.Wrap(err, fmt.Sprintf("tunnel %q", name))
	}
	return seal.Unseal(keys, seal.Tunnel, sealed)
}

// maxTunnelName is what the schema allows.
const maxTunnelName = 100

// CheckTunnelName takes 1 to 100 printable characters that can stand as one part
// of a path, since that is how a tunnel is addressed.
func CheckTunnelName(name string) error {
	n := utf8.RuneCountInString(name)
	switch {
	case n == 0 || n > maxTunnelName:
		return storage.Invalid("name", "must have 1 to %d characters", maxTunnelName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) || strings.TrimSpace(name) != name:
		return storage.Invalid("name", "must be printable UTF-8 text without spaces around it")
	case strings.ContainsAny(name, `/\`) || name == "." || name == "..":
		return storage.Invalid("name", "must not be . or .. and must hold no slash")
	}
	return nil
}

// maxTunnelURL bounds an address in bytes, as for any URL.
const maxTunnelURL = 2048

var hostName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9._-]{0,252})$`)

// parseTunnel reads http://, https:// or socks5://[user:password@]host:port. The
// texts of its errors never contain the address, which may have a password.
func parseTunnel(address string) (u *url.URL, kind string, err error) {
	wrong := func(what string) (*url.URL, string, error) {
		return nil, "", storage.Invalid("address", "%s: an address is http://, https:// or socks5://[user:password@]host:port", what)
	}
	if len(address) > maxTunnelURL {
		return wrong("is too long")
	}
	if !utf8.ValidString(address) || strings.ContainsFunc(address, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }) {
		return wrong("holds spaces or control characters")
	}
	if u, err = url.Parse(address); err != nil || u.Opaque != "" {
		return wrong("is no URL")
	}
	switch u.Scheme {
	case "http", "https":
		kind = TunnelHTTP
	case "socks5":
		kind = TunnelSOCKS5
	default:
		return wrong("has another scheme")
	}
	if u.Path != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.Contains(address, "#") {
		return wrong("has something behind the port")
	}
	if ip, err := netip.ParseAddr(u.Hostname()); (err != nil || ip.Zone() != "") && !hostName.MatchString(u.Hostname()) {
		return wrong("has no host")
	}
	if port, err := strconv.ParseUint(u.Port(), 10, 16); err != nil || port == 0 {
		return wrong("has no port of 1 to 65535")
	}
	if !cleanUser(u.User) {
		return wrong("has a password without a user, or control characters")
	}
	return u, kind, nil
}

// cleanUser refuses escaped control characters: user and password end in headers
// and in the messages of SOCKS.
func cleanUser(user *url.Userinfo) bool {
	password, _ := user.Password()
	return user == nil || user.Username() != "" && !strings.ContainsFunc(user.Username()+password, unicode.IsControl) &&
		utf8.ValidString(user.Username()+password)
}

const insertTunnel = `
insert into tunnels as c (organization_id, name, kind, host, sealed, creator_uuid)
values ($1, $2, $3, $4, $5, $6) returning ` + tunnelColumns

// CreateTunnel keeps a tunnel: name of 1 to 100 characters, address
// http://, https:// or socks5://[user:password@]host:port. ErrConflict when the
// name is taken; ErrForbidden unless the writer is an admin.
func CreateTunnel(ctx context.Context, tx *storage.Tx, w account.Writer, keys seal.Ring, name, address string) (*Tunnel, error) {
	if !w.Admin {
		return nil, ErrForbidden
	}
	if err := CheckTunnelName(name); err != nil {
		return nil, err
	}
	u, kind, err := parseTunnel(address)
	if err != nil {
		return nil, err
	}
	sealed, err := seal.Seal(keys, seal.Tunnel, u.String())
	if err != nil {
		return nil, err
	}
	var t Tunnel
	if err := tx.GetContext(ctx, &t, insertTunnel, w.OrganizationID, name, kind, u.Host, sealed, w.UserUUID); err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("create tunnel %q", name))
	}
	return &t, auditTunnel(ctx, tx, w, account.TunnelCreated, &t)
}

// DeleteTunnel forgets a tunnel. ErrForbidden unless the writer is an admin.
func DeleteTunnel(ctx context.Context, tx *storage.Tx, w account.Writer, name string) error {
	if !w.Admin {
		return ErrForbidden
	}
	if CheckTunnelName(name) != nil {
		return fmt.Errorf("tunnel: %w", storage.ErrNotFound)
	}
	var t Tunnel
	err := tx.GetContext(ctx, &t, `delete from tunnels c where c.organization_id = $1 and c.name = $2 returning `+tunnelColumns,
		w.OrganizationID, name)
	if err != nil {
		return storage.Wrap(err, fmt.Sprintf("delete tunnel %q", name))
	}
	return auditTunnel(ctx, tx, w, account.TunnelDeleted, &t)
}

// auditTunnel writes what is known of a tunnel without its address.
func auditTunnel(ctx context.Context, tx *storage.Tx, w account.Writer, what account.AuditType, t *Tunnel) error {
	return account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: what, Actor: w.Actor,
		Subject: "tunnel " + t.Name, Detail: map[string]any{"kind": t.Kind, "host": t.Host}})
}
