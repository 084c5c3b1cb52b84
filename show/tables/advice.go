package tables

import (
	"slackline/analyze/advise"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/model/unit"
)

// Advice lists changes that pay.
func Advice(list []advise.Advice, limit int) *table.Table {
	t := table.New(right("gain"), right("interval"), right("run time"), table.Column{Key: "kind"}, table.Column{Key: "change"}, right("pays from"), phrase.PathColumn("callpath"),
		table.Column{Key: "low"}, table.Column{Key: "high"}, table.Column{Key: "sentence"}, table.Column{Key: "command"})
	for i := range list {
		if limit > 0 && i == limit {
			break
		}
		a := &list[i]
		where := Text("")
		if a.Target != "" {
			where = Path(a.Target)
		}
		t.Add(Share(a.Gain), Text(a.Interval()), Time(unit.Duration(a.RunTime)), a.Kind, a.Value, a.PaysFrom, where, Number(a.Low), Number(a.High), a.Say(), a.Command)
	}
	return t
}
