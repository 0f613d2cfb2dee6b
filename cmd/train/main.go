// Command train writes the weights of the tagger that reads prose, worker/generation/tagger/weights.gz, from
// the labelled texts beside it.
//
// It reads every file of the folder corpus, whose format tagger.ParseSample describes, learns for a few
// minutes, and writes the weights with the digest of the texts. The same texts give the same weights. With
// --check N it learns from all texts but every Nth, writes nothing, and prints how many of the labels of
// the others are right, by language.
//
//	go run ./cmd/train
//	go run ./cmd/train --check 10
//
// `make weights` runs the first; a test fails where the weights are not of the texts.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/slipway-qa/slipway/worker/generation/tagger"
)

// folder is where the tagger has its texts and weights.
const folder = "worker/generation/tagger"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	flags := flag.NewFlagSet("train", flag.ContinueOnError)
	check := flags.Int("check", 0, "learn from all texts but every Nth, and print how well these are labelled")
	if err := flags.Parse(arguments); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	samples, err := tagger.Corpus(os.DirFS(filepath.Join(folder, "corpus")))
	if err != nil {
		return fmt.Errorf("read the corpus: %w", err)
	}
	if len(samples) == 0 {
		return fmt.Errorf("%s has no corpus: run it in the root folder", folder)
	}
	if *check == 1 || *check < 0 {
		return fmt.Errorf("--check is at least 2")
	}
	if *check > 1 {
		report(samples, *check)
		return nil
	}
	var out bytes.Buffer
	if err := tagger.Train(samples).Write(&out); err != nil {
		return err
	}
	const mode = 0o644
	if err := os.WriteFile(filepath.Join(folder, "weights.gz"), out.Bytes(), mode); err != nil {
		return fmt.Errorf("write the weights: %w", err)
	}
	fmt.Printf("%d texts, %d bytes of weights\n", len(samples), out.Len())
	return nil
}

// report prints how many texts, segments and words every Nth text has right.
func report(samples []tagger.Sample, nth int) {
	var train, test []tagger.Sample
	for i := range samples {
		if i%nth == nth-1 {
			test = append(test, samples[i])
		} else {
			train = append(train, samples[i])
		}
	}
	t := tagger.Train(train)
	fmt.Printf("%-10s %8s %8s %8s %8s\n", "language", "texts", "deeds", "parts", "words")
	for _, lang := range append([]string{""}, languages(test)...) {
		s := tagger.Compare(t, test, lang)
		if lang == "" {
			lang = "all"
		}
		fmt.Printf("%-10s %8d %7.1f%% %7.1f%% %7.1f%%\n", lang, s.Texts, s.Share(s.Kinds), s.Share(s.Slots), 100*s.Words)
	}
}

// languages are those of some samples, in order of their first.
func languages(samples []tagger.Sample) []string {
	var out []string
	seen := map[string]bool{}
	for i := range samples {
		if lang := samples[i].Lang; !seen[lang] {
			seen[lang] = true
			out = append(out, lang)
		}
	}
	return out
}
