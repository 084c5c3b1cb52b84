package collective

import "slackline/model/schedule"

// Origins returns the origins that the operations name: those of the program. The messages of a
// collective have the origin of its call.
func (x *Expansion) Origins() []schedule.Origin { return x.program.Origins() }
