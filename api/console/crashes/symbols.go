package crashes

import (
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/live"
)

// symbol is an uploaded symbol file, or archive of them.
type symbol struct {
	ID             int64        `json:"id"`
	Name           string       `json:"name"`
	Source         string       `json:"source"`
	Format         string       `json:"format"`
	Release        string       `json:"release"`
	GivenID        string       `json:"given_id"`
	URLPrefix      string       `json:"url_prefix"`
	CrashProjectID *int64       `json:"crash_project_id"`
	BuildID        *int64       `json:"build_id"`
	State          string       `json:"state"`
	Error          *failure     `json:"error"`
	SHA256         string       `json:"sha256"`
	Size           int64        `json:"size"`
	CreatedAt      time.Time    `json:"created_at"`
	IndexedAt      *time.Time   `json:"indexed_at"`
	FileCount      int          `json:"file_count"`
	FailedCount    int          `json:"failed_count"`
	Files          []symbolFile `json:"files"`
}

// failure is why a file could not be read.
type failure struct {
	Code   string `json:"code"`
	Reason string `json:"reason"`
}

// symbolFile is a debug file of an upload.
type symbolFile struct {
	ID          int64        `json:"id"`
	Path        string       `json:"path"`
	Kind        string       `json:"kind"`
	Arch        string       `json:"arch"`
	State       string       `json:"state"`
	Error       *failure     `json:"error"`
	Identifiers []identifier `json:"identifiers"`
	Features    []string     `json:"features"`
	Size        int64        `json:"size"`
	Dropped     int64        `json:"dropped"`
	Warnings    []string     `json:"warnings"`
}

// identifier is a name by which crashes find a file.
type identifier struct {
	Type    string `json:"type"`
	Value   string `json:"value"`
	Release string `json:"release"`
}

func apiSymbol(c *gin.Context) string { return "/api/v3/symbols/" + frame.Segment(c, "id") }

func symbolPath(id int64) string { return area + "/symbols/" + strconv.FormatInt(id, 10) }

const pending = "pending"

// symbols serves GET /console/crashes/symbols.
func (p *Pages) symbols(c *gin.Context) error {
	var view struct {
		Symbols    []symbol `json:"symbols"`
		Pagination envelope `json:"pagination"`
	}
	fault, err := refused(p.API.Get(c, "/api/v3/symbols", frame.Valued(c.Request.URL.Query()), &view))
	if err != nil {
		return err
	}
	projects, err := p.allProjects(c)
	if err != nil {
		return err
	}
	page := frame.Page{Title: "Symbol files", Data: map[string]any{"Fault": fault, "Symbols": view.Symbols, "Pagination": view.Pagination,
		"Pager": p.pager(c, view.Pagination), "Projects": projects, "States": choices(c, "state", "pending", "indexed", "failed"),
		"Kinds": choices(c, "kind", "proguard", "sourcemap", "source", "breakpad", "elf", "macho", "pe", "pdb", "wasm", "portable_pdb"),
		"Kept":  kept(c, "search", "identifier", "state", "kind")}}
	for i := range view.Symbols {
		if view.Symbols[i].State == pending {
			page.Live = append(page.Live, live.Of(live.Symbols, view.Symbols[i].ID))
		}
	}
	return p.show(c, "symbols", fault, page)
}

// uploadSymbols serves POST /console/crashes/symbols, a form with files. A refusal is a page
// of its own: the script that shows how far an upload is takes its text from there.
func (p *Pages) uploadSymbols(c *gin.Context) error {
	var view struct {
		Symbols []symbol `json:"symbols"`
	}
	if err := p.API.Upload(c, "/api/v3/symbols", &view); err != nil {
		return err
	}
	if len(view.Symbols) == 1 {
		return p.Done(c, symbolPath(view.Symbols[0].ID), "The file is stored; a task reads it.")
	}
	return p.Done(c, area+"/symbols", strconv.Itoa(len(view.Symbols))+" files are stored; tasks read them.")
}

// symbol serves GET /console/crashes/symbols/{id}.
func (p *Pages) symbol(c *gin.Context) error {
	var view struct {
		Symbol     symbol   `json:"symbol"`
		Pagination envelope `json:"pagination"`
	}
	fault, err := refused(p.API.Get(c, apiSymbol(c), frame.Valued(c.Request.URL.Query()), &view))
	if err != nil {
		return err
	}
	if fault != "" { // of the page's number
		if err := p.API.Get(c, apiSymbol(c), nil, &view); err != nil {
			return err
		}
	}
	page := frame.Page{Title: "Symbol file " + storage.Cut(view.Symbol.Name, maxHeading),
		Data: map[string]any{"Fault": fault, "Symbol": view.Symbol, "Pager": p.pager(c, view.Pagination)}}
	if view.Symbol.State == pending {
		page.Live = []live.Topic{live.Of(live.Symbols, view.Symbol.ID)}
	}
	return p.show(c, "symbol", fault, page)
}

// downloadSymbol serves GET /console/crashes/symbols/{id}/download, and leads to the file.
func (p *Pages) downloadSymbol(c *gin.Context) error {
	var view struct {
		URL string `json:"url"`
	}
	if err := p.API.Get(c, apiSymbol(c)+"/download", nil, &view); err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store")
	c.Redirect(http.StatusSeeOther, view.URL)
	return nil
}

// indexSymbol serves POST /console/crashes/symbols/{id}/index.
func (p *Pages) indexSymbol(c *gin.Context) error {
	err := p.API.Send(c, http.MethodPost, apiSymbol(c)+"/index", nil, nil)
	return p.End(c, p.Back(c, area+"/symbols/"+frame.Segment(c, "id")), "The file is read anew.", err)
}

// deleteSymbol serves POST /console/crashes/symbols/{id}/delete.
func (p *Pages) deleteSymbol(c *gin.Context) error {
	err := p.API.Send(c, http.MethodDelete, apiSymbol(c), nil, nil)
	return p.End(c, area+"/symbols", "The file was deleted. Crashes that were read with it stay as they are.", err)
}
