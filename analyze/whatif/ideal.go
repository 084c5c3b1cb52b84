package whatif

import (
	"slackline/model/machine"
	"slackline/model/unit"
)

// IdealNetwork is a machine on which messages cost nothing.
func IdealNetwork() *machine.Machine {
	return machine.FromParams("an ideal network", machine.Params{
		Overhead: machine.One(unit.Duration(0)), PerByte: machine.One(unit.PerByte(0)), Eager: machine.NoLimit,
	})
}
