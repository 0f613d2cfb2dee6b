package intent

import "testing"

func TestReadsSeveralFieldsAtOnce(t *testing.T) {
	t.Parallel()
	reads(t, "en", [][2]string{
		{`Enter Ida as the first name, "Main Road 5" as the street and Ulm as the town`, `fill <first name> =Ida; fill <street> ='Main Road 5'; fill <town> =Ulm`},
		{`Type "Ida" into First name, "Main Road 5" into Street and "Ulm" into Town`, `fill <First name> ='Ida'; fill <Street> ='Main Road 5'; fill <Town> ='Ulm'`},
		{`Put Ann in Name and Lee in Surname`, `fill <Name> =Ann; fill <Surname> =Lee`},
		{`Enter Ann Lee as the name and 12 Main Street, Springfield as the address`, `fill <name> =Ann Lee; fill <address> =12 Main Street, Springfield`},
		{`Enter March 1, 2027 as the start and March 9, 2027 as the end`, `fill <start> =March 1, 2027{2027-3-1}; fill <end> =March 9, 2027{2027-3-9}`},
		{`Enter a@b.c as email, "pw" as password and as repeat password`, `fill <email> =a@b.c; fill <password> ='pw'; fill <repeat password> ='pw'`},
		{`Choose "Oak" from the first list and "Elm" from the second list`, `choose </list #1> ='Oak'; choose </list #2> ='Elm'`},
		{`In the frame Card enter Ann as the name and 4111 as the number and click Pay`, "fill <name in<Card/frame>> =Ann; fill <number in<Card/frame>> =4111\nclick <Pay in<Card/frame>>"},
		{`In the Looks tab pick Purple and click Save`, "choose <Looks/tab> =Purple\nclick <Save in<Looks/tab>>"},
		{`Fill in Name with Ann and Email with a@b.c`, `fill <Name> =Ann; fill <Email> =a@b.c`},
		{`Set Start to 1 March 2027 and End to 9 March 2027, then submit`, "fill <Start> =1 March 2027{2027-3-1}; fill <End> =9 March 2027{2027-3-9}\nsubmit"},
		{`Delete the text in the field "Comment"`, `clear <'Comment'/field>`},
	})
	reads(t, "de", [][2]string{
		{`Gib als Start den 1. März 2027 und als Ende den 9. März 2027 ein`, `fill <Start> =1. März 2027{2027-3-1}; fill <Ende> =9. März 2027{2027-3-9}`},
	})
}
