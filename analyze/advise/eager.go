package advise

import (
	"context"
	"fmt"

	"slackline/model/machine"
	"slackline/model/unit"
)

var eagerKind = kind{
	Info: Info{
		Name:  "eager_limit",
		Short: "send larger messages without waiting for the receiver",
		Meaning: "S of the machine is this size in all classes of links: messages up to it are sent at once, larger ones wait until the " +
			"receive is posted. The list has the smallest power of two that gains nearly as much as no limit at all.",
		Advice: "Raise the eager limit of the MPI library (Open MPI: --mca btl_tcp_eager_limit, btl_vader_eager_limit or the setting of the " +
			"network's module; MPICH and UCX: UCX_RNDV_THRESH, MPIR_CVAR_CH4_... of the device), if the memory for its buffers is " +
			"there; or use MPI_Bsend.",
		Form: "eager_limit:SIZE such as eager_limit:64KiB",
	},
	propose: func(s *study) []candidate {
		if s.rendezvous == 0 {
			return nil
		}
		return []candidate{{Change{Kind: "eager_limit", Value: s.largest().String()}, max(s.slack, s.idealGain)}}
	},
	apply: func(_ context.Context, x *Scenario, c Change) error {
		size, err := unit.ParseSize(c.Value)
		if err != nil {
			return c.badValue()
		}
		x.Machine = withParams(x.Machine, func(p *machine.Params) { p.Eager = int64(size) })
		return nil
	},
	sentence: func(s *study, c Change) string {
		return fmt.Sprintf("Raise the eager limit to %s, so that the %d messages that wait for their receives are sent at once: the run", c.Value,
			s.rendezvous)
	},
}

// largest is the smallest power of two that no message of the program is above.
func (s *study) largest() unit.Size {
	size := unit.Size(1)
	for int64(size) < s.largestMessage && size < 1<<60 {
		size *= 2
	}
	return size
}
