package advise_test

import (
	"slices"
	"testing"

	"slackline/analyze/advise"
	"slackline/analyze/simulate"
	"slackline/analyze/whatif"
	"slackline/model/collective"
	"slackline/model/machine"
	"slackline/model/noise"
	"slackline/model/schedule"
	"slackline/model/unit"
)

// exactCase is a program with a planted cause, and the program in which it is fixed.
type exactCase struct {
	name   string
	want   string // the first advice
	listed bool   // others may come before it
	before func() advise.Scenario
	after  func() advise.Scenario
}

// ranks writes the same program for some ranks.
func ranks(n int, each func(p *program, rank int)) schedule.Program {
	p := newProgram(n)
	for r := range n {
		each(p.on(r), r)
	}
	return p.done()
}

// on is a program on the network of the tests.
func on(p schedule.Program) advise.Scenario {
	return advise.Scenario{Program: p, Machine: network(), Threads: 2}
}

// onWith is a program on a network of which a parameter is different.
func onWith(p schedule.Program, change func(p *machine.Params)) advise.Scenario {
	x := on(p)
	for i := range x.Machine.Classes {
		change(&x.Machine.Classes[i])
	}
	return x
}

func perByte(g unit.PerByte) func(p *machine.Params) {
	return func(p *machine.Params) { p.PerByte = machine.One(g) }
}

// iterations repeats something.
const iterations = 8

var exactCases = []exactCase{
	{name: "imbalance in a function", want: "balance:even@main/solve",
		before: func() advise.Scenario {
			return on(imbalanced(func(r int) int64 { return int64(100*us) * int64(1+3*(r/3)) }))
		},
		after: func() advise.Scenario { return on(imbalanced(func(int) int64 { return 175 * us })) },
	},
	{name: "wrong order of receives", want: "arrival_order@main/MPI_Recv",
		before: func() advise.Scenario { return on(collector([]int{3, 1, 2})) },
		after:  func() advise.Scenario { return on(collector([]int{1, 2, 3})) },
	},
	{name: "passes on too late", want: "send_first@main/MPI_Send",
		before: func() advise.Scenario { return on(relay(false)) },
		after:  func() advise.Scenario { return on(relay(true)) },
	},
	{name: "needless barrier", want: "fewer_barriers:none@main/MPI_Barrier",
		before: func() advise.Scenario { return on(turns(true)) },
		after:  func() advise.Scenario { return on(turns(false)) },
	},
	{name: "small messages", want: "combine@main/MPI_Send",
		before: func() advise.Scenario { return on(pieces(64, 8)) },
		after:  func() advise.Scenario { return on(pieces(1, 64*8)) },
	},
	{name: "loop instead of broadcast", want: "use_collective:bcast@main/MPI_Send",
		before: func() advise.Scenario { return on(fan(false, false)) },
		after:  func() advise.Scenario { return on(fan(true, false)) },
	},
	{name: "loop instead of gather", want: "use_collective:gather@main/MPI_Recv",
		before: func() advise.Scenario { return on(fan(false, true)) },
		after:  func() advise.Scenario { return on(fan(true, true)) },
	},
	{name: "late receives", want: "early_receive@main/MPI_Recv", listed: true,
		before: func() advise.Scenario { return on(lateReceives(false)) },
		after:  func() advise.Scenario { return on(lateReceives(true)) },
	},
	{name: "sends that wait", want: "nonblocking_send@main/MPI_Send",
		before: func() advise.Scenario { return on(lateReceives(false)) },
		after:  func() advise.Scenario { return on(goesOn()) },
	},
	{name: "small eager limit", want: "eager_limit:1MiB", listed: true,
		before: func() advise.Scenario { return on(lateReceives(false)) },
		after: func() advise.Scenario {
			return onWith(lateReceives(false), func(p *machine.Params) { p.Eager = 1 << 20 })
		},
	},
	{name: "slow code", want: "faster:10%@main/solve",
		before: func() advise.Scenario { return on(imbalanced(func(int) int64 { return 100 * us })) },
		after:  func() advise.Scenario { return on(imbalanced(func(int) int64 { return 90 * us })) },
	},
	{name: "latency", want: "latency:2",
		before: func() advise.Scenario { return on(reduces("dissemination")) },
		after: func() advise.Scenario {
			return onWith(reduces("dissemination"), func(p *machine.Params) { p.Latency /= 2 })
		},
	},
	{name: "bandwidth", want: "bandwidth:2",
		before: func() advise.Scenario { return onWith(pieces(1, 8000), perByte(2_000_000)) },
		after:  func() advise.Scenario { return onWith(pieces(1, 8000), perByte(1_000_000)) },
	},
	{name: "overhead", want: "overhead:2",
		before: func() advise.Scenario { return on(pieces(64, 8)) },
		after: func() advise.Scenario {
			return onWith(pieces(64, 8), func(p *machine.Params) { p.Overhead, p.Gap = machine.One(unit.Microsecond), p.Gap/2 })
		},
	},
	{name: "bad algorithm", want: "algorithm:dissemination@main/MPI_Allreduce",
		before: func() advise.Scenario { return on(reduces("ring")) },
		after:  func() advise.Scenario { return on(reduces("dissemination")) },
	},
	{name: "bad placement", want: "placement:blocks",
		before: func() advise.Scenario { return placed(true) },
		after:  func() advise.Scenario { return placed(false) },
	},
	{name: "mapping that does not fit", want: "mapping:default",
		before: func() advise.Scenario { return mapped("openmpi") },
		after:  func() advise.Scenario { return mapped("default") },
	},
	{name: "messages between neighbors", want: "threads:2", listed: true,
		before: func() advise.Scenario { return on(pairs(true)) },
		after:  func() advise.Scenario { return on(pairs(false)) },
	},
	{name: "threads on nodes of six", want: "threads:2", listed: true,
		before: func() advise.Scenario { return onNodes(true, 6, 0) },
		after:  func() advise.Scenario { return onNodes(false, 6, 0) },
	},
	{name: "threads on switches of three nodes", want: "threads:2", listed: true,
		before: func() advise.Scenario { return onNodes(true, 2, 3) },
		after:  func() advise.Scenario { return onNodes(false, 2, 3) },
	},
	{name: "noise", want: "noise:removed",
		before: func() advise.Scenario { return noisy(true) },
		after:  func() advise.Scenario { return noisy(false) },
	},
	{name: "disturbed repetitions", want: "noise:median",
		before: func() advise.Scenario { return on(disturbed(true)) },
		after:  func() advise.Scenario { return on(disturbed(false)) },
	},
}

// TestExactGains wants the planted cause first, with exactly the run time that the fixed program has.
func TestExactGains(t *testing.T) {
	for _, tc := range exactCases {
		t.Run(tc.name, func(t *testing.T) {
			q := advise.Question{Scenario: tc.before()}
			r, err := advise.Search(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			after := tc.after()
			want, err := after.Run(t.Context(), simulate.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range r.Advice {
				t.Logf("%5.1f %% %s (%s)", 100*a.Gain, a.Text, a.RunTime.Short())
			}
			list := append(append([]advise.Advice{}, r.Advice...), r.Upgrades...)
			i := slices.IndexFunc(list, func(a advise.Advice) bool { return a.Text == tc.want })
			if i < 0 {
				t.Fatalf("no advice %s", tc.want)
			}
			if tc.listed || i >= len(r.Advice) {
				r.Advice = list[i:]
			}
			if first := r.Advice[0]; first.Text != tc.want || first.RunTime != unit.Nanoseconds(want.Makespan) {
				t.Errorf("first advice %s with %d ps, want %s with %d ps", first.Text, first.RunTime, tc.want, want.Makespan)
			}
		})
	}
}

// imbalanced computes in solve, exchanges with a neighbor and reduces.
func imbalanced(work func(rank int) int64) schedule.Program {
	return ranks(4, func(p *program, r int) {
		for range iterations {
			p.calc("solve", work(r)).send((r+1)%4, 64).recv((r+3)%4, 64).collective(schedule.Allreduce, "MPI_Allreduce", 8, 0, "")
		}
	})
}

// collector receives from three ranks, of which rank 3 is the last, and works on each message.
func collector(order []int) schedule.Program {
	return ranks(4, func(p *program, r int) {
		for range iterations {
			if r == 0 {
				for _, from := range order {
					p.recv(from, 64).calc("work", 100*us)
				}
			} else {
				p.calc("prepare", int64(r)*100*us).send(0, 64)
			}
			p.barrier()
		}
	})
}

// relay passes data on from rank to rank, before or after the work on it.
func relay(first bool) schedule.Program {
	return ranks(4, func(p *program, r int) {
		for range iterations {
			if r > 0 {
				p.recv(r-1, 64)
			}
			send := schedule.Op{Kind: schedule.Send, Peer: int32(r + 1), Size: 64, Origin: p.origin("", "MPI_Send")}
			work := schedule.Op{Kind: schedule.Calc, Size: 200 * us, Origin: p.origin("work", "")}
			switch {
			case r == 3:
				p.put(work)
			case first:
				p.overlapped(send, work)
			default:
				p.put(work).put(send)
			}
			p.collective(schedule.Allreduce, "MPI_Allreduce", 8, 0, "")
		}
	})
}

// turns has a long step on one rank after the other, in a function of its own.
func turns(barrier bool) schedule.Program {
	return ranks(4, func(p *program, r int) {
		for k := range iterations {
			p.calc("work", 50*us)
			if k%4 == r {
				p.calc("output", 200*us)
			}
			if barrier {
				p.barrier()
			} else {
				p.put(schedule.Op{Kind: schedule.Calc, Origin: p.origin("", "MPI_Barrier")})
			}
		}
	})
}

// pieces sends so many messages to the next rank.
func pieces(n int, size int64) schedule.Program {
	return ranks(4, func(p *program, r int) {
		for range iterations {
			p.calc("work", 100*us)
			for range n {
				p.send((r+1)%4, size)
			}
			for range n {
				p.recv((r+3)%4, size)
			}
		}
	})
}

// fan spreads data from rank 0 to all, or collects it there: in a loop or by a collective.
func fan(collective, in bool) schedule.Program {
	const n = 16
	return ranks(n, func(p *program, r int) {
		for range iterations {
			p.calc("work", 20*us)
			operation, loop, other := schedule.Bcast, p.send, p.recv
			if in {
				operation, loop, other = schedule.Gather, p.recv, p.send
			}
			switch {
			case collective:
				p.collective(operation, "MPI_Coll", 512, 0, "")
			case r == 0:
				for peer := 1; peer < n; peer++ {
					loop(peer, 512)
				}
			default:
				other(0, 512)
			}
		}
	})
}

// lateReceives has a rank that waits for a message before it takes a large one, whose sender waits for it.
func lateReceives(early bool) schedule.Program {
	const size = 1 << 20
	return ranks(3, func(p *program, r int) {
		for range iterations {
			late := schedule.Op{Kind: schedule.Recv, Peer: 2, Size: 64, Origin: p.origin("", "MPI_Recv")}
			large := schedule.Op{Kind: schedule.Recv, Peer: 0, Size: size, Origin: p.origin("", "MPI_Recv")}
			switch {
			case r == 0:
				p.send(1, size).calc("work", 300*us)
			case r == 2:
				p.calc("work", 300*us).send(1, 64)
			case early:
				p.overlapped(large, late)
			default:
				p.put(late).put(large)
			}
			p.collective(schedule.Allreduce, "MPI_Allreduce", 8, 0, "")
		}
	})
}

// goesOn is lateReceives with a sender that does not wait.
func goesOn() schedule.Program {
	const size = 1 << 20
	return ranks(3, func(p *program, r int) {
		for range iterations {
			switch r {
			case 0:
				p.overlapped(schedule.Op{Kind: schedule.Send, Peer: 1, Size: size, Origin: p.origin("", "MPI_Send")},
					schedule.Op{Kind: schedule.Calc, Size: 300 * us})
			case 1:
				p.recv(2, 64).recv(0, size)
			case 2:
				p.calc("work", 300*us).send(1, 64)
			}
			p.collective(schedule.Allreduce, "MPI_Allreduce", 8, 0, "")
		}
	})
}

// reduces calls an allreduce with an algorithm.
func reduces(algorithm string) schedule.Program {
	return ranks(16, func(p *program, r int) {
		for range iterations {
			p.calc("work", 20*us).collective(schedule.Allreduce, "MPI_Allreduce", 8, 0, algorithm)
		}
	})
}

// placed exchanges with the neighbor on the same node, if ranks are placed in blocks.
func placed(cyclic bool) advise.Scenario {
	p := ranks(8, func(p *program, r int) {
		for range iterations {
			p.calc("work", 20*us).send(r^1, 4096).recv(r^1, 4096)
		}
	})
	m := network()
	m.Classes[machine.Node].Latency, m.Classes[machine.Node].PerByte = unit.Microsecond/2, machine.One(unit.PerByte(1000))
	m.RanksPerNode, m.Placement.Cyclic = 2, cyclic
	return advise.Scenario{Program: p, Machine: m, Threads: 2}
}

// mapped calls several collectives whose algorithms a mapping chooses.
func mapped(name string) advise.Scenario {
	x := on(ranks(12, func(p *program, r int) {
		for range 2 {
			p.calc("work", 20*us)
			p.collective(schedule.Allreduce, "MPI_Allreduce", 1<<16, 0, "")
			p.collective(schedule.Allgather, "MPI_Allgather", 1<<16, 0, "")
			p.collective(schedule.Bcast, "MPI_Bcast", 1<<16, 0, "")
		}
	}))
	m, err := collective.NamedMapping(name)
	if err != nil {
		panic(err)
	}
	x.Mapping = m
	return x
}

// pairs exchanges data between two ranks each, which threads of a process would not have to do.
func pairs(messages bool) schedule.Program {
	return ranks(4, func(p *program, r int) {
		for range iterations {
			if p.calc("work", 20*us); messages {
				p.send(r^1, 4096).recv(r^1, 4096)
			}
		}
	})
}

// onNodes exchanges data in pairs, which threads would not have to do, and with other processes, as before.
func onNodes(messages bool, inNode, inSwitch int) advise.Scenario {
	m := network()
	m.Classes[machine.Node].Latency, m.Classes[machine.Switch].Latency = 1*unit.Microsecond, 3*unit.Microsecond
	m.RanksPerNode, m.NodesPerSwitch = inNode, inSwitch
	return advise.Scenario{Machine: m, Threads: 2, Program: ranks(6, func(p *program, r int) {
		for range iterations {
			if p.calc("work", 20*us); messages {
				p.send(r^1, 4096).recv(r^1, 4096)
			}
			p.send((r+2)%6, 4096).recv((r+4)%6, 4096)
		}
	})}
}

// noisy has noise on all ranks.
func noisy(noise bool) advise.Scenario {
	x := on(ranks(8, func(p *program, r int) {
		for range iterations {
			p.calc("work", 100*us).collective(schedule.Allreduce, "MPI_Allreduce", 8, 0, "")
		}
	}))
	if noise {
		x.Noise = &whatif.Noise{Profile: profile(), Seed: 1}
	}
	return x
}

func profile() *noise.Profile {
	p, err := noise.Parse("1000Hz:100us")
	if err != nil {
		panic(err)
	}
	return p
}

// disturbed has repetitions that take longer now and then, at irregular distances.
func disturbed(is bool) schedule.Program {
	return ranks(4, func(p *program, r int) {
		for k := range 4 * iterations {
			work := 100 * us
			if is && (k*k+3*r)%7 == 1 {
				work = 300 * us
			}
			p.calc("work", work).collective(schedule.Allreduce, "MPI_Allreduce", 8, 0, "")
		}
	})
}
