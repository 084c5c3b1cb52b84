package tables

import (
	"fmt"

	"slackline/analyze/devices"
	"slackline/internal/phrase"
	"slackline/internal/table"
	"slackline/model/unit"
)

// Devices has a row for each device: what it did with its time, in shares of it.
func Devices(uses []devices.Use, limit int) *table.Table {
	t := table.Of("device=rank:device", ">time", ">computing", ">exposed", ">waiting", ">idle", ">latency",
		">overlap", ">hidden", ">kernels")
	t.Limit = limit
	for i := range uses {
		u := &uses[i]
		part := func(d unit.Duration) table.Cell { return Share(unit.SumOf(d).Over(unit.SumOf(u.Span))) }
		t.Add(Text(fmt.Sprintf("%d:%d", u.Rank, u.Device)), Time(u.Span), part(u.Computing), part(u.Exposed), part(u.Waiting), part(u.Idle),
			part(u.Latency), part(u.Overlap), Time(u.Hidden), Count(u.Kernels))
	}
	return t
}

// Activities has a row for each call path of kernels, copies and memsets.
func Activities(list []devices.ActivityTime, limit int) *table.Table {
	all := unit.Sum{}
	for i := range list {
		all.AddSum(list[i].Time)
	}
	t := phrase.PathTable("callpath=on devices", ">time", ">share", ">count", ">most=most on rank", "kind")
	t.Limit = limit
	for i := range list {
		e := &list[i]
		t.Add(Path(e.CallPath), Time(e.Time), Share(e.Time.Over(all)), Count(e.Count), worst(e.Worst, e.Most), Text(e.Kind))
	}
	return t
}
