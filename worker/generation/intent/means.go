package intent

// label reads "First name: Ida" before its first word is taken for one that orders.
func (w *sentenceReader) label(s span) []Reading {
	for i := 1; i+1 < len(s) && i < 6; i++ {
		if !s[i].is(":") {
			continue
		}
		if _, n, _ := w.verb(s); n > 0 || w.isVerb(s[i+1:]) || w.skip(s) >= i || w.sequels.has(s) || w.checks.has(s) {
			return nil
		}
		return w.labelled(s)
	}
	return nil
}

// means reads how something is done: "add the task X by typing it into the field",
// "close the box by clicking on the x". The how is what is done.
func (w *sentenceReader) means(s span) []Reading {
	for i := 2; i+1 < len(s); i++ {
		if !s[i].is("by") || s[i+1].kind != word {
			continue
		}
		code, verb, rest, ok := w.verbPhrase(s[i+1:])
		if !ok || len(rest) == 0 || w.verbs.codes[s[i+1].low] != "" {
			continue
		}
		body := s[w.skip(s):i]
		outer, outerVerb, object, ok := w.verbPhrase(body)
		if !ok || outer == "sort" {
			return nil
		}
		readings := w.act(outer, outerVerb, object, body)
		out := w.act(code, verb, rest, s[i+1:])
		if len(readings) == 0 || len(out) == 0 || len(readings[0].Instructions) == 0 {
			return nil
		}
		about := readings[0].Instructions[0]
		for k := range out {
			for j := range out[k].Instructions {
				applied(&out[k].Instructions[j], about)
			}
		}
		return append(out, Reading{readings[0].Instructions, 0.3})
	}
	return nil
}

// applied puts what an instruction is about in the place of a pronoun.
func applied(in *Instruction, about Instruction) {
	for i, v := range in.Values {
		if v.From != nil && v.From.Pronoun && about.Target != nil && about.Target.Name != "" {
			in.Values[i] = Value{Text: about.Target.Name, Quoted: about.Target.Exact}
		}
	}
	if in.Target != nil && in.Target.Pronoun && about.Target != nil {
		in.Target = about.Target
		return
	}
	if about.Kind == Close && in.Kind == Click && in.Target != nil && about.Target != nil && !about.Target.Pronoun {
		in.Target.Relations = append(in.Target.Relations, Relation{In, *about.Target})
	}
}
