package intake

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/crash/crashproject"
)

const formatJSON = "json"

// format says how a submission of one format is taken.
type format struct {
	name  string
	scope string // that the token needs
	// dumpPart is the form part with the native dump, and the name under which
	// the dump is kept; "" for formats that are not dumps.
	dumpPart string
	// symbolication and agent go into the report that is made for a dump.
	symbolication string
	agent         string
}

// formats are the accepted values of format.
var formats = map[string]format{
	formatJSON: {name: formatJSON, scope: crashproject.ScopeErrorPost},
	"minidump": {name: "minidump", scope: crashproject.ScopeErrorPost, dumpPart: "upload_file_minidump",
		symbolication: "minidump", agent: "minidump"},
	"plcrash": {name: "plcrash", scope: crashproject.ScopeErrorPost, dumpPart: "upload_file_plcrash", agent: "plcrash"},
	// The archives of game engines: each holds a minidump, or the stack as text.
	"unreal": {name: "unreal", scope: crashproject.ScopeErrorPost, dumpPart: "upload_file_unreal", symbolication: "minidump", agent: "unreal"},
	"unity":  {name: "unity", scope: crashproject.ScopeErrorPost, dumpPart: "upload_file_unity", symbolication: "minidump", agent: "unity"},
	// A report whose member symbolication is "proguard" is of the format json;
	// the format proguard is a mapping file.
	"proguard":  {name: "proguard", scope: crashproject.ScopeSymbolPost},
	"symbols":   {name: "symbols", scope: crashproject.ScopeSymbolPost},
	"sourcemap": {name: "sourcemap", scope: crashproject.ScopeSymbolPost},
}

func unknownFormat() *failure {
	return refuse(http.StatusBadRequest, codeFormat, ReasonFormat,
		"format: must be json, minidump, plcrash, unreal, unity, proguard, symbols or sourcemap")
}

// dump is a native dump that was received; its file is among files, under the name
// dumpPart.
type dump struct {
	digest [32]byte // of the file, then of its digest and the attributes
}

// takeDump streams the dump into the object store.
func (in *intake) takeDump(ctx context.Context, src io.Reader, kind string) error {
	if in.dump != nil {
		return malformed(in.format.dumpPart + ": is given twice")
	}
	hash := sha256.New()
	if err := in.attach(ctx, io.TeeReader(src, hash), in.format.dumpPart, kind); err != nil {
		return err
	}
	if in.files[len(in.files)-1].Size == 0 {
		return member(in.format.dumpPart, "is empty")
	}
	in.dump = &dump{}
	hash.Sum(in.dump.digest[:0])
	return nil
}

// synthesized is the report that stands for a dump. What the dump says itself
// is read by a worker; the form fields are its attributes.
type synthesized struct {
	UUID          string              `json:"uuid"`
	Timestamp     int64               `json:"timestamp"`
	Lang          string              `json:"lang"`
	LangVersion   string              `json:"langVersion"`
	Agent         string              `json:"agent"`
	AgentVersion  string              `json:"agentVersion"`
	Symbolication string              `json:"symbolication,omitempty"`
	Threads       map[string]struct{} `json:"threads"`
	MainThread    string              `json:"mainThread"`
	Attributes    map[string]string   `json:"attributes"`
}

// describeDump makes the report of a dump. The digest covers the dump and its
// fields, not the time, so that a dump sent again under its uuid is a resend.
func (in *intake) describeDump(ctx context.Context) error {
	s := synthesized{
		Timestamp: in.r.cfg.Now().Unix(),
		Lang:      "native", LangVersion: "unknown", Agent: in.format.agent, AgentVersion: "unknown",
		Symbolication: in.format.symbolication,
		Threads:       map[string]struct{}{"0": {}}, MainThread: "0",
		Attributes: make(map[string]string, len(in.fields)),
	}
	for _, f := range in.fields {
		if f.name != "" {
			s.Attributes[strings.ToValidUTF8(f.name, "\uFFFD")] = strings.ToValidUTF8(f.value, "\uFFFD")
		}
	}
	if t, ok := seconds(s.Attributes["timestamp"]); ok {
		s.Timestamp = t
	}
	if in.ask.sentAt == "" {
		in.ask.sentAt = s.Attributes["sent_at"]
	}
	id, err := dumpUUID(s.Attributes)
	if err != nil {
		return err
	}
	s.UUID = id.String()

	attributes, err := json.Marshal(s.Attributes)
	if err != nil {
		return err
	}
	in.dump.digest = sha256.Sum256(append(in.dump.digest[:], attributes...))
	doc, err := json.Marshal(&s)
	if err != nil {
		return err
	}
	in.fields = nil
	if err := in.takeDocument(ctx, bytes.NewReader(doc), int64(len(doc))); err != nil {
		return err
	}
	in.places.leave(in.form)
	return nil
}

// dumpUUID takes the field uuid. The field guid of Crashpad is no report's: it
// names the installation of the client.
func dumpUUID(attributes map[string]string) (uuid.UUID, error) {
	if given := attributes["uuid"]; given != attributes["guid"] {
		if id, err := uuid.Parse(given); err == nil {
			return id, nil
		}
	}
	return uuid.NewRandom()
}

// seconds reads a time in UTC seconds, whole or not.
func seconds(text string) (int64, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.Abs(f) > 1e15 {
		return 0, false
	}
	return int64(f), true
}
