package rows

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/seal"
)

// Header is what data have besides their rows.
type Header struct {
	Columns []string
	Secret  []string // sorted
	RowName string   // "": no column names the rows
	Count   int
	Size    int // bytes of names and values
}

// IsSecret reports whether nobody may read the values of a column.
func (h *Header) IsSecret(column string) bool {
	_, found := slices.BinarySearch(h.Secret, column)
	return found
}

// Sealed are data in the form in which they are stored.
type Sealed struct {
	Header
	cells  []string // JSON, for each row
	hidden [][]byte // nil where no column is secret
	key    []byte   // likewise
	digest string   // "" where a column is secret
}

// dataKey is bytes of the key of the data's own: what package seal takes as a key.
const dataKey = 32

// Seal takes data into the form in which they are stored.
func Seal(keys seal.Ring, d *Data) (*Sealed, error) {
	s := &Sealed{Header: Header{Columns: d.Columns, Secret: d.Secret, RowName: d.RowName, Count: len(d.Rows), Size: d.size()}}
	var own seal.Ring
	if len(d.Secret) > 0 {
		key := make([]byte, dataKey)
		if _, err := rand.Read(key); err != nil {
			return nil, fmt.Errorf("key of data rows: %w", err)
		}
		own = seal.Ring{key}
		var err error
		if s.key, err = seal.Seal(keys, seal.DataKey, string(key)); err != nil {
			return nil, err
		}
	}
	sum := sha256.New()
	for _, row := range d.Rows {
		open, secret := s.split(row)
		text, err := json.Marshal(open)
		if err != nil {
			return nil, fmt.Errorf("data row: %w", err)
		}
		s.cells = append(s.cells, storage.WithoutNUL(string(text)))
		sum.Write(append(text, '\n'))
		if own == nil {
			continue
		}
		if text, err = json.Marshal(secret); err != nil {
			return nil, fmt.Errorf("data row: %w", err)
		}
		hidden, err := seal.Seal(own, seal.DataRow, string(text))
		if err != nil {
			return nil, err
		}
		s.hidden = append(s.hidden, hidden)
	}
	if own == nil {
		names, err := json.Marshal([]any{d.Columns, d.RowName})
		if err != nil {
			return nil, fmt.Errorf("columns of data rows: %w", err)
		}
		sum.Write(names)
		s.digest = hex.EncodeToString(sum.Sum(nil))
	}
	return s, nil
}

// split returns the values of a row that everybody may read, with "" for the others, and
// the others in the order of the columns.
func (h *Header) split(row []string) (open, secret []string) {
	open = slices.Clone(row)
	for i, column := range h.Columns {
		if h.IsSecret(column) {
			secret, open[i] = append(secret, row[i]), ""
		}
	}
	return open, secret
}

// Cell is a value of a row.
type Cell struct {
	Column string
	Text   string
	Secret bool
}

// Row is a row as it is stored.
type Row struct {
	Header
	Cells  []byte
	Hidden []byte
	Key    []byte // of the data
}

// Open returns the values of a row in the order of the columns; seal.ErrUnseal.
func (r *Row) Open(keys seal.Ring) ([]Cell, error) {
	var open, secret []string
	if err := json.Unmarshal(r.Cells, &open); err != nil || len(open) != len(r.Columns) {
		return nil, fmt.Errorf("data row with %d columns: stored values cannot be read", len(r.Columns))
	}
	if len(r.Hidden) > 0 {
		key, err := seal.Unseal(keys, seal.DataKey, r.Key)
		if err != nil {
			return nil, fmt.Errorf("key of data rows: %w", err)
		}
		text, err := seal.Unseal(seal.Ring{[]byte(key)}, seal.DataRow, r.Hidden)
		if err != nil {
			return nil, fmt.Errorf("data row: %w", err)
		}
		if err := json.Unmarshal([]byte(text), &secret); err != nil {
			return nil, fmt.Errorf("secret values of a data row: %w", err)
		}
	}
	cells := make([]Cell, len(open))
	for i, column := range r.Columns {
		cells[i] = Cell{Column: column, Text: open[i], Secret: r.IsSecret(column)}
		if !cells[i].Secret {
			continue
		}
		if len(secret) == 0 {
			return nil, fmt.Errorf("data row: the secret value of %s is missing", column)
		}
		cells[i].Text, secret = secret[0], secret[1:]
	}
	return cells, nil
}
