package collective

import (
	"strconv"

	"slackline/model/unit"
)

// TableHeader names the columns of Table.
func TableHeader() []string {
	return []string{"operation", "algorithm", "what it does", "rounds", "bytes sent", "parameters"}
}

// Table lists all algorithms for documents and help texts, in the order of the registry.
func Table() [][]string {
	var rows [][]string
	for _, a := range registry {
		rows = append(rows, []string{a.Op.String(), a.Name, a.Info, a.Rounds, a.Volume, a.Parameters()})
	}
	return rows
}

// Parameters returns the parameters of the algorithm with their defaults, such as "radix=4", or "".
func (a *Algorithm) Parameters() string {
	switch {
	case a.Segmented:
		return "segment=" + unit.Size(a.Segment).String()
	case a.Radix != 0:
		return "radix=" + strconv.Itoa(a.Radix)
	}
	return ""
}
