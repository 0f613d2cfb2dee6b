package main

import (
	"time"

	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/generation"
)

// addGenerationWork adds the handlers of tests that are written from a sentence.
func (s *services) addGenerationWork(handlers map[string]worker.Handler, browsers *browser.Pool,
	trouble func(string, time.Time) (string, bool)) error {
	retention, err := generation.NewRetention(s.db, removing(s), days(s.settings.RunDays), s.log)
	if err != nil {
		return err
	}
	asked, err := s.model()
	if err != nil {
		return err
	}
	author := generation.NewAuthor(generation.AuthorConfig{CheckURL: s.pages.Check, Trouble: trouble,
		Screenshots: s.settings.RunScreenshots, SkipReplay: !s.settings.GenerationVerify, Model: asked, Log: s.log})
	handlers[tasks.TestGenerate.Name] = &generation.Handler{DB: s.db, Objects: removing(s), Browsers: browsers,
		Keys: s.keys, Author: author, CheckURL: s.pages.Check, Log: s.log}
	handlers[tasks.GenerationMaintenance.Name] = generation.NewMaintenance(s.db)
	handlers[tasks.GenerationRetention.Name] = retention
	return nil
}
