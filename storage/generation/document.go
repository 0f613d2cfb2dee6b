package generation

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
)

const (
	// maxCaptured bounds steps and reasoning each, in bytes of JSON. Progress writes
	// them again and again.
	maxCaptured = 4 << 20
	// maxReasons bounds the reasons: a few for each of the most steps.
	maxReasons = 4 * MaxSteps
	// maxReason bounds each text of a reason, in characters.
	maxReason = 2000
	// maxModel bounds the record of what a model was sent: a mebibyte of texts, of which
	// JSON may write each byte with six.
	maxModel = 8 << 20
	// maxMessage bounds the text of an error, in bytes: it names candidates.
	maxMessage = 8 << 10
	// maxProse bounds description and discovered intent, in characters.
	maxProse = 20_000
)

// Message cuts and cleans a text for its column: such a text never keeps a generation
// from ending.
func Message(text string) string {
	if len(text) > maxMessage {
		text = text[:maxMessage]
	}
	return storage.WithoutNUL(strings.ToValidUTF8(text, ""))
}

func prose(text string) string {
	return storage.Cut(storage.WithoutNUL(strings.ToValidUTF8(text, "")), maxProse)
}

// reasons returns reasons within their bounds.
func reasons(list []authoring.Reason) []authoring.Reason {
	kept := make([]authoring.Reason, 0, min(len(list), maxReasons))
	for _, r := range list[:min(len(list), maxReasons)] {
		kept = append(kept, authoring.Reason{Title: storage.Cut(Message(r.Title), maxReason),
			Description: storage.Cut(Message(r.Description), maxReason)})
	}
	return kept
}

// capturedDocuments returns steps and reasoning as they are stored for those who look.
func capturedDocuments(steps []step.Step, reasoning []authoring.Reason) (stepsDoc, reasonsDoc string, err error) {
	if stepsDoc, err = stepsDocument(steps); err != nil {
		return "", "", err
	}
	thoughts, err := json.Marshal(reasons(reasoning))
	if err != nil {
		return "", "", fmt.Errorf("reasoning of a generation: %w", err)
	}
	return stepsDoc, storage.WithoutNUL(string(thoughts)), nil
}

// stepsDocument returns steps as JSON. Those that are too large together lose their
// arguments.
func stepsDocument(steps []step.Step) (string, error) {
	kept := make([]step.Step, min(len(steps), step.MaxSteps))
	copy(kept, steps)
	for _, bare := range []bool{false, true} {
		text, err := json.Marshal(kept)
		if err != nil {
			return "", fmt.Errorf("steps of a generation: %w", err)
		}
		if len(text) <= maxCaptured || bare {
			return storage.WithoutNUL(string(text)), nil
		}
		for i := range kept {
			kept[i].Tool = step.Tool{Type: kept[i].Tool.Type}
		}
	}
	return "[]", nil
}

// optionalDocument returns a value as jsonb; nil stays null, and so does what is too
// large: it is for those who look, and never keeps a generation from ending.
func optionalDocument(v any, most int) any {
	if v == nil {
		return nil
	}
	text, err := json.Marshal(v)
	if err != nil || len(text) > most || string(text) == "null" {
		return nil
	}
	return storage.WithoutNUL(string(text))
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
