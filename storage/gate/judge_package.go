package gate

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/artifact"
)

func (c *Condition) judgeSignature(r *Result, f *facts) {
	var wanted []string
	if c.verified() {
		wanted = append(wanted, "a signature that holds")
	}
	if is(c.SameSigner) {
		wanted = append(wanted, "the signer of the build before")
	}
	r.Wanted, r.Measured = strings.Join(wanted, ", "), string(f.Verification)
	r.show(OfBuild, strconv.FormatInt(f.BuildID, 10), f.Version)
	switch {
	case f.BuildState == "invalid":
		r.say(Fail, "the build is invalid: %s", f.StateReason)
		return
	case f.Verification == artifact.Pending || f.Verification == "":
		r.Measured = ""
		r.say(Unknown, "the signature has not been verified yet")
		return
	case f.Verification == artifact.Unchecked:
		r.Measured = ""
		r.say(Unknown, "the signature of a package of this kind cannot be verified")
		return
	}
	if c.verified() {
		if f.Verification != artifact.Verified {
			r.part(Fail, "the signature is %s", f.Verification)
		} else {
			r.part(Pass, "")
		}
	}
	if !is(c.SameSigner) {
		return
	}
	switch was := f.before; {
	case was == nil && c.verified(): // there is nothing to compare with: the other part says it
	case was == nil:
		r.part(Unknown, "there is no build before to compare with")
	case f.Signer == "" || was.Signer == "":
		r.part(Unknown, "the signer of this build or of the one before is not known")
	case f.Signer != was.Signer:
		r.part(Fail, "the signer is not that of the build before")
		r.show(OfBuild, strconv.FormatInt(was.ID, 10), was.Version)
	default:
		r.part(Pass, "")
	}
}

func (c *Condition) judgeSize(r *Result, f *facts) {
	var wanted []string
	if c.MaxBytes != nil {
		wanted = append(wanted, "at most "+count(*c.MaxBytes, "byte"))
	}
	if c.MaxGrowthPercent != nil {
		wanted = append(wanted, fmt.Sprintf("at most %s above the build before", percent(*c.MaxGrowthPercent)))
	}
	r.Wanted, r.Measured = strings.Join(wanted, ", "), count(f.Size, "byte")
	if c.MaxBytes != nil {
		if f.Size > *c.MaxBytes {
			r.part(Fail, "%s too large", count(f.Size-*c.MaxBytes, "byte"))
		} else {
			r.part(Pass, "")
		}
	}
	if c.MaxGrowthPercent == nil {
		return
	}
	switch was := f.before; {
	case was == nil && c.MaxBytes != nil: // there is nothing to compare with: the other part says it
	case was == nil || was.Size == 0:
		r.part(Unknown, "there is no build before to compare with")
	default:
		growth := 100 * (float64(f.Size)/float64(was.Size) - 1)
		r.Measured += fmt.Sprintf(", %s before", count(was.Size, "byte"))
		r.show(OfBuild, strconv.FormatInt(was.ID, 10), was.Version)
		if growth > *c.MaxGrowthPercent+1e-9 {
			r.part(Fail, "%s above the build before", percent(growth))
		} else {
			r.part(Pass, "")
		}
	}
}

func (c *Condition) judgeSymbols(r *Result, f *facts) {
	r.Wanted = "every symbol file that the build needs"
	if is(c.Mapping) {
		r.Wanted += ", and a mapping"
	}
	if f.MissingImages > 0 {
		r.part(Fail, "the symbols of %s are missing", count(f.MissingImages, "image"))
	}
	if f.MissingNeeds > 0 {
		r.part(Fail, "crashes lack %s, such as %s", count(f.MissingNeeds, "symbol file"), strings.Join(f.MissingNames, ", "))
		r.show(OfSymbols, strconv.FormatInt(f.ProjectID, 10), strings.Join(f.MissingNames, ", "))
	}
	if is(c.Mapping) && !f.HasMapping {
		if f.SymbolsPending {
			r.part(Unknown, "its symbols are being read")
		} else {
			r.part(Fail, "no mapping was uploaded for this build")
		}
	}
	r.Measured = fmt.Sprintf("%d missing", f.MissingImages+f.MissingNeeds)
	switch {
	case r.State != "":
	case f.SymbolsPending:
		r.say(Unknown, "its symbols are being read")
	case f.Images == 0 && !f.HasSymbols && f.Crashes == 0:
		r.Measured = ""
		r.say(Unknown, "nothing says which symbols this build needs: it came without any, and there is no crash of it")
	default:
		r.say(Pass, "")
	}
}
