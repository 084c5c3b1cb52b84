package collective

import "slackline/model/schedule"

// alltoallDissemination is bruck, whose messages are those of a dissemination, under that name.
var alltoallDissemination = Algorithm{
	Op:     schedule.Alltoall,
	Name:   "dissemination",
	Info:   "in round i rank r sends to rank r + 2^i: the messages of bruck, under the name that the noise literature has for them",
	Rounds: alltoallBruck.Rounds,
	Volume: alltoallBruck.Volume,
	Step:   alltoallBruckStep,
}
