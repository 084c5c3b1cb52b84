package tables

import (
	"slackline/analyze/advise"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/model/unit"
)

// Advice lists changes that pay.
func Advice(list []advise.Advice, limit int) *table.Table {
	t := phrase.PathTable(">gain", ">interval", ">run time", "kind", "change", ">pays from", "callpath", "low", "high", "sentence", "command")
	for i := range list {
		if limit > 0 && i == limit {
			break
		}
		a := &list[i]
		where := Text("")
		if a.Target != "" {
			where = Path(a.Target)
		}
		t.Add(Share(a.Gain), Text(a.Interval()), Time(unit.Duration(a.RunTime)), a.Kind, a.Value, a.PaysFrom, where, Number(a.Low),
			Number(a.High), a.Say(), table.Cell{Text: a.Command, Value: a.Command, Mark: "command"})
	}
	return t
}

// Ceilings lists what no change of a kind can exceed.
func Ceilings(list []advise.Ceiling) *table.Table {
	t := table.Of("ceiling", ">run time", ">gain")
	for _, c := range list {
		t.Add(c.Name, Time(unit.Duration(c.RunTime)), Share(c.Gain))
	}
	return t
}
