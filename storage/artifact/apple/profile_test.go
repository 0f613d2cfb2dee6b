package apple

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/smallstep/pkcs7"
	"github.com/stretchr/testify/require"
	"howett.net/plist"
)

// profile is the content of a profile with everything that is read.
func profile(changes map[string]any) map[string]any {
	p := map[string]any{
		"Name": "Demo Profile", "UUID": "11111111-2222-3333-4444-555555555555",
		"TeamIdentifier": []string{"TEAM123456"}, "TeamName": "Example Ltd",
		"ExpirationDate": time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC),
		"Entitlements":   map[string]any{"get-task-allow": false},
	}
	for key, value := range changes {
		p[key] = value
	}
	return p
}

func TestParseProfile(t *testing.T) {
	t.Parallel()
	devices := []string{"00008030-001C2D3E0A88802E", "a1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d4e5f6a1b2"}
	debuggable := map[string]any{"get-task-allow": true}
	for name, c := range map[string]struct {
		changes map[string]any
		kind    string
		debug   bool
		devices int
	}{
		"development":     {map[string]any{"ProvisionedDevices": devices, "Entitlements": debuggable}, Development, true, 2},
		"development mac": {map[string]any{"Entitlements": map[string]any{"com.apple.security.get-task-allow": true}}, Development, true, 0},
		"ad hoc":          {map[string]any{"ProvisionedDevices": devices}, AdHoc, false, 2},
		"enterprise":      {map[string]any{"ProvisionsAllDevices": true}, Enterprise, false, 0},
		"store":           {nil, AppStore, false, 0},
		"store, empty":    {map[string]any{"ProvisionedDevices": []string{}}, AppStore, false, 0},
		"no entitlements": {map[string]any{"Entitlements": "none"}, AppStore, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, format := range []int{plist.XMLFormat, plist.BinaryFormat} {
				p, debug, err := parseProfile(signed(t, marshal(t, profile(c.changes), format)))
				require.NoError(t, err)
				require.Equal(t, c.kind, p.Type)
				require.Equal(t, c.debug, debug)
				require.Len(t, p.Devices, c.devices)
				require.Equal(t, "Demo Profile", p.Name)
				require.Equal(t, "11111111-2222-3333-4444-555555555555", p.UUID)
				require.Equal(t, "TEAM123456", p.Team)
				require.Equal(t, "Example Ltd", p.TeamName)
				require.Equal(t, time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC), p.Expires)
			}
		})
	}
}

func TestParseProfileTeam(t *testing.T) {
	t.Parallel()
	p, _, err := parseProfile(signed(t, marshal(t, profile(map[string]any{
		"TeamIdentifier": []string{}, "ApplicationIdentifierPrefix": []string{"PREFIX"}}), plist.XMLFormat)))
	require.NoError(t, err)
	require.Equal(t, "PREFIX", p.Team)
}

func TestHugeProfile(t *testing.T) {
	var devices []string
	for i := range 2 * MaxDevices {
		devices = append(devices, fmt.Sprintf("%040x", i))
	}
	raw := signed(t, marshal(t, profile(map[string]any{"ProvisionedDevices": devices}), plist.XMLFormat))
	bounded(t, func() {
		p, _, err := parseProfile(raw)
		require.NoError(t, err)
		require.Len(t, p.Devices, MaxDevices)
		require.Equal(t, devices[0], p.Devices[0])
	})
}

// ber returns an element of any length, with an end mark when indefinite.
func ber(tag byte, indefinite bool, parts ...[]byte) []byte {
	body := bytes.Join(parts, nil)
	if indefinite {
		return append(append([]byte{tag, 0x80}, body...), 0, 0)
	}
	n := len(body)
	return append([]byte{tag, 0x84, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, body...)
}

// message is signed data by hand; without certificates and signers.
func message(indefinite bool, content []byte) []byte {
	data := ber(tagOID, false, []byte("\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01"))
	return ber(tagSequence, indefinite,
		ber(tagOID, false, []byte(oidSignedData)),
		ber(tagExplicit0, indefinite, ber(tagSequence, indefinite,
			ber(0x02, false, []byte{1}),
			ber(0x31, indefinite, ber(tagSequence, indefinite, ber(tagOID, false, []byte{1, 2}))),
			ber(tagSequence, indefinite, data, ber(tagExplicit0, indefinite, content)),
			ber(0xa0, indefinite), ber(0x31, indefinite))))
}

func TestSignedContent(t *testing.T) {
	t.Parallel()
	pieces := [][]byte{ber(tagOctets, false, []byte("con")), ber(tagOctets, false, []byte("tent"))}
	for name, raw := range map[string][]byte{
		"one piece":              message(false, ber(tagOctets, false, []byte("content"))),
		"pieces":                 message(false, ber(tagOctetsConstructed, false, pieces...)),
		"indefinite":             message(true, ber(tagOctets, false, []byte("content"))),
		"pieces, indefinite":     message(true, ber(tagOctetsConstructed, true, pieces...)),
		"with rubbish behind it": append(message(true, ber(tagOctets, false, []byte("content"))), 1, 2, 3),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content, err := signedContent(raw)
			require.NoError(t, err)
			require.Equal(t, "content", string(content))
		})
	}
}

func TestSignedContentAsTheLibraryReadsIt(t *testing.T) {
	t.Parallel()
	raw := signed(t, marshal(t, profile(nil), plist.XMLFormat))
	want, err := pkcs7.Parse(raw)
	require.NoError(t, err)
	got, err := signedContent(raw)
	require.NoError(t, err)
	require.Equal(t, want.Content, got)
}

func TestProfileRefuses(t *testing.T) {
	good := signed(t, marshal(t, profile(nil), plist.XMLFormat))
	for name, raw := range map[string][]byte{
		"empty":            nil,
		"plist alone":      marshal(t, profile(nil), plist.XMLFormat),
		"no plist inside":  signed(t, []byte("hello")),
		"array inside":     signed(t, marshal(t, []string{"a"}, plist.XMLFormat)),
		"truncated":        good[:len(good)/2],
		"one byte":         good[:1],
		"long length":      {0x30, 0x85, 1, 1, 1, 1, 1},
		"negative length":  {0x30, 0x84, 0xff, 0xff, 0xff, 0xff},
		"long tag":         {0x3f, 0x81, 0x01, 0x00},
		"no end":           {0x30, 0x80, 0x02, 0x01, 0x01},
		"nested":           bytes.Repeat([]byte{0x30, 0x80}, maxPlist/2),
		"nested, definite": bytes.Repeat([]byte{0x30, 0x84, 0x00, 0x7f, 0xff, 0xff}, maxPlist/6),
		"many in one":      ber(tagSequence, true, bytes.Repeat([]byte{0x30, 0x00}, maxPlist/2-10)),
		"pieces of pieces": message(true, ber(tagOctetsConstructed, true, ber(tagOctetsConstructed, true, ber(tagOctets, false, []byte("x"))))),
	} {
		t.Run(name, func(t *testing.T) {
			bounded(t, func() {
				_, _, err := parseProfile(raw)
				require.Error(t, err)
			})
		})
	}
}

func FuzzProfile(f *testing.F) {
	f.Add(signed(f, marshal(f, profile(nil), plist.XMLFormat)))
	f.Add(message(true, ber(tagOctetsConstructed, true, ber(tagOctets, false, []byte("content")))))
	f.Fuzz(func(t *testing.T, raw []byte) {
		content, err := signedContent(raw)
		if err != nil {
			return
		}
		require.LessOrEqual(t, len(content), len(raw))
		if p, _, err := parseProfile(raw); err == nil {
			require.Contains(t, []string{Development, AdHoc, Enterprise, AppStore}, p.Type)
			require.LessOrEqual(t, len(p.Devices), MaxDevices)
		}
	})
}
