package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/storage"
)

// BaselineCommand serves the two baselines over HTTP, in a separate process as
// Slipway is: /decode reads and decodes, /insert stores each report by one INSERT
// into a jsonb column, with encoding/json and nothing else.
type BaselineCommand struct {
	Database string `required:""`
}

// Run prints the address and serves until its parent ends it.
func (c *BaselineCommand) Run(ctx context.Context) error {
	db, err := storage.Open(storage.Config{URL: c.Database, MaxConns: 32})
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, baselineSchema); err != nil {
		return err
	}
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	read := func(g *gin.Context) ([]byte, map[string]any, bool) {
		body, err := io.ReadAll(g.Request.Body)
		if err != nil {
			g.String(http.StatusBadRequest, "%s", err)
			return nil, nil, false
		}
		var doc map[string]any
		if err := json.Unmarshal(body, &doc); err != nil {
			g.String(http.StatusBadRequest, "%s", err)
			return nil, nil, false
		}
		return body, doc, true
	}
	router.POST("/decode", func(g *gin.Context) {
		if _, _, ok := read(g); ok {
			g.String(http.StatusOK, "ok")
		}
	})
	router.POST("/insert", func(g *gin.Context) {
		body, doc, ok := read(g)
		if !ok {
			return
		}
		id, _ := doc["uuid"].(string)
		if _, err := db.ExecContext(g, `insert into baseline_json (uuid, doc) values ($1, $2)`, id, string(body)); err != nil {
			g.String(http.StatusInternalServerError, "%s", err)
			return
		}
		g.String(http.StatusOK, "ok")
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	server := &http.Server{Handler: router, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

const baselineSchema = `
create table if not exists baseline_json (uuid uuid primary key, doc jsonb not null);
create table if not exists baseline_rows (uuid uuid primary key, doc bytea not null);
alter table baseline_rows alter column doc set storage external;`

// measureMultiRow is the baseline without HTTP: eight connections insert compressed bodies
// in statements of fifty rows, as fast as they can. It returns rows a second.
func measureMultiRow(ctx context.Context, db *storage.DB, all []measure.Sample, duration time.Duration) (float64, error) {
	const connections, rows = 8, 50
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return 0, err
	}
	query := `insert into baseline_rows (uuid, doc) values `
	for i := range rows {
		query += fmt.Sprintf("($%d,$%d),", 2*i+1, 2*i+2)
	}
	query = query[:len(query)-1]
	start := time.Now()
	counts, errs := make([]int, connections), make([]error, connections)
	var wg sync.WaitGroup
	for c := range connections {
		wg.Go(func() {
			for time.Since(start) < duration && errs[c] == nil {
				args := make([]any, 0, 2*rows)
				for i := range rows {
					args = append(args, uuid.New(), enc.EncodeAll(all[(c+i)%len(all)].Body, nil))
				}
				if _, errs[c] = db.ExecContext(ctx, query, args...); errs[c] == nil {
					counts[c] += rows
				}
			}
		})
	}
	wg.Wait()
	total := 0
	for _, n := range counts {
		total += n
	}
	return float64(total) / time.Since(start).Seconds(), errors.Join(errs...)
}
