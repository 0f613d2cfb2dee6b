package audit

import (
	"context"
	"encoding/csv"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/audit"
)

// export serves GET /api/v3/audits.csv, and the list where CSV is asked for: all events
// that the filter selects, newest first. page and per_page are of no meaning here.
func (h *Handlers) export(c *gin.Context) error {
	f, err := filter3(c)
	if err != nil {
		return err
	}
	if err := h.recordExport(c, f); err != nil {
		return err
	}
	name := "audit-" + h.cfg.Now().UTC().Format("20060102-150405") + ".csv"
	c.Header("Content-Type", "text/csv; charset=utf-8")
	c.Header("Content-Disposition", respond.Attachment(name, "audit.csv"))
	c.Status(http.StatusOK)
	if c.Request.Method == http.MethodHead {
		return nil
	}
	out := csv.NewWriter(c.Writer)
	out.UseCRLF = true // RFC 4180
	if err := out.Write([]string{"Time", "User", "Action", "Details", "IP"}); err != nil {
		return err
	}
	out.Flush()
	err = audit.Export(c.Request.Context(), h.cfg.DB, f, func(rows []audit.Entry) error {
		for i := range rows {
			if err := out.Write(cells(&rows[i])); err != nil {
				return err
			}
		}
		out.Flush()
		c.Writer.Flush()
		return out.Error()
	})
	if err != nil {
		h.cfg.Log.WarnContext(c.Request.Context(), "audit export broken off", "error", err)
		// The connection is cut, so that half a list is not taken for a whole one.
		panic(http.ErrAbortHandler)
	}
	return nil
}

// recordExport writes the event before the first byte goes out: an export that is broken
// off has shown what it has shown.
func (h *Handlers) recordExport(c *gin.Context, f audit.Filter) error {
	detail := map[string]any{}
	if actions, _ := c.GetQueryArray("action"); len(f.Types) > 0 {
		detail["action"] = strings.Join(actions, ",")
	}
	if f.Search != "" {
		detail["search"] = f.Search
	}
	if f.UserID != 0 {
		detail["user_id"] = f.UserID
	}
	if !f.From.IsZero() {
		detail["from"] = f.From.Format(time.RFC3339)
	}
	if !f.To.IsZero() {
		detail["to"] = f.To.Format(time.RFC3339)
	}
	ctx := c.Request.Context()
	return h.cfg.DB.InTx(ctx, func(tx *storage.Tx) error {
		return writeExport(ctx, tx, auth.Organization(c), auth.Actor(c), detail)
	})
}

func writeExport(ctx context.Context, tx *storage.Tx, organizationID int64, actor account.Actor, detail map[string]any) error {
	return account.Audit(ctx, tx, account.Event{OrganizationID: organizationID, Type: account.AuditExported, Actor: actor,
		Subject: "audit log", Detail: detail})
}

// cells are the columns of an event.
func cells(e *audit.Entry) []string {
	details := e.Subject
	if data := string(e.Detail); data != "{}" {
		details = strings.TrimSpace(details + " " + data)
	}
	row := []string{e.At.UTC().Format(time.RFC3339), e.Actor, e.Action, details, e.IPAddress}
	for i := range row {
		row[i] = plain(row[i])
	}
	return row
}

// plain keeps a spreadsheet from taking a text for a formula: what begins with one of its
// signs, white space aside, gets an apostrophe in front.
func plain(text string) string {
	begins := strings.TrimLeft(text, " \t\r\n")
	if begins != "" && strings.IndexByte("=+-@", begins[0]) >= 0 || text != "" && strings.IndexByte("\t\r\n", text[0]) >= 0 {
		return "'" + text
	}
	return text
}
