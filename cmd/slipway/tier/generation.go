package tier

import (
	"time"

	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/generation"
)

// addGenerationWork adds the handlers of tests that are written from a sentence.
func (s *Services) addGenerationWork(handlers map[string]worker.Handler, browsers *browser.Pool,
	trouble func(string, time.Time) (string, bool)) error {
	retention, err := generation.NewRetention(s.DB, removing(s), days(s.Settings.RunDays), s.Log)
	if err != nil {
		return err
	}
	asked, err := s.model()
	if err != nil {
		return err
	}
	author := generation.NewAuthor(generation.AuthorConfig{CheckURL: s.pages.Check, Trouble: trouble,
		Screenshots: s.Settings.RunScreenshots, SkipReplay: !s.Settings.GenerationVerify, Model: asked, Log: s.Log})
	handlers[tasks.TestGenerate.Name] = &generation.Handler{DB: s.DB, Objects: removing(s), Browsers: browsers,
		Keys: s.keys, Author: author, CheckURL: s.pages.Check, Log: s.Log}
	handlers[tasks.GenerationMaintenance.Name] = generation.NewMaintenance(s.DB)
	handlers[tasks.GenerationRetention.Name] = retention
	return nil
}
