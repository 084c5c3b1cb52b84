package scaling

import "strings"

// Landau prints how the largest terms of several parameters grow together, e.g. "O(p * log n)".
func Landau(names []string, leads []Term, form Form) string {
	var parts []string
	alone := ""
	for i, lead := range leads {
		switch {
		case lead == (Term{}):
		case i == form.alone():
			alone = lead.landau(names[i])
		default:
			parts = append(parts, lead.landau(names[i]))
		}
	}
	joint := " * "
	if form == Sum {
		joint = " + "
	}
	text := strings.Join(parts, joint)
	switch {
	case len(parts) == 0 && alone == "":
		text = "1"
	case form == FirstAlone:
		text = alone + " + " + text
	case alone != "":
		text += " + " + alone
	}
	return "O(" + text + ")"
}

// Landau prints how the model grows.
func (f *Fit) Landau() string { return Landau(f.Parameters, f.Leads, f.Form) }
