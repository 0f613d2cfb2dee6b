package find

import "github.com/slipway-qa/slipway/worker/generation/intent"

// most are the kinds that most goals can be done to.
var most = []What{Record, Field, Option, Control, Container}

// kinds are the kinds of thing that the target of a goal can be, by its effect.
var kinds = map[intent.Effect][]What{
	intent.Add:      {Record, Option},
	intent.Remove:   {Record, Option, Container, Control},
	intent.Complete: {Record, Field, Option, Control},
	intent.Reopen:   {Record, Field, Option, Control},
	intent.Toggle:   {Field, Option, Record, Control},
	intent.Set:      {Field, Record, Attribute},
	intent.Choose:   {Option, Record, Field, Control},
	intent.Rate:     {Record, Field},
	intent.Open:     {Record, Control, Container, Option},
	intent.Close:    {Record, Container, Control},
	intent.Expand:   {Container, Record, Control},
	intent.Collapse: {Container, Record, Control},
	intent.Sort:     {Record, Column, Container},
	intent.Filter:   {Record, Option, Control, Field, Column},
	intent.Move:     {Record, Field, Option},
	intent.Edit:     {Field, Record, Attribute, Line, Container},
	intent.Append:   {Field, Record, Attribute, Container},
	intent.Clear:    {Field, Record, Container, Option},
	intent.Increase: {Field, Record, Attribute, Control},
	intent.Decrease: {Field, Record, Attribute, Control},
	intent.Press:    {Control, Option, Record, Field},
	intent.Submit:   {Control, Container, Record},
	intent.SignOut:  {Control, Container, Record},
	intent.Type:     {Field, Control},
	intent.Select:   {Record, Option, Field, Line},
	intent.Upload:   {Field, Control},
	intent.Download: {Record, Control},
	intent.Copy:     {Record, Field, Line, Control},
	intent.Act:      most,
	intent.Point:    {Control, Record, Field, Line, Container},
}

// Kinds returns the kinds of thing that the target of a goal can be; all where nothing is known
// of the effect.
func Kinds(e intent.Effect) []What { return kinds[e] }
