package builds

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/live"
)

// verifying is the verdict of a signature that is being looked at.
const verifying = "pending"

// build is a build as pages show it.
type build struct {
	ID           int64             `json:"id"`
	ProjectID    int64             `json:"project_id"`
	AppName      string            `json:"app_name"`
	Version      string            `json:"version"`
	VersionCode  string            `json:"version_code"`
	Platform     string            `json:"platform"`
	PackageName  string            `json:"package_name"`
	Kind         string            `json:"kind"`
	Notes        string            `json:"release_notes"`
	Tags         []string          `json:"tags"`
	Metadata     map[string]string `json:"metadata"`
	FileName     string            `json:"file_name"`
	FileSize     int64             `json:"file_size"`
	SHA256       string            `json:"sha256"`
	MinOSVersion string            `json:"min_os_version"`
	TargetOS     string            `json:"target_os"`
	Permissions  []string          `json:"permissions"` // nil: nobody read them
	ABIs         []string          `json:"abis"`
	Signer       *signer           `json:"signer"`
	Provisioning *provisioning     `json:"provisioning"`
	Verification string            `json:"verification"`
	Simulator    bool              `json:"simulator"`
	Warnings     []string          `json:"warnings"`
	Cautions     []caution         `json:"cautions"`
	Status       string            `json:"status"`
	StatusReason string            `json:"status_reason"`
	ExpiresAt    *time.Time        `json:"expires_at"`
	AutoUpdate   bool              `json:"auto_update"`
	Keep         bool              `json:"keep"`
	AllTesters   bool              `json:"all_testers"`
	HasSDK       bool              `json:"has_sdk"`
	HasSymbols   bool              `json:"has_symbols"`
	SymbolsName  string            `json:"symbols_name"`
	SymbolsSize  int64             `json:"symbols_size"`
	Installs     int64             `json:"installs"`
	Crashes      int64             `json:"crashes"`
	Sessions     int64             `json:"sessions"`
	Feedbacks    int64             `json:"feedbacks"`
	InstallURL   string            `json:"install_url"`
	Mode         string            `json:"landing_page_mode"`
	Folder       string            `json:"folder_name"`
	Gate         *gateState        `json:"gate"` // nil: nothing asks whether it may go on
	UploadedBy   string            `json:"uploaded_by"`
	UploadedVia  string            `json:"uploaded_via"`
	CreatedAt    time.Time         `json:"created_at"`
	UpdatedAt    time.Time         `json:"updated_at"`
	limits

	Before *build `json:"-"` // the one before it of its kind; nil: none is known
	Icon   string `json:"-"`
	QR     string `json:"-"`
}

// signature is whether a signature holds.
type signature struct {
	Verification string `json:"verification"`
	FailedScheme string `json:"failed_scheme"`
	Reason       string `json:"reason"`
	Tampered     bool   `json:"tampered"`
}

// signer is who signed an Android package.
type signer struct {
	signature
	Schemes []string  `json:"schemes"`
	SHA256  string    `json:"sha256"`
	Subject string    `json:"subject"`
	Expires time.Time `json:"expires"`
}

// provisioning is the profile of an Apple package.
type provisioning struct {
	signature
	Name     string    `json:"name"`
	UUID     string    `json:"uuid"`
	Team     string    `json:"team"`
	TeamName string    `json:"team_name"`
	Type     string    `json:"type"`
	Expires  time.Time `json:"expires"`
	Devices  []string  `json:"devices"`
}

// caution is why devices may refuse a build.
type caution struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// Title is the version of a build as people say it.
func (b *build) Title() string {
	switch {
	case b.Version != "" && b.VersionCode != "" && b.VersionCode != b.Version:
		return b.Version + " (" + b.VersionCode + ")"
	case b.Version != "":
		return b.Version
	case b.VersionCode != "":
		return b.VersionCode
	}
	return fmt.Sprintf("Build %d", b.ID)
}

// App is what the build's app is called.
func (b *build) App() string {
	if strings.TrimSpace(b.AppName) != "" {
		return b.AppName
	}
	return fmt.Sprintf("App %d", b.ProjectID)
}

// Channel is the channel of a build; retention counts each by itself.
func (b *build) Channel() string { return b.Metadata["channel"] }

// Growth is the difference in size to the build before; "" when there is none.
func (b *build) Growth() string {
	if b.Before == nil {
		return ""
	}
	return growth(b.FileSize - b.Before.FileSize)
}

// growth is a difference of sizes, in words.
func growth(bytes int64) string {
	switch {
	case bytes > 0:
		return "+" + frame.Bytes(bytes)
	case bytes == 0:
		return "the same size"
	}
	return "−" + frame.Bytes(-bytes)
}

// Further are the warnings that are not among the cautions.
func (b *build) Further() (list []string) {
	for _, text := range b.Warnings {
		if !slices.ContainsFunc(b.Cautions, func(c caution) bool { return c.Text == text }) {
			list = append(list, text)
		}
	}
	return list
}

// measure finds for each build of a list, newest first, the one before it of its kind and
// channel.
func measure(list []build) {
	last := map[[2]string]*build{}
	for i := len(list) - 1; i >= 0; i-- {
		of := [2]string{list[i].Kind, list[i].Channel()}
		list[i].Before = last[of]
		last[of] = &list[i]
	}
}

// HasPermissions reports whether somebody read what the build asks for.
func (b *build) HasPermissions() bool { return b.Permissions != nil }

func buildPath(id any) string { return fmt.Sprintf("/api/v3/builds/%v", id) }

// buildData is what the pages of one build share: the build, and which of its tabs is open.
type buildData struct {
	Build  *build
	Tab    string
	Rights rights
	Fault  string
	Pager  *frame.Pager
}

// beginBuild reads the build of the page's path.
func (p *Pages) beginBuild(c *gin.Context, tab string) (buildData, error) {
	var answer struct {
		Build build `json:"build"`
	}
	err := p.API.Get(c, buildPath(frame.Segment(c, "id")), nil, &answer)
	b := &answer.Build
	b.Icon, b.QR = p.icon(b.InstallURL), p.local(b.InstallURL)+"/qr"
	return buildData{Build: b, Tab: tab, Rights: rightsOf(c)}, err
}

// symbolFile is a symbols file that came with a build.
type symbolFile struct {
	ID          int64     `json:"id"`
	Name        string    `json:"name"`
	State       string    `json:"state"`
	Size        int64     `json:"size"`
	FileCount   int       `json:"file_count"`
	FailedCount int       `json:"failed_count"`
	CreatedAt   time.Time `json:"created_at"`
	Error       *struct {
		Reason string `json:"reason"`
	} `json:"error"`
}

// build is the page of a build.
func (p *Pages) build(c *gin.Context) error {
	begun, err := p.beginBuild(c, "build")
	if err != nil {
		return err
	}
	data := struct {
		buildData
		Gate       *buildGate
		Symbols    []symbolFile
		Who        *who
		Comparison *comparison
		Uploaded   bool
		Unknown    []string // groups that the upload named and nobody has
	}{buildData: begun, Uploaded: c.Query("uploaded") != "", Unknown: c.QueryArray("unknown")}
	var answer struct {
		Symbols []symbolFile `json:"symbols"`
	}
	q := url.Values{"build_id": {fmt.Sprint(data.Build.ID)}}
	if err := p.API.Get(c, "/api/v3/symbols", q, &answer); err != nil {
		return err
	}
	data.Symbols = answer.Symbols
	if data.Gate, err = p.gateOf(c); err != nil {
		return err
	}
	if data.Rights.Change {
		if data.Who, err = p.who(c, buildPath(data.Build.ID), "/builds/builds/"+fmt.Sprint(data.Build.ID), data.Build.AllTesters); err != nil {
			return err
		}
	}
	if data.Comparison, data.Fault, err = p.comparison(c); err != nil {
		return err
	}
	page := frame.Page{Title: data.Build.App() + " " + data.Build.Title(), Data: data}
	if data.Build.Verification == verifying || slices.ContainsFunc(data.Symbols, func(s symbolFile) bool { return s.State == "pending" }) {
		page.Live = []live.Topic{live.Of(live.Build, data.Build.ID)}
	}
	if data.Gate.HasPolicy() {
		page.Live = append(page.Live, live.Of(live.Gate, data.Build.ID))
	}
	return p.show(c, "build", data.Fault, page)
}

// change sends a PUT, and leads back.
func (p *Pages) change(c *gin.Context, page, path string, body map[string]any, done string) error {
	var answer struct {
		InvalidGroups []string `json:"invalid_groups"`
	}
	err := p.API.Send(c, http.MethodPut, path, body, &answer)
	if len(answer.InvalidGroups) > 0 {
		done += " There is no group " + strings.Join(answer.InvalidGroups, ", ") + "."
	}
	return p.End(c, p.Back(c, strings.ReplaceAll(page, ":id", frame.Segment(c, "id"))), done, err)
}

const buildPage = "/builds/builds/:id"

func (p *Pages) changeNotes(c *gin.Context) error {
	return p.change(c, buildPage, buildPath(frame.Segment(c, "id")), map[string]any{"release_notes": text(c, "notes")},
		"The notes were saved.")
}

// text is a text of several lines as it is kept: browsers send them with carriage returns.
func text(c *gin.Context, field string) string {
	return strings.ReplaceAll(c.PostForm(field), "\r\n", "\n")
}

// changeBuild changes a build's state, its tags, and what keeps it.
func (p *Pages) changeBuild(c *gin.Context) error {
	body := map[string]any{"auto_update": c.PostForm("auto_update") != "", "keep": c.PostForm("keep") != ""}
	if status := c.PostForm("status"); status != "" {
		body["status"] = status
	}
	if tags := c.PostForm("tags"); tags != c.PostForm("tags_before") {
		body["tags"] = tags
	}
	return p.change(c, buildPage, buildPath(frame.Segment(c, "id")), body, "The build was changed.")
}

// changeMetadata sets one key of a build's metadata; an empty value removes it.
func (p *Pages) changeMetadata(c *gin.Context) error {
	key, value := strings.TrimSpace(c.PostForm("key")), text(c, "value")
	done := "The key was set."
	if value == "" {
		done = "The key was removed."
	}
	return p.change(c, buildPage, buildPath(frame.Segment(c, "id")), map[string]any{"metadata": map[string]string{key: value}}, done)
}

func (p *Pages) changeBuildPage(c *gin.Context) error {
	return p.change(c, buildPage, buildPath(frame.Segment(c, "id")), limitsChange(c), "The install page was changed.")
}

func (p *Pages) copyBuild(c *gin.Context) error {
	var answer struct {
		Build build `json:"build"`
	}
	if err := p.API.Send(c, http.MethodPost, buildPath(frame.Segment(c, "id"))+"/copy", nil, &answer); err != nil {
		return p.Refused(c, p.Back(c, "/builds"), err)
	}
	return p.Done(c, fmt.Sprintf("/builds/builds/%d", answer.Build.ID), "The build was copied. This is the copy.")
}

func (p *Pages) deleteBuild(c *gin.Context) error {
	path := buildPath(frame.Segment(c, "id"))
	var now struct {
		Build build `json:"build"`
	}
	if err := p.API.Get(c, path, nil, &now); err != nil {
		return p.Refused(c, p.Back(c, "/builds"), err)
	}
	if err := p.API.Send(c, http.MethodDelete, path, nil, nil); err != nil {
		return p.Refused(c, p.Back(c, "/builds"), err)
	}
	return p.Done(c, fmt.Sprintf("/builds/apps/%d", now.Build.ProjectID), "The build was deleted.")
}

func (p *Pages) download(c *gin.Context) error        { return p.leadToFile(c, "/download") }
func (p *Pages) downloadSymbols(c *gin.Context) error { return p.leadToFile(c, "/symbols/download") }

// leadToFile leads to the signed link of a file.
func (p *Pages) leadToFile(c *gin.Context, path string) error {
	var link struct {
		URL string `json:"url"`
	}
	id := frame.Segment(c, "id")
	if err := p.API.Get(c, buildPath(id)+path, nil, &link); err != nil {
		if respond.Explain(err).Status == http.StatusNotFound {
			return err
		}
		return p.Refused(c, "/builds/builds/"+id, err)
	}
	c.Header("Cache-Control", "no-store")
	c.Redirect(http.StatusSeeOther, p.local(link.URL))
	return nil
}
